//! Limited API keys, permissions and filters do not reach hidden collections. (extension)

use super::{collection, found, id, listed, share};
use docent_domain::id::CollectionId;
use docent_domain::permission::Permission;
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::slice::from_ref;

rules! {
    /// An API key that is limited to collections does not reach others.
    async fn limited_key_reaches_its_collections_only(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let team = collection(&ada, "Team").await;
        let path = format!("/documents/upload?collection_id={team}");
        let inside = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let outside = ada.add("b.pdf", pdf(&["zebras too"])).await;
        app.run_jobs().await;
        let key = app.limited_key(ada.user.id, &["read", "ingest"], Some(&[&team])).await.key;
        let key = ada.with_access(key);
        assert_eq!(listed(&key, "/documents").await, from_ref(&inside));
        assert_eq!(found(&key, json!({ "query": "zebras" })).await, from_ref(&inside));
        key.get(&format!("/documents/{outside}")).await.refused(404, "Document not found");
        key.delete(&format!("/documents/{outside}")).await.refused(404, "Document not found");
        // Webhooks report documents of all collections.
        key.get("/webhooks").await.refused(403, "You do not have permission to do this");
        // Its only collection is the default one.
        let added = key.add("c.pdf", pdf(&["lions"])).await;
        let report = ada.get(&format!("/documents/{added}/report")).await.expect(200).json();
        assert_eq!(report["collection_ids"], json!([team]));
        app.leave_jobs();
    }

    /// An API key that is limited to collections neither creates others nor changes documents that others have too.
    async fn limited_key_changes_nothing_of_other_collections(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let (team, other) = (collection(&ada, "Team").await, collection(&ada, "Other").await);
        let path = format!("/documents/upload?collection_id={team}");
        let document = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let both = json!({ "collection_ids": [team, other] });
        let _ = ada.patch(&format!("/documents/{document}"), both).await.expect(200);
        app.run_jobs().await;
        let key = app.limited_key(ada.user.id, &["read", "ingest", "admin"], Some(&[&team])).await.key;
        let key = ada.with_access(key);
        let report = key.get(&format!("/documents/{document}/report")).await.expect(200).json();
        assert_eq!([&report["can_change"], &report["can_delete"]], [&json!(false), &json!(false)]);
        let _ = key.delete(&format!("/documents/{document}")).await.expect(403);
        let _ = key.patch(&format!("/documents/{document}"), json!({ "attributes": {} })).await.expect(403);
        let _ = key.post("/collections", json!({ "name": "More" })).await.expect(403);
        let _ = ada.delete(&format!("/documents/{document}")).await.expect(204);
        app.leave_jobs();
    }

    /// Permissions to change and delete apply to documents and collections that the account can see.
    async fn permission_to_change_does_not_reach_what_is_hidden(setup) {
        let app = setup.start().await;
        let (ada, eve) = (app.ada().await, app.member("eve@example.org").await);
        let team = collection(&ada, "Team").await;
        let path = format!("/documents/upload?collection_id={team}");
        let document = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        app.run_jobs().await;
        let changing = [
            Permission::ChangeDocument,
            Permission::DeleteDocument,
            Permission::ChangeCollection,
            Permission::DeleteCollection,
        ];
        app.permit(eve.user.id, &changing).await;
        let personal = format!("{}", CollectionId::personal(eve.user.id));
        let document = format!("/documents/{document}");
        for change in [json!({ "collection_ids": [personal] }), json!({ "attributes": {} })] {
            eve.patch(&document, change).await.refused(404, "Document not found");
        }
        eve.post(&format!("{document}/retry"), json!({})).await.refused(404, "Document not found");
        let file = form("a.pdf", "application/pdf", pdf(&["lions"]));
        eve.put_form(&format!("{document}/file"), file).await.refused(404, "Document not found");
        eve.delete(&document).await.refused(404, "Document not found");
        let team = format!("/collections/{team}");
        eve.patch(&team, json!({ "name": "Mine" })).await.refused(404, "Collection not found");
        eve.delete(&team).await.refused(404, "Collection not found");
        let member = json!({ "email": "eve@example.org", "role": "viewer" });
        eve.put(&format!("{team}/members"), member.clone()).await.refused(404, "Collection not found");

        app.permit(eve.user.id, &[&changing[..], &[Permission::ViewDocument, Permission::ViewCollection]].concat()).await;
        let _ = eve.patch(&team, json!({ "description": "Checked" })).await.expect(200);
        let _ = eve.patch(&document, json!({ "attributes": { "checked": true } })).await.expect(200);
        let _ = eve.put(&format!("{team}/members"), member).await.expect(200);
        let _ = eve.delete(&document).await.expect(204);
        app.leave_jobs();
    }

    /// A filter does not show which hidden collections have a document.
    async fn filter_by_a_hidden_collection_finds_nothing(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let (team, secret) = (collection(&ada, "Team").await, collection(&ada, "Secret").await);
        share(&ada, &team, &bob, "viewer").await;
        let path = format!("/documents/upload?collection_id={team}");
        let document = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let both = json!({ "collection_ids": [team, secret] });
        let _ = ada.patch(&format!("/documents/{document}"), both).await.expect(200);
        app.run_jobs().await;
        let matches = async |by: &Member, kind: &str, value: Value| {
            let filter = json!({ "type": kind, "key": "collection", "value": value });
            let encoded: String = filter.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
            let in_list = listed(by, &format!("/documents?filters={encoded}")).await;
            let body = json!({ "query": "zebras", "collection_ids": [team], "filters": filter });
            assert_eq!(found(by, body).await, in_list, "{filter}");
            !in_list.is_empty()
        };
        for (kind, is_met) in [("eq", true), ("ne", false)] {
            assert_eq!(matches(&ada, kind, json!(secret)).await, is_met);
            assert_eq!(matches(&bob, kind, json!(secret)).await, !is_met);
            assert_eq!(matches(&bob, kind, json!(team)).await, is_met);
        }
        assert!(!matches(&bob, "in", json!([secret])).await && matches(&bob, "in", json!([secret, team])).await);
        assert!(matches(&bob, "nin", json!([secret])).await && !matches(&bob, "nin", json!([secret, team])).await);
    }
}
