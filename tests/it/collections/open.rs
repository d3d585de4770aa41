//! Collections that are open to all: who opens them, and what accounts do about those of others. (extension)

use super::{collection, found, id, listed, share};
use docent_app::settings::OpenCollectionsRule;
use docent_domain::collection::{
    COLLECTIONS_OF_ACCOUNT_MAX, Collection, CollectionRole, OPEN_COLLECTIONS_MAX,
};
use docent_domain::permission::Permission;
use docent_testkit::builders;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use futures::future::join_all;
use serde_json::{Value, json};
use std::slice::from_ref;

const NEEDS_PERMISSION: &str =
    "Opening a collection to all accounts needs the permission `collections.open_collection`";

/// The names in the list of collections.
async fn names(by: &Member, path: &str) -> Vec<String> {
    let list = by.get(path).await.expect(200).json();
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// Opens a collection as a superuser.
async fn open(root: &Member, name: &str) -> String {
    id(&root.post("/collections", json!({ "name": name, "role_of_all": "viewer" })).await.expect(201).json())
}

rules! {
    /// Without the permission, a manager keeps a collection closed, or closes it.
    async fn opening_to_all_needs_the_permission(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let root = app.superuser().await;
        let body = json!({ "name": "Warranty", "role_of_all": "viewer" });
        ada.post("/collections", body.clone()).await.refused(403, NEEDS_PERMISSION);
        assert_eq!(names(&bob, "/collections").await, ["Everyone", "Personal"]);
        let own = collection(&ada, "Own").await;
        let path = format!("/collections/{own}");
        ada.patch(&path, json!({ "role_of_all": "viewer" })).await.refused(403, NEEDS_PERMISSION);
        let _ = ada.patch(&path, json!({ "role_of_all": "none", "name": "Mine" })).await.expect(200);
        let _ = bob.get(&path).await.expect(404);

        // A manager of an open collection lowers the role of all, and does not raise it again.
        share(&ada, &own, &root, "manager").await;
        let _ = root.patch(&path, json!({ "role_of_all": "contributor" })).await.expect(200);
        let _ = ada.patch(&path, json!({ "name": "Ours" })).await.expect(200);
        let _ = ada.patch(&path, json!({ "role_of_all": "viewer" })).await.expect(200);
        ada.patch(&path, json!({ "role_of_all": "contributor" })).await.refused(403, NEEDS_PERMISSION);
        let _ = ada.patch(&path, json!({ "role_of_all": "none" })).await.expect(200);
        let _ = bob.get(&path).await.expect(404);

        app.permit(ada.user.id, &[Permission::OpenCollection]).await;
        let _ = ada.patch(&path, json!({ "role_of_all": "viewer" })).await.expect(200);
        let _ = ada.post("/collections", body).await.expect(201);
        assert_eq!(names(&bob, "/collections").await, ["Everyone", "Personal", "Ours", "Warranty"]);
        // The permission opens collections that the account manages, not others.
        let _ = bob.patch(&path, json!({ "role_of_all": "manager" })).await.expect(403);
    }

    async fn setting_lets_every_manager_open(setup) {
        let app = setup.settings(|settings| settings.open_collections = OpenCollectionsRule::Managers).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let open = json!({ "name": "Team", "role_of_all": "contributor" });
        let open = id(&ada.post("/collections", open).await.expect(201).json());
        let _ = bob.patch(&format!("/collections/{open}"), json!({ "role_of_all": "manager" })).await.expect(403);
        let _ = ada.patch(&format!("/collections/{open}"), json!({ "role_of_all": "manager" })).await.expect(200);
    }

    /// An API key needs the scope, as for other changes of collections.
    async fn api_key_opens_with_scope_and_permission(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        app.permit(ada.user.id, &[Permission::OpenCollection]).await;
        let body = || json!({ "name": "Open", "role_of_all": "viewer" });
        for (scopes, status) in [(&["read", "ingest", "chat"][..], 403), (&["admin"][..], 201)] {
            let key = app.api_key(ada.user.id, scopes).await.key;
            let _ = ada.with_access(key).post("/collections", body()).await.expect(status);
        }
    }

    async fn number_of_open_collections_is_limited(setup) {
        let app = setup.start().await;
        let root = app.superuser().await;
        let closed = collection(&root, "Closed").await;
        let mut work = app.ports.store.begin().await.unwrap();
        // That of everyone is open as well.
        for n in 2..OPEN_COLLECTIONS_MAX {
            let open = builders::collection(u32::try_from(n).unwrap());
            let open = Collection { role_of_all: Some(CollectionRole::Viewer), ..open };
            work.collections().insert(&open).await.unwrap();
        }
        work.commit().await.unwrap();
        let last = open(&root, "Last").await;
        let detail = "At most 1000 collections can be open to all accounts";
        root.post("/collections", json!({ "name": "More", "role_of_all": "viewer" })).await.refused(409, detail);
        let path = format!("/collections/{closed}");
        let opening = || root.patch(&path, json!({ "role_of_all": "viewer" }));
        opening().await.refused(409, detail);
        // Those that are open can still change, and leave room.
        let _ = root.patch(&format!("/collections/{last}"), json!({ "role_of_all": "contributor" })).await.expect(200);
        let _ = root.patch(&format!("/collections/{last}"), json!({ "role_of_all": "none" })).await.expect(200);
        let _ = opening().await.expect(200);
    }

    /// Concurrent requests do not exceed the maximum either.
    async fn account_owns_a_limited_number_of_collections(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for n in 1..COLLECTIONS_OF_ACCOUNT_MAX {
            let _ = collection(&ada, &format!("{n}")).await;
        }
        let create = |_| ada.post("/collections", json!({ "name": "More" }));
        let replies = join_all((0..4).map(create)).await;
        let mut statuses: Vec<_> = replies.iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409, 409]);
        let refused = replies.into_iter().find(|reply| reply.status == 409).unwrap();
        refused.refused(409, "An account may own at most 200 collections");
        let last = listed(&ada, "/collections?q=More").await;
        let _ = ada.delete(&format!("/collections/{}", last[0])).await.expect(204);
        let _ = collection(&ada, "Another").await;
    }

    /// The list has pages, and own collections come before those of others however many these are.
    async fn own_collections_are_first_on_every_page(setup) {
        let app = setup.start().await;
        let (ada, root) = (app.ada().await, app.superuser().await);
        for name in ["aardvark", "Bee", "cat"] {
            let _ = open(&root, name).await;
        }
        let _ = collection(&ada, "Zoo").await;
        let team = collection(&root, "Team").await;
        share(&root, &team, &ada, "viewer").await;
        let expected = ["Everyone", "Personal", "Zoo", "Team", "aardvark", "Bee", "cat"];
        assert_eq!(names(&ada, "/collections").await, expected);
        for limit in [1, 3, 6, 7] {
            let (mut path, mut all) = (format!("/collections?limit={limit}"), Vec::new());
            loop {
                let page = ada.get(&path).await.expect(200);
                let list = page.json();
                let list = list.as_array().unwrap();
                assert!(list.len() <= limit);
                all.extend(list.iter().map(|it| it["name"].as_str().unwrap().to_owned()));
                let Some(link) = page.headers.get("link").map(|link| link.to_str().unwrap().to_owned()) else { break };
                path = link.trim_start_matches('<').split('>').next().unwrap().to_owned();
            }
            assert_eq!(all, expected, "{limit}");
        }
        assert_eq!(names(&ada, "/collections?q=A&limit=3").await, ["Personal", "Team", "aardvark"]);
        for wrong in ["limit=0", "limit=1001", "cursor=x", "cursor=9.0.0", "include=all"] {
            let _ = ada.get(&format!("/collections?{wrong}")).await.expect(422);
        }
        let list = ada.get("/collections").await.expect(200).json();
        let flags = |name: &str| {
            let it = list.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
            [it["is_own"].clone(), it["is_member"].clone(), it["is_hidden"].clone()]
        };
        assert_eq!(flags("Zoo"), [json!(true), json!(false), json!(false)]);
        assert_eq!(flags("Team"), [json!(false), json!(true), json!(false)]);
        assert_eq!(flags("cat"), [json!(false), json!(false), json!(false)]);
    }

    /// A hidden collection is neither listed nor searched nor quoted, and its documents stay usable by their IDs.
    async fn hidden_collection_is_used_only_by_id(setup) {
        let script = [
            Turn::searching("zebras"),
            Turn::saying("Nothing."),
            Turn::searching("zebras"),
            Turn::saying("Zebras."),
        ];
        let app = setup.script(script).start().await;
        let (ada, bob, root) = (app.ada().await, app.member("bob@example.org").await, app.superuser().await);
        let spam = open(&root, "Spam").await;
        let path = format!("/documents/upload?collection_id={spam}");
        let inside = id(&root.upload_to(&path, "Warranty update.pdf", pdf(&["zebras"])).await.expect(202).json());
        app.run_jobs().await;
        assert_eq!(found(&ada, json!({ "query": "zebras" })).await, from_ref(&inside));
        let hidden = format!("/collections/{spam}/hidden");
        for _ in 0..2 {
            let _ = ada.put(&hidden, json!({})).await.expect(204);
        }
        assert_eq!(names(&ada, "/collections").await, ["Everyone", "Personal"]);
        assert!(listed(&ada, "/documents").await.is_empty());
        assert!(found(&ada, json!({ "query": "zebras" })).await.is_empty());
        assert!(ada.sources("zebras").await.is_empty());
        let chosen = json!({ "messages": [{ "role": "user", "content": "zebras" }], "collection_ids": [spam] });
        assert_eq!(ada.sources_of(chosen).await, from_ref(&inside));
        assert_eq!(names(&ada, "/collections?include=hidden").await, ["Everyone", "Personal", "Spam"]);
        let list = ada.get("/collections?include=hidden&q=Spam").await.expect(200).json();
        assert_eq!(list[0]["is_hidden"], json!(true));
        let _ = ada.get(&format!("/collections/{spam}")).await.expect(200);
        let _ = ada.get(&format!("/documents/{inside}")).await.expect(200);
        assert_eq!(listed(&ada, &format!("/documents?collection_id={spam}")).await, from_ref(&inside));
        for by_id in [json!({ "collection_ids": [spam] }), json!({ "document_ids": [inside] })] {
            let mut body = by_id;
            body["query"] = json!("zebras");
            assert_eq!(found(&ada, body).await, from_ref(&inside));
        }
        // For other accounts nothing has changed.
        assert_eq!(found(&bob, json!({ "query": "zebras" })).await, from_ref(&inside));

        // A document that is in another collection too is found there.
        let both = json!({ "collection_ids": [spam, "00000000-0000-0000-0000-000000000001"] });
        let _ = root.patch(&format!("/documents/{inside}"), both).await.expect(200);
        app.write_labels().await;
        assert_eq!(found(&ada, json!({ "query": "zebras" })).await, from_ref(&inside));
        assert_eq!(listed(&ada, "/documents").await, from_ref(&inside));
        let _ = root.patch(&format!("/documents/{inside}"), json!({ "collection_ids": [spam] })).await.expect(200);
        assert!(found(&ada, json!({ "query": "zebras" })).await.is_empty());
        app.write_labels().await;

        for _ in 0..2 {
            let _ = ada.delete(&hidden).await.expect(204);
        }
        assert_eq!(found(&ada, json!({ "query": "zebras" })).await, from_ref(&inside));
        assert_eq!(names(&ada, "/collections").await, ["Everyone", "Personal", "Spam"]);
        let secret = collection(&root, "Secret").await;
        ada.put(&format!("/collections/{secret}/hidden"), json!({})).await.refused(404, "Collection not found");
        app.leave_jobs();
    }

    /// A member leaves without the manager, and an invitation to a group can be hidden.
    async fn invited_members_leave(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        share(&ada, &team, &bob, "viewer").await;
        let list = bob.get("/collections?q=Team").await.expect(200).json();
        assert_eq!(list[0]["is_member"], json!(true));
        let _ = bob.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.expect(204);
        assert_eq!(listed(&bob, "/collections?q=Team").await, Vec::<String>::new());
        let _ = bob.get(&format!("/collections/{team}")).await.expect(404);
    }

    /// A closed collection is closed at once for accounts that have read it before.
    async fn closed_collection_is_gone_at_once(setup) {
        let app = setup.start().await;
        let (ada, root) = (app.ada().await, app.superuser().await);
        let team = open(&root, "Team").await;
        let path = format!("/documents/upload?collection_id={team}");
        let document = id(&root.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        app.run_jobs().await;
        for _ in 0..3 {
            assert_eq!(listed(&ada, "/documents").await, from_ref(&document));
            assert_eq!(found(&ada, json!({ "query": "zebras" })).await, from_ref(&document));
            let _ = root.patch(&format!("/collections/{team}"), json!({ "role_of_all": "none" })).await.expect(200);
            assert!(listed(&ada, "/documents").await.is_empty());
            assert!(found(&ada, json!({ "query": "zebras" })).await.is_empty());
            let _ = ada.get(&format!("/documents/{document}")).await.expect(404);
            let _ = root.patch(&format!("/collections/{team}"), json!({ "role_of_all": "viewer" })).await.expect(200);
        }
        let _: Value = ada.get(&format!("/documents/{document}")).await.expect(200).json();
        app.leave_jobs();
    }
}
