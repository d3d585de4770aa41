//! Bulk actions on documents: `/admin/documents/bulk`.

use super::staff;
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::browser::form_token;
use docent_tests::rules;
use serde_json::json;

const LIST: &str = "/admin/documents";
const BULK: &str = "/admin/documents/bulk";

rules! {
    async fn bulk_deletion_requires_confirmation(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument, Permission::DeleteDocument]).await;
        let ada = app.ada().await;
        let ids = [ada.add("<script>.pdf", b"no pdf".to_vec()).await, member.add("two.pdf", b"no pdf".to_vec()).await];
        app.run_jobs().await;
        let token = form_token(&browser.get(LIST).await.expect(200));
        let chosen = [("form_token", token.as_str()), ("act", "delete"), ("id", &ids[0]), ("id", &ids[1])];
        let page = browser.post(BULK, &chosen).await.expect(200).text;
        assert!(page.contains("&lt;script&gt;.pdf") && page.contains("two.pdf") && page.contains("Delete 2"), "{page}");
        assert!(!page.contains("<script>"));
        let mut confirmed = chosen.to_vec();
        confirmed.extend([("confirmed", "yes"), ("word", "delte")]);
        let page = browser.post(BULK, &confirmed).await.expect(422).text;
        assert!(page.contains("Nothing has been deleted.") && page.contains("Delete 2"));
        assert_eq!(member.get(&format!("/documents/{}", ids[0])).await.status, 200);
        confirmed.pop();
        confirmed.push(("word", "delete"));
        let _ = browser.post(BULK, &confirmed).await.expect(303);
        let page = browser.get(LIST).await.expect(200).text;
        assert!(page.contains("Deleted 2 documents.") && page.contains("No documents yet."), "{page}");
        app.run_jobs().await;
    }

    async fn bulk_action_reports_the_result_of_each_document(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument]).await;
        let ada = app.ada().await;
        let mine = member.add("mine.pdf", b"no pdf".to_vec()).await;
        let hers = ada.add("hers.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let record = member.post("/documents", json!({ "title": "waits" })).await.expect(201).json();
        let record = record["id"].as_str().unwrap();
        let gone = "01900000-0000-7000-8000-000000000000";
        let token = form_token(&browser.get(LIST).await.expect(200));
        let mut fields = vec![("form_token", token.as_str()), ("act", "retry")];
        fields.extend([&mine, hers.as_str(), record, gone, &mine].map(|id| ("id", id)));
        let page = browser.post(BULK, &fields).await.expect(200).text;
        assert!(page.contains("Will be skipped: 3") && page.contains("Will be retried: 1"), "{page}");
        fields.push(("confirmed", "yes"));
        let page = browser.post(BULK, &fields).await.expect(200).text;
        for text in [
            "1 of 4 done",
            "You do not have permission to do this",
            "Only a failed document can be retried; this one is pending",
            "Document not found",
        ] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert_eq!(ada.document(&hers).await["status"], "failed");
        assert_eq!(member.document(&mine).await["status"], "pending");
        app.run_jobs().await;
    }

    async fn bulk_action_interrupted_by_a_fault_reports_what_was_done(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument]).await;
        let mut ids = Vec::new();
        for title in ["one", "two"] {
            let document = member.post("/documents", json!({ "title": title })).await.expect(201).json();
            ids.push(document["id"].as_str().unwrap().to_owned());
        }
        let token = form_token(&browser.get(LIST).await.expect(200));
        let mut fields = vec![("form_token", token.as_str()), ("act", "delete"), ("confirmed", "yes"), ("word", "delete")];
        fields.extend(ids.iter().map(|id| ("id", id.as_str())));
        app.faults.database.commit.fail_next(1, FaultKind::Unavailable);
        let page = browser.post(BULK, &fields).await.expect(200).text;
        assert!(page.contains("0 of 2 done") && page.contains("The database cannot be reached"), "{page}");
        assert!(page.contains("not processed because a component failed"), "{page}");
        assert_eq!(member.document(&ids[1]).await["status"], "pending");
    }

    async fn invalid_selection_is_refused(setup) {
        let app = setup.start().await;
        let (mut browser, _) = staff(&app, &[Permission::ViewDocument]).await;
        let token = form_token(&browser.get(LIST).await.expect(200));
        let base = [("form_token", token.as_str()), ("act", "delete")];
        let _ = browser.post(BULK, &base).await.expect(303);
        assert!(browser.get(LIST).await.expect(200).text.contains("Select at least one document."));
        let id = "01900000-0000-7000-8000-000000000000";
        let _ = browser.post(BULK, &[&base[..], &[("id", id); 201]].concat()).await.expect(422);
        let _ = browser.post(BULK, &[&base[..], &[("id", "x")]].concat()).await.expect(422);
        let _ = browser.post(BULK, &[base[0], ("act", "eat"), ("id", id)]).await.expect(422);
        let _ = browser.post(BULK, &[("form_token", "x"), base[1], ("id", id)]).await.expect(403);
    }
}
