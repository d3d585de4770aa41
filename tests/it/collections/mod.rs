//! Collections: who may read what. (extension)

mod answers;
mod keys;
mod open;

use crate::admin::{staff, submit};
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::permission::{Permission, PermissionSet};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::slice::from_ref;

/// The ID of a JSON object.
fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

async fn collection(by: &Member, name: &str) -> String {
    id(&by.post("/collections", json!({ "name": name })).await.expect(201).json())
}

async fn share(by: &Member, collection: &str, with: &Member, role: &str) {
    let body = json!({ "email": with.user.email.as_str(), "role": role });
    let _ = by.put(&format!("/collections/{collection}/members"), body).await.expect(200);
}

/// The IDs in a list.
async fn listed(by: &Member, path: &str) -> Vec<String> {
    let list = by.get(path).await.expect(200).json();
    list.as_array().unwrap().iter().map(id).collect()
}

/// The documents of passages that a search finds.
async fn found(by: &Member, body: Value) -> Vec<String> {
    let reply = by.post("/search", body).await.expect(200).json();
    let results = reply["results"].as_array().unwrap().iter();
    let mut ids: Vec<String> = results.map(|it| it["document_id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids.dedup();
    ids
}

rules! {
    /// Without collections, everything is as before: each account reads, lists and finds every document.
    async fn documents_are_everyones_by_default(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let document = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        assert_eq!(listed(&bob, "/documents").await, from_ref(&document));
        assert_eq!(found(&bob, json!({ "query": "zebras" })).await, from_ref(&document));
        let report = bob.get(&format!("/documents/{document}/report")).await.expect(200).json();
        assert_eq!(report["collection_ids"], json!(["00000000-0000-0000-0000-000000000001"]));
        assert_eq!(report["owner_id"], json!(ada.user.id.to_string()));
        let kinds = bob.get("/collections").await.expect(200).json();
        let kinds: Vec<_> = kinds.as_array().unwrap().iter().map(|it| (it["kind"].clone(), it["role"].clone())).collect();
        assert_eq!(kinds, [(json!("everyone"), json!("contributor")), (json!("personal"), json!("manager"))]);
    }

    /// A document of a collection does not exist for accounts without a role on it, on any surface.
    // Invariant: For an account, a document outside its scope looks like one that does not exist.
    async fn documents_outside_do_not_exist(setup) {
        let app = setup.always(Turn::saying("done")).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let secret = collection(&ada, "Secret").await;
        let path = format!("/documents/upload?collection_id={secret}");
        let document = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        app.run_jobs().await;
        assert_eq!(found(&ada, json!({ "query": "zebras" })).await, from_ref(&document));

        assert!(listed(&bob, "/documents").await.is_empty());
        assert!(found(&bob, json!({ "query": "zebras" })).await.is_empty());
        assert!(found(&bob, json!({ "query": "zebras", "document_ids": [document] })).await.is_empty());
        for path in ["", "/report", "/file", "/pages/1"] {
            bob.get(&format!("/documents/{document}{path}")).await.refused(404, "Document not found");
        }
        bob.delete(&format!("/documents/{document}")).await.refused(404, "Document not found");
        bob.post(&format!("/documents/{document}/retry"), json!({})).await.refused(404, "Document not found");
        bob.patch(&format!("/documents/{document}"), json!({ "attributes": {} })).await.refused(404, "Document not found");
        for (method, path) in [("GET", ""), ("GET", "/members"), ("DELETE", "")] {
            let path = format!("/collections/{secret}{path}");
            let reply = if method == "GET" { bob.get(&path).await } else { bob.delete(&path).await };
            reply.refused(404, "Collection not found");
        }
        bob.patch(&format!("/collections/{secret}"), json!({ "name": "x" })).await.refused(404, "Collection not found");
        let body = json!({ "query": "zebras", "collection_ids": [secret] });
        bob.post("/search", body).await.refused(404, "Collection not found");
        bob.get(&format!("/documents?collection_id={secret}")).await.refused(404, "Collection not found");
        // An empty parameter must not select all documents, nor the default collection.
        for empty in ["/documents?collection_id=", "/documents?filters="] {
            let _ = bob.get(empty).await.expect(422);
        }
        let _ = bob.upload_to("/documents/upload?collection_id=", "b.pdf", pdf(&["x"])).await.expect(422);
        let question = json!({ "messages": [{ "role": "user", "content": "zebras" }], "collection_ids": [secret] });
        bob.post("/agents/chat", question).await.refused(404, "Collection not found");
        bob.upload_to(&path, "b.pdf", pdf(&["x"])).await.refused(404, "Collection not found");
        assert!(!listed(&bob, "/collections").await.contains(&secret));
    }

    /// The answer to an unknown document and to one outside are the same.
    // Invariant: For an account, a document outside its scope looks like one that does not exist.
    async fn unknown_and_outside_look_the_same(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let secret = collection(&ada, "Secret").await;
        let path = format!("/documents/upload?collection_id={secret}");
        let outside = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let unknown = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";
        for path in ["", "/report", "/file", "/pages/1"] {
            let of = async |document: &str| {
                let reply = bob.get(&format!("/documents/{document}{path}")).await;
                (reply.status, reply.text)
            };
            assert_eq!(of(&outside).await, of(unknown).await, "{path}");
        }
        let of = async |collection: &str| bob.get(&format!("/collections/{collection}")).await.text;
        assert_eq!(of(&secret).await, of(unknown).await);
        app.leave_jobs();
    }

    /// Each role allows what it says, from the moment it is given until it is taken.
    async fn roles_count_at_once(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        let path = format!("/documents/upload?collection_id={team}");
        let document = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        app.run_jobs().await;
        share(&ada, &team, &bob, "viewer").await;
        assert_eq!(found(&bob, json!({ "query": "zebras" })).await, from_ref(&document));
        let _ = bob.get(&format!("/documents/{document}/file")).await.expect(200);
        let _ = bob.upload_to(&path, "b.pdf", pdf(&["x"])).await.expect(403);
        let _ = bob.delete(&format!("/documents/{document}")).await.expect(403);
        let _ = bob.get(&format!("/collections/{team}/members")).await.expect(403);
        share(&ada, &team, &bob, "contributor").await;
        let own = id(&bob.upload_to(&path, "b.pdf", pdf(&["lions"])).await.expect(202).json());
        let _ = bob.delete(&format!("/documents/{document}")).await.expect(403);
        let _ = bob.delete(&format!("/documents/{own}")).await.expect(204);
        share(&ada, &team, &bob, "manager").await;
        let members = bob.get(&format!("/collections/{team}/members")).await.expect(200).json();
        assert_eq!(members[0]["name"], json!("bob@example.org"));
        assert_eq!(members[0]["role"], json!("manager"));
        let _ = bob.patch(&format!("/collections/{team}"), json!({ "name": "Ours" })).await.expect(200);
        let _ = bob.delete(&format!("/documents/{document}")).await.expect(204);
        let _ = ada.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.expect(204);
        bob.get(&format!("/collections/{team}")).await.refused(404, "Collection not found");
        ada.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.refused(404, "Member not found");
        app.leave_jobs();
    }

    /// A document found before a role is taken is found no more, also where the index still has its old labels.
    // Invariant: Searches rank only chunks of the scope, and what leaves it is not found from that moment.
    async fn lost_role_hides_documents_at_once(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        share(&ada, &team, &bob, "viewer").await;
        let document = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        assert_eq!(found(&bob, json!({ "query": "zebras" })).await, from_ref(&document));
        let change = json!({ "collection_ids": [team] });
        let _ = ada.patch(&format!("/documents/{document}"), change).await.expect(200);
        // The index has not been told yet.
        assert_eq!(listed(&bob, "/documents").await, from_ref(&document));
        let _ = ada.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.expect(204);
        assert!(found(&bob, json!({ "query": "zebras" })).await.is_empty());
        assert!(listed(&bob, "/documents").await.is_empty());
        app.write_labels().await;
        assert!(found(&bob, json!({ "query": "zebras" })).await.is_empty());
        assert_eq!(found(&ada, json!({ "query": "zebras" })).await, [document]);
    }

    /// A move needs the right to change the document and to add to the collection.
    async fn documents_are_moved_with_the_rights_to_do_so(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let (team, other) = (collection(&ada, "Team").await, collection(&bob, "Other").await);
        share(&ada, &team, &bob, "contributor").await;
        let path = format!("/documents/upload?collection_id={team}");
        let hers = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let his = id(&bob.upload_to(&path, "b.pdf", pdf(&["lions"])).await.expect(202).json());
        app.run_jobs().await;
        let to = |collections: &[&str]| json!({ "collection_ids": collections });
        let _ = bob.patch(&format!("/documents/{hers}"), to(&[&team, &other])).await.expect(403);
        let _ = bob.patch(&format!("/documents/{his}"), to(&[&team, &other])).await.expect(200);
        ada.patch(&format!("/documents/{hers}"), to(&[&other])).await.refused(404, "Collection not found");
        let _ = ada.patch(&format!("/documents/{hers}"), to(&[])).await.expect(422);
        // Only bob sees the other collection: the document stays in it when ada, a manager, takes it out of hers.
        let _ = ada.patch(&format!("/documents/{his}"), to(&[])).await.expect(200);
        ada.get(&format!("/documents/{his}")).await.refused(404, "Document not found");
        let _ = bob.get(&format!("/documents/{his}")).await.expect(200);
        app.write_labels().await;
        assert_eq!(found(&bob, json!({ "query": "lions", "collection_ids": [other] })).await, [his]);
        assert!(found(&ada, json!({ "query": "lions" })).await.is_empty());
    }

    /// A collection with documents that are nowhere else is kept, as are those of everyone and of accounts.
    async fn collection_in_use_is_not_deleted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let team = collection(&ada, "Team").await;
        let document = ada.add("a.pdf", pdf(&["zebras"])).await;
        let to = |collections: &[&str]| json!({ "collection_ids": collections });
        let _ = ada.patch(&format!("/documents/{document}"), to(&[&team])).await.expect(200);
        ada.delete(&format!("/collections/{team}")).await
            .refused(409, "1 of its documents are in no other collection; delete or move them first");
        let everyone = "00000000-0000-0000-0000-000000000001";
        let _ = ada.patch(&format!("/documents/{document}"), to(&[&team, everyone])).await.expect(200);
        let _ = ada.delete(&format!("/collections/{team}")).await.expect(204);
        let _ = ada.get(&format!("/documents/{document}")).await.expect(200);
        let _ = ada.delete(&format!("/collections/{}", ada.user.id)).await.expect(409);
        let body = json!({ "email": "ada@example.org", "role": "viewer" });
        let _ = ada.put(&format!("/collections/{}/members", ada.user.id), body).await.expect(409);
        app.leave_jobs();
    }

    /// Attributes given at the upload or later select documents in lists, searches and answers.
    async fn filters_select_documents(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let path = "/documents/upload?attributes=%7B%22year%22%3A2024%7D";
        let old = id(&ada.upload_to(path, "old.pdf", pdf(&["zebras"])).await.expect(202).json());
        let new = ada.add("new.pdf", pdf(&["zebras again"])).await;
        app.run_jobs().await;
        let attributes = json!({ "attributes": { "year": 2025, "final": true } });
        let _ = ada.patch(&format!("/documents/{new}"), attributes).await.expect(200);
        app.write_labels().await;
        let report = ada.get(&format!("/documents/{new}/report")).await.expect(200).json();
        assert_eq!(report["attributes"], json!({ "year": 2025, "final": true }));
        let year = |kind: &str, n: i32| json!({ "type": kind, "key": "year", "value": n });
        for (filter, expected) in [
            (year("eq", 2024), vec![&old]),
            (year("gt", 2024), vec![&new]),
            (json!({ "type": "or", "filters": [year("lt", 2025), year("gte", 2025)] }), vec![&old, &new]),
            (json!({ "type": "eq", "key": "file_name", "value": "new.pdf" }), vec![&new]),
        ] {
            let mut expected: Vec<String> = expected.into_iter().cloned().collect();
            expected.sort();
            assert_eq!(found(&ada, json!({ "query": "zebras", "filters": filter })).await, expected, "{filter}");
            let encoded: String = filter.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
            let mut list = listed(&ada, &format!("/documents?filters={encoded}")).await;
            list.sort();
            assert_eq!(list, expected, "{filter}");
        }
        for wrong in [json!({}), json!({ "type": "gt", "key": "year", "value": "x" }), json!("x")] {
            let _ = ada.post("/search", json!({ "query": "q", "filters": wrong })).await.expect(422);
        }
        let _ = ada.patch(&format!("/documents/{new}"), json!({ "attributes": { "pages": 1 } })).await.expect(422);
    }

    /// The language that an ingestion recognises is an attribute.
    async fn language_selects_documents(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let german = ada.add("a.pdf", pdf(&["Zebras leben in den Ebenen von Afrika und fressen dort vor allem frisches Gras."])).await;
        let _ = ada.add("b.pdf", pdf(&["Zebras live on the plains of Africa, where they mostly eat fresh grass."])).await;
        let neither = ada.add("c.pdf", pdf(&["Zebras 12 34"])).await;
        app.run_jobs().await;
        app.write_labels().await;
        let filter = json!({ "type": "eq", "key": "language", "value": "de" });
        assert_eq!(found(&ada, json!({ "query": "zebras", "filters": filter })).await, from_ref(&german));
        let encoded: String = filter.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(listed(&ada, &format!("/documents?filters={encoded}")).await, from_ref(&german));
        let language = async |id: &String| {
            let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
            report["coverage"]["language"].clone()
        };
        assert_eq!(language(&german).await, "de");
        assert_eq!(language(&neither).await, Value::Null);
    }

    /// A manager learns nothing from the name of a group that it is not in, neither over the API nor in the
    /// panel.
    // Invariant: Managers of collections cannot test the names of groups.
    async fn names_of_groups_cannot_be_tested(setup) {
        let app = setup.start().await;
        let (mut browser, manager) = staff(&app, &[]).await;
        let team = collection(&manager, "Team").await;
        let legal = Group {
            id: app.app.new_id(GroupId::generate),
            name: GroupName::parse("Legal").unwrap(),
            permissions: PermissionSet::EMPTY,
            created_at: app.app.now(),
        };
        let mut work = app.ports.store.begin().await.unwrap();
        assert!(work.groups().insert(&legal).await.unwrap());
        work.commit().await.unwrap();
        let over_api = async |group: &str| {
            let body = json!({ "group": group, "role": "viewer" });
            let reply = manager.put(&format!("/collections/{team}/members"), body).await;
            (reply.status, reply.text)
        };
        assert_eq!(over_api("Legal").await, over_api("Nothing").await);
        assert_eq!(over_api("legal").await.0, 404);
        let mut pages = Vec::new();
        for group in ["Legal", "Sales"] {
            let fields = [("group", group), ("role", "viewer")];
            let page = submit(&mut browser, &format!("/admin/collections/{team}/members"), &fields).await.expect(422).text;
            assert!(page.contains("Group does not exist."), "{page}");
            pages.push(page.replace(group, "GROUP"));
        }
        assert_eq!(pages[0], pages[1]);
        for groups in [vec![legal.id], vec![]] {
            let is_in = !groups.is_empty();
            let assigned = AssignedPermissions { groups: groups.into_iter().collect(), ..AssignedPermissions::default() };
            let mut work = app.ports.store.begin().await.unwrap();
            work.groups().set_assigned_permissions(manager.user.id, &assigned).await.unwrap();
            work.commit().await.unwrap();
            assert_eq!(over_api("legal").await.0, if is_in { 200 } else { 404 });
            let _ = manager.delete(&format!("/collections/{team}/members/{}", legal.id)).await;
        }
        app.permit(manager.user.id, &[Permission::ViewGroup]).await;
        let fields = [("group", "legal"), ("role", "viewer")];
        let _ = submit(&mut browser, &format!("/admin/collections/{team}/members"), &fields).await.expect(303);
        app.permit(manager.user.id, &[]).await;
        assert_eq!(over_api("legal").await.0, 200, "it is listed as a member");
    }

    /// The owner of a collection is always its manager.
    async fn owner_cannot_be_given_a_lower_role(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let members = format!("/collections/{}/members", collection(&ada, "Team").await);
        let role = |role: &str| json!({ "email": "ada@example.org", "role": role });
        ada.put(&members, role("viewer")).await.invalid(&["body.role"]);
        let _ = ada.put(&members, role("manager")).await.expect(200);
    }

    /// Lists and reports say who added a document and what the account may do with it, as the service then decides.
    async fn access_is_what_the_account_may_do(setup) {
        let app = setup.api_keys().start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        share(&ada, &team, &bob, "contributor").await;
        let path = format!("/documents/upload?collection_id={team}");
        let hers = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let his = id(&bob.upload_to(&path, "b.pdf", pdf(&["lions"])).await.expect(202).json());
        let access = async |by: &Member, document: &str| {
            let list = by.get("/documents?include=access&limit=10").await.expect(200).json();
            let entry = list.as_array().unwrap().iter().find(|entry| entry["id"] == json!(document)).unwrap().clone();
            let report = by.get(&format!("/documents/{document}/report")).await.expect(200).json();
            for (field, value) in entry["access"].as_object().unwrap() {
                assert_eq!(&report[field], value, "{field}");
            }
            let of = &entry["access"];
            assert_eq!(of["collection_ids"], json!([team]));
            json!([of["is_own"], of["owner_email"], of["can_change"], of["can_delete"]])
        };
        assert_eq!(access(&ada, &his).await, json!([false, "bob@example.org", true, true]));
        assert_eq!(access(&bob, &his).await, json!([true, "bob@example.org", true, true]));
        assert_eq!(access(&bob, &hers).await, json!([false, null, false, false]));
        let _ = bob.delete(&format!("/documents/{hers}")).await.expect(403);
        let key = app.limited_key(ada.user.id, &["read"], None).await.key;
        assert_eq!(access(&ada.with_access(key), &hers).await, json!([true, "ada@example.org", false, false]));
        share(&ada, &team, &bob, "viewer").await;
        assert_eq!(access(&bob, &his).await, json!([true, "bob@example.org", false, false]));
        let _ = bob.delete(&format!("/documents/{his}")).await.expect(403);
        for entry in bob.get("/documents").await.expect(200).json().as_array().unwrap() {
            assert_eq!(entry.as_object().unwrap().len(), 4, "{entry}");
        }
        let _ = bob.get("/documents?include=owner").await.expect(422);
        app.leave_jobs();
    }

    /// The list of collections marks the one for documents that name none, and has their sizes.
    async fn list_marks_the_default_collection(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        share(&ada, &team, &bob, "viewer").await;
        let _ = ada.add("a.pdf", pdf(&["zebras"])).await;
        let sizes = async |by: &Member| {
            let list = by.get("/collections").await.expect(200).json();
            let of = |it: &Value| (it["name"].clone(), it["is_default"].clone(), it["members"].clone(), it["documents"].clone());
            list.as_array().unwrap().iter().map(of).collect::<Vec<_>>()
        };
        let entry = |name: &str, is_default: bool, members: u64, documents: u64| {
            (json!(name), json!(is_default), json!(members), json!(documents))
        };
        let expected = [entry("Everyone", true, 0, 1), entry("Personal", false, 0, 0), entry("Team", false, 1, 0)];
        assert_eq!(sizes(&bob).await, expected);
        assert_eq!(sizes(&ada).await, expected);
        app.leave_jobs();
    }
}
