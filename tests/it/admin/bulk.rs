//! Bulk actions on documents: `/admin/documents/bulk`.

use super::staff;
use docent_domain::fault::FaultKind;
use docent_domain::permission::Permission;
use docent_tests::browser::form_token;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;
use std::slice::from_ref;

const LIST: &str = "/admin/documents";
const EVERYONE: &str = "00000000-0000-0000-0000-000000000001";
const BULK: &str = "/admin/documents/bulk";

/// The form fields as text.
fn pairs<'f>(fields: &'f [(&'static str, String)]) -> Vec<(&'static str, &'f str)> {
    fields.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The collections of a document, as the first account that reads it sees them, sorted.
async fn collections_of(one: &Member, other: &Member, document: &str) -> Vec<String> {
    let path = format!("/documents/{document}/report");
    let reply = one.get(&path).await;
    let report = if reply.status == 200 { reply.json() } else { other.get(&path).await.expect(200).json() };
    let ids = report["collection_ids"].as_array().unwrap().iter();
    let mut ids: Vec<String> = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

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

    /// Each document is authorised on its own, and the preview says who will read the documents.
    async fn documents_are_added_to_moved_to_and_removed_from_collections(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument]).await;
        let ada = app.ada().await;
        let mine = member.add("mine.pdf", pdf(&["zebras"])).await;
        let hers = ada.add("hers.pdf", pdf(&["lions"])).await;
        let team = member.post("/collections", json!({ "name": "Team" })).await.expect(201).json()["id"].as_str().unwrap().to_owned();
        let secret = ada.post("/collections", json!({ "name": "Secret" })).await.expect(201).json()["id"].as_str().unwrap().to_owned();
        let collections = async |id: &str| collections_of(&member, &ada, id).await;
        let token = form_token(&browser.get(LIST).await.expect(200));
        let act = |act: &'static str, collection: &str, is_confirmed: bool| {
            let mut fields = vec![("form_token", token.clone()), ("act", act.to_owned()), ("collection", collection.to_owned())];
            fields.extend([&mine, &hers].map(|id| ("id", id.clone())));
            if is_confirmed {
                fields.push(("confirmed", "yes".to_owned()));
            }
            fields
        };
        let page = browser.post(BULK, &pairs(&act("add", &team, false))).await.expect(200).text;
        for text in ["added to “Team”, which is read by only its owner", "Will be added: 1", "Will be skipped: 1", "You do not have permission to do this"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert_eq!(collections(&mine).await, [EVERYONE], "a preview changes nothing");
        let page = browser.post(BULK, &pairs(&act("add", &team, true))).await.expect(200).text;
        assert!(page.contains("1 of 2 done"), "{page}");
        assert_eq!((collections(&mine).await, collections(&hers).await), (vec![EVERYONE.to_owned(), team.clone()], vec![EVERYONE.to_owned()]));
        let page = browser.post(BULK, &pairs(&act("add", &team, false))).await.expect(200).text;
        assert!(page.contains("Is in the collection already") && page.contains("None of the selected documents can be processed"), "{page}");

        let page = browser.post(BULK, &pairs(&act("move", &team, true))).await.expect(200).text;
        assert!(page.contains("1 of 2 done"), "{page}");
        assert_eq!(collections(&mine).await, from_ref(&team));
        let page = browser.post(BULK, &pairs(&act("remove", &team, false))).await.expect(200).text;
        for text in ["Is in no other collection: move or delete it instead", "Is not in the collection"] {
            assert!(page.contains(text), "{text}: {page}");
        }
        let page = browser.post(BULK, &pairs(&act("add", EVERYONE, true))).await.expect(200).text;
        assert!(page.contains("1 of 2 done"), "{page}");
        let page = browser.post(BULK, &pairs(&act("remove", &team, true))).await.expect(200).text;
        assert!(page.contains("1 of 2 done"), "{page}");
        assert_eq!(collections(&mine).await, [EVERYONE]);

        // A collection that the account may not view does not exist for it.
        let _ = browser.post(BULK, &pairs(&act("add", &secret, true))).await.expect(404);
        let _ = browser.post(BULK, &pairs(&act("add", "x", true))).await.expect(422);
        app.permit(member.user.id, &[Permission::ViewDocument, Permission::ChangeDocument, Permission::ViewCollection]).await;
        let reply = browser.post(BULK, &pairs(&act("move", &secret, true))).await.expect(303);
        assert_eq!(reply.header("location"), LIST);
        assert_eq!(collections(&hers).await, from_ref(&secret));
        assert!(browser.get(LIST).await.expect(200).text.contains("Moved 2 documents."));
        app.run_jobs().await;
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

    async fn all_documents_with_a_failure_are_retried(setup) {
        let app = setup.start().await;
        let (mut browser, member) = staff(&app, &[Permission::ViewDocument, Permission::ChangeDocument]).await;
        let scans = [member.add("one.pdf", pdf(&[""])).await, member.add("two.pdf", pdf(&["", ""])).await];
        let broken = member.add("broken.pdf", b"no pdf".to_vec()).await;
        app.run_jobs().await;
        let page = browser.get(&format!("{LIST}?failure=no_extractable_text")).await.expect(200);
        assert!(page.text.contains("Retry all with this failure") && !page.text.contains("broken.pdf"), "{}", page.text);
        let token = form_token(&page);
        let chosen = [("form_token", token.as_str()), ("act", "retry"), ("failure", "no_extractable_text")];
        let page = browser.post(BULK, &chosen).await.expect(200).text;
        assert!(page.contains("Retry 2") && !page.contains("broken.pdf"), "{page}");
        let mut confirmed = chosen.to_vec();
        confirmed.extend([("confirmed", "yes"), ("id", &scans[0]), ("id", &scans[1])]);
        let _ = browser.post(BULK, &confirmed).await.expect(303);
        for scan in &scans {
            assert_eq!(member.document(scan).await["status"], "pending");
        }
        assert_eq!(member.document(&broken).await["status"], "failed");
        app.run_jobs().await;
    }
}
