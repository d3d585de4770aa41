//! `POST /librechat/embed`, `POST /librechat/text`

use super::{ADA, BOB, FILE, results};
use docent_domain::audit::AuditAction;
use docent_domain::document::Document;
use docent_domain::file_type::{FileType, FileTypes};
use docent_domain::listing::{AuditFilter, DocumentFilter};
use docent_domain::scope::Scope;
use docent_tests::app::TestApp;
use docent_tests::files::file;
use docent_tests::librechat::SECRET;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use futures::StreamExt as _;
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::json;
use std::time::Duration;

async fn documents(app: &TestApp) -> Vec<Document> {
    let filter = DocumentFilter::of(Scope::SERVICE.clone());
    app.ports.store.read_latest().await.unwrap().documents().list(&filter).await.unwrap()
}

rules! {
    async fn file_is_uploaded_asked_and_deleted(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let reply = ada.embed(FILE, "Terms of sale.pdf", pdf(&["", "Zebras live in herds"])).await;
        let expected = json!({
            "status": true, "message": "File processed successfully.", "file_id": FILE, "filename": "Terms of sale.pdf", "known_type": true,
        });
        assert_eq!(reply.expect(200).json(), expected);
        let found = ada.query(FILE, "zebras", None).await.expect(200);
        let [(text, name, page, relevance)] = &results(&found)[..] else { panic!("{}", found.text) };
        assert_eq!((text.as_str(), name.as_str(), *page), ("Zebras live in herds", "Terms of sale.pdf", 2));
        assert!(*relevance > 0.0 && *relevance <= 1.0);
        let passage = &found.json()[0][0];
        assert_eq!((&passage["type"], &passage["metadata"]["file_id"]), (&json!("Document"), &json!(FILE)));
        assert!(passage["metadata"]["link"].as_str().unwrap().ends_with("&page=2"));
        // It is a document like all others, in the personal collection of the user's account.
        let document = documents(&app).await.remove(0);
        let owner = document.owner.unwrap();
        assert_eq!(document.collections.iter().map(ToString::to_string).collect::<Vec<_>>(), [owner.to_string()]);
        let entries = app.audit(AuditFilter { record: Some(document.id.to_string()), ..Default::default() }).await;
        assert_eq!(entries[0].changes["external_id"].after.as_deref(), Some(FILE));
        let deleted = ada.delete(&[FILE]).await.expect(200).json();
        assert_eq!(deleted, json!({ "message": "Documents for 1 file deleted successfully" }));
        assert_eq!(results(&ada.query(FILE, "zebras", None).await.expect(200)), []);
        app.run_jobs().await;
        assert_eq!(documents(&app).await, []);
    }

    async fn file_that_cannot_be_ingested_is_discarded(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let refused = ada.embed(FILE, "scan.pdf", pdf(&["", ""])).await.expect(400).json();
        let reason = refused["detail"].as_str().unwrap();
        assert!(reason.starts_with("no extractable text"), "{refused}");
        assert_eq!((&refused["status"], &refused["message"]), (&json!(false), &json!(reason)));
        assert_eq!((&refused["file_id"], &refused["known_type"]), (&json!(FILE), &json!(true)));
        wait::until("the document is deleted", async || documents(&app).await.is_empty()).await;
        app.run_jobs().await;
        // LibreChat can send the file again.
        let _ = ada.embed(FILE, "text.pdf", pdf(&["words"])).await.expect(200);
    }

    /// LibreChat tells its user about the type if `known_type` is false.
    async fn unsupported_type_is_named(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        for bytes in [b"words".to_vec(), vec![7; 100_000]] {
            let reply = ada.embed(FILE, "program.bin", bytes).await.expect(200).json();
            assert_eq!((&reply["status"], &reply["known_type"]), (&json!(false), &json!(false)));
            assert_eq!((&reply["file_id"], &reply["filename"]), (&json!(FILE), &json!(null)));
            assert!(!reply["message"].as_str().unwrap().is_empty());
        }
        assert_eq!(documents(&app).await, []);
    }

    async fn form_needs_an_id_and_a_file(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let file = || Part::bytes(pdf(&["words"])).file_name("a.pdf");
        for form in [
            Form::new().part("file", file()),
            Form::new().text("file_id", "").part("file", file()),
            Form::new().text("file_id", "x".repeat(201)).part("file", file()),
            Form::new().text("file_id", FILE),
            Form::new().text("file_id", FILE).part("file", file()).text("entity_id", "a\u{7}"),
        ] {
            let reply = app.send(ada.request(Method::POST, "/embed").multipart(form)).await.expect(422);
            assert!(reply.json()["detail"].is_string());
        }
        assert_eq!(documents(&app).await, []);
    }

    async fn second_file_with_an_id_replaces_the_first(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let _ = ada.embed(FILE, "old.pdf", pdf(&["zebras"])).await.expect(200);
        let _ = ada.embed(FILE, "new.pdf", pdf(&["lions"])).await.expect(200);
        let all = documents(&app).await;
        assert_eq!((all.len(), all[0].version, all[0].title.as_str()), (1, 2, "new.pdf"));
        assert_eq!(results(&ada.query(FILE, "zebras", None).await.expect(200)), []);
        assert_eq!(results(&ada.query(FILE, "lions", None).await.expect(200))[0].1, "new.pdf");
        // A file that cannot be ingested leaves the one that was there.
        let _ = ada.embed(FILE, "scan.pdf", pdf(&[""])).await.expect(400);
        assert_eq!(results(&ada.query(FILE, "lions", None).await.expect(200)).len(), 1);
    }

    async fn agent_of_a_file_changes_with_its_next_version(setup) {
        let first = pdf(&["zebras"]);
        let max = first.len() as u64 * 2 + 10;
        let setup = setup.settings(move |settings| settings.account_limits.stored_bytes = max);
        let app = setup.librechat(SECRET).start().await;
        let (ada, bob) = (app.librechat(ADA), app.librechat(BOB));
        let embed = async |file: Vec<u8>, entity: &str| {
            let request = ada.embed_request(FILE, "a.pdf", file, Some(entity));
            app.while_jobs_run(app.send(request)).await
        };
        let _ = embed(first, "agent_1").await.expect(200);
        // A file that is refused leaves the agent as well.
        let _ = embed(pdf(&["zebras"; 9]), "agent_2").await.expect(429);
        assert_eq!(results(&bob.query(FILE, "zebras", Some("agent_1")).await.expect(200)).len(), 1);
        let _ = embed(pdf(&["lions"]), "agent_2").await.expect(200);
        assert_eq!(results(&bob.query(FILE, "lions", Some("agent_1")).await.expect(200)), []);
        assert_eq!(results(&bob.query(FILE, "lions", Some("agent_2")).await.expect(200)).len(), 1);
        let record = Some(documents(&app).await.remove(0).id.to_string());
        let entries = app.audit(AuditFilter { record, ..Default::default() }).await;
        let change = entries.iter().find_map(|entry| entry.changes.get("entity").filter(|_| entry.action == AuditAction::Change));
        let change = change.expect("the change of the agent is in the audit log");
        assert_eq!((change.before.as_deref(), change.after.as_deref()), (Some("agent_1"), Some("agent_2")));
    }

    async fn two_uploads_with_an_id_are_one_document(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let upload = |name: &str| app.send(ada.embed_request(FILE, name, pdf(&["zebras"]), None));
        let (one, two) = Box::pin(app.while_jobs_run(async { tokio::join!(upload("a.pdf"), upload("b.pdf")) })).await;
        for reply in [one, two] {
            assert_eq!(reply.expect(200).json()["status"], true);
        }
        assert_eq!(documents(&app).await.len(), 1);
    }

    /// LibreChat keeps no record of a file whose upload it does not see succeed.
    async fn file_that_is_not_searchable_in_time_is_discarded(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let request = app.send(ada.embed_request(FILE, "a.pdf", pdf(&["zebras"]), None));
        let reply = app.clock.pass_while(request).await.expect(400).json();
        assert!(reply["detail"].as_str().unwrap().starts_with("the file was not searchable in time"), "{reply}");
        wait::until("the document is deleted", async || documents(&app).await.is_empty()).await;
        app.run_jobs().await;
    }

    async fn file_of_a_client_that_disconnects_is_discarded(setup) {
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let request = ada.embed_request(FILE, "a.pdf", pdf(&["zebras"]), None).timeout(Duration::from_secs(600));
        let sent = tokio::spawn(request.send());
        wait::until("the document is added", async || !documents(&app).await.is_empty()).await;
        sent.abort();
        wait::until("the document is deleted", async || documents(&app).await.is_empty()).await;
        app.run_jobs().await;
    }

    async fn upload_counts_for_the_account(setup) {
        let bytes = pdf(&["words"]);
        let max = bytes.len() as u64 + 10;
        let setup = setup.settings(move |settings| settings.account_limits.stored_bytes = max);
        let app = setup.librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let _ = ada.embed(FILE, "a.pdf", bytes.clone()).await.expect(200);
        let full = ada.embed("another", "b.pdf", bytes).await.expect(429).json();
        assert!(full["detail"].is_string(), "{full}");
    }

    async fn text_of_a_file_is_returned_and_not_kept(setup) {
        let types = FileTypes::parse("pdf,md").unwrap();
        let app = setup.settings(move |settings| settings.upload_types = types).librechat(SECRET).start().await;
        let ada = app.librechat(ADA);
        let reply = ada.text(FILE, "a.pdf", pdf(&["About lions", "About zebras"])).await.expect(200).json();
        let expected = json!({ "text": "About lions\nAbout zebras", "file_id": FILE, "filename": "a.pdf", "known_type": true });
        assert_eq!(reply, expected);
        let markdown = file(FileType::Markdown, "Lions", "They sleep.");
        let reply = ada.text(FILE, "a.md", markdown).await.expect(200).json();
        assert!(reply["text"].as_str().unwrap().contains("They sleep."));
        let _ = ada.text(FILE, "a.pdf", b"%PDF-1.4 broken".to_vec()).await;
        let _ = ada.text(FILE, "a.bin", vec![7; 100]).await.expect(415);
        assert_eq!(documents(&app).await, []);
        wait::until("the files are removed", async || app.app.is_idle()).await;
        let mut blobs = app.ports.blobs.list();
        assert!(blobs.next().await.is_none(), "nothing of the files is left");
    }
}
