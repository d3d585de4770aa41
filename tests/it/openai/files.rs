//! `/v1/files…`

use super::refused;
use docent_domain::document::Document;
use docent_domain::file_type::{FileType, FileTypes};
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::listing::DocumentFilter;
use docent_domain::scope::Scope;
use docent_tests::files::file;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};

fn part(name: &str, content_type: &str, bytes: Vec<u8>) -> Part {
    Part::bytes(bytes).file_name(name.to_owned()).mime_str(content_type).unwrap()
}

async fn create(by: &Member, purpose: &str, part: Part) -> Reply {
    // Clients send the fields before or after the file.
    let form = Form::new().text("purpose", purpose.to_owned()).part("file", part);
    by.post_form("/v1/files", form).await
}

/// Uploads a PDF and returns the ID of its file.
pub(super) async fn upload(by: &Member, name: &str, bytes: Vec<u8>) -> String {
    let file = create(by, "assistants", part(name, "application/pdf", bytes)).await.expect(200).json();
    file["id"].as_str().unwrap().to_owned()
}

/// The ID that the other paths have for a file.
pub(super) fn document_of(file: &str) -> String {
    let digits = file.strip_prefix("file-").unwrap();
    let cut = |from: usize, to: usize| digits[from..to].to_owned();
    [cut(0, 8), cut(8, 12), cut(12, 16), cut(16, 20), cut(20, 32)].join("-")
}

/// The IDs of a list of the OpenAI API.
pub(super) fn ids(list: &Value) -> Vec<String> {
    let data = list["data"].as_array().unwrap().iter();
    let ids: Vec<String> = data.map(|object| object["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((&list["object"], &list["first_id"]), (&json!("list"), &json!(ids.first())));
    assert_eq!(list["last_id"], json!(ids.last()));
    ids
}

async fn listed(by: &Member, query: &str) -> (Vec<String>, bool) {
    let list = by.get(&format!("/v1/files{query}")).await.expect(200).json();
    (ids(&list), list["has_more"].as_bool().unwrap())
}

rules! {
    async fn file_is_a_document_of_the_personal_collection(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let bytes = pdf(&["zebras"]);
        let reply = create(&ada, "user_data", part("Über uns.pdf", "application/pdf", bytes.clone())).await;
        let file = reply.expect(200).json();
        let id = file["id"].as_str().unwrap().to_owned();
        let expected = json!({
            "id": id, "object": "file", "bytes": bytes.len(), "created_at": file["created_at"], "filename": "Über uns.pdf",
            "purpose": "user_data", "status": "uploaded", "status_details": null,
        });
        assert_eq!(file, expected);
        app.run_jobs().await;
        let path = format!("/v1/files/{id}");
        let read = ada.get(&path).await.expect(200).json();
        assert_eq!((&read["status"], &read["purpose"]), (&json!("processed"), &json!("user_data")));
        let document = document_of(&id);
        assert_eq!(ada.get(&format!("/v1/files/{document}")).await.expect(200).json(), read);
        let report = ada.get(&format!("/documents/{document}/report")).await.expect(200).json();
        assert_eq!(report["collection_ids"], json!([ada.user.id.to_string()]));
        let content = ada.get(&format!("{path}/content")).await.expect(200);
        assert_eq!(content.header("content-type"), "application/pdf");
        assert!(content.header("content-disposition").starts_with("attachment"));
        // For another account it does not exist.
        for path in [path.clone(), format!("{path}/content")] {
            assert_eq!(refused(&bob.get(&path).await, 404, None, None), "Document not found");
        }
        refused(&bob.delete(&path).await, 404, None, None);
        let deleted = ada.delete(&path).await.expect(200).json();
        assert_eq!(deleted, json!({ "id": id, "object": "file", "deleted": true }));
        refused(&ada.get(&path).await, 404, None, None);
        ada.get(&format!("/documents/{document}")).await.refused(404, "Document not found");
        app.leave_jobs();
    }

    async fn upload_needs_a_purpose_and_a_supported_file(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let good = || part("a.pdf", "application/pdf", pdf(&["words"]));
        let no_purpose = ada.post_form("/v1/files", Form::new().part("file", good())).await;
        assert_eq!(refused(&no_purpose, 400, Some("purpose"), None), "purpose: is required");
        for purpose in ["fine-tune", "batch", "vision", ""] {
            refused(&create(&ada, purpose, good()).await, 400, Some("purpose"), None);
        }
        let no_file = ada.post_form("/v1/files", Form::new().text("purpose", "assistants")).await;
        refused(&no_file, 400, Some("file"), None);
        let expiring = Form::new().part("file", good()).text("purpose", "assistants");
        let expiring = expiring.text("expires_after[anchor]", "created_at").text("expires_after[seconds]", "3600");
        refused(&ada.post_form("/v1/files", expiring).await, 400, Some("expires_after"), None);
        let text = part("a.txt", "text/plain", b"words".to_vec());
        refused(&create(&ada, "assistants", text).await, 400, None, Some("unsupported_file"));
        refused(&ada.get("/v1/files/file-x").await, 404, None, None);
        assert_eq!(listed(&ada, "").await, (vec![], false), "nothing was stored");
    }

    /// Clients send streams without a name and a type.
    async fn type_is_found_by_content(setup) {
        let types = FileTypes::parse("pdf,md").unwrap();
        let app = setup.settings(move |settings| settings.upload_types = types).start().await;
        let ada = app.ada().await;
        let stream = part("upload", "application/octet-stream", pdf(&["zebras"]));
        let unnamed = create(&ada, "assistants", stream).await.expect(200).json();
        let markdown = part("a.md", "application/octet-stream", file(FileType::Markdown, "Lions", "They sleep."));
        let named = create(&ada, "assistants", markdown).await.expect(200).json();
        app.run_jobs().await;
        for file in [unnamed, named] {
            let path = format!("/v1/files/{}", file["id"].as_str().unwrap());
            assert_eq!(ada.get(&path).await.expect(200).json()["status"], "processed");
        }
    }

    async fn octet_stream_is_accepted_where_pdf_alone_is(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let stream = part("upload", "application/octet-stream", pdf(&["zebras"]));
        let _ = create(&ada, "assistants", stream).await.expect(200);
        app.run_jobs().await;
    }

    async fn failed_file_has_its_reason(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = upload(&ada, "scan.pdf", pdf(&["", ""])).await;
        app.run_jobs().await;
        let file = ada.get(&format!("/v1/files/{id}")).await.expect(200).json();
        assert_eq!(file["status"], "error");
        assert!(file["status_details"].as_str().unwrap().starts_with("no extractable text"), "{file}");
    }

    async fn files_are_listed_in_pages(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut all = Vec::new();
        for n in 0..5 {
            app.advance(std::time::Duration::from_secs(1));
            let purpose = if n == 3 { "user_data" } else { "assistants" };
            let part = part(&format!("{n}.pdf"), "application/pdf", pdf(&[&format!("words {n}")]));
            let file = create(&ada, purpose, part).await.expect(200).json();
            all.push(file["id"].as_str().unwrap().to_owned());
        }
        // A document without a file is no file.
        let _ = ada.post("/documents", json!({ "title": "No file" })).await.expect(201);
        let newest_first: Vec<String> = all.iter().rev().cloned().collect();
        assert_eq!(listed(&ada, "").await, (newest_first.clone(), false));
        assert_eq!(listed(&ada, "?order=asc&limit=2").await, (all[..2].to_vec(), true));
        assert_eq!(listed(&ada, &format!("?order=asc&limit=3&after={}", all[1])).await, (all[2..].to_vec(), false));
        assert_eq!(listed(&ada, &format!("?after={}", all[2])).await, (newest_first[3..].to_vec(), false));
        assert_eq!(listed(&ada, "?purpose=user_data").await, (vec![all[3].clone()], false));
        assert_eq!(listed(&ada, "?purpose=assistants").await.0.len(), 4);
        // A client deletes what it lists.
        let _ = ada.delete(&format!("/v1/files/{}", all[3])).await.expect(200);
        assert_eq!(listed(&ada, &format!("?limit=2&after={}", all[3])).await, (newest_first[2..4].to_vec(), true));
        for (query, param) in [
            ("?limit=0", "query.limit"),
            ("?limit=10001", "query.limit"),
            ("?order=up", "query.order"),
            ("?after=x", "query.after"),
            ("?purpose=batch", "query.purpose"),
        ] {
            refused(&ada.get(&format!("/v1/files{query}")).await, 400, Some(param), None);
        }
        app.leave_jobs();
    }

    /// Clients ask for 10,000 files by default and read on while there are more.
    async fn page_of_files_is_bounded_whatever_its_limit(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let _ = upload(&ada, "a.pdf", pdf(&["words"])).await;
        let mut work = app.ports.store.begin().await.unwrap();
        let filter = DocumentFilter::of(Scope::SERVICE.clone());
        let document = work.documents().list(&filter).await.unwrap().remove(0);
        for _ in 0..1000 {
            let id: DocumentId = app.app.new_id(DocumentId::generate);
            let document = Document { id, version_id: VersionId::first(id), ..document.clone() };
            work.documents().insert(&document).await.unwrap();
        }
        work.commit().await.unwrap();
        let (first, has_more) = listed(&ada, "?limit=10000").await;
        assert_eq!((first.len(), has_more), (1000, true));
        let (rest, has_more) = listed(&ada, &format!("?after={}", first[999])).await;
        assert_eq!((rest.len(), has_more), (1, false));
        app.leave_jobs();
    }

    /// What came in here counts and is recorded like everything else.
    async fn upload_counts_and_is_audited(setup) {
        let bytes = pdf(&["words"]);
        let max = bytes.len() as u64 + 10;
        let app = setup.settings(move |settings| settings.account_limits.stored_bytes = max).start().await;
        let ada = app.ada().await;
        let id = upload(&ada, "a.pdf", bytes.clone()).await;
        let second = create(&ada, "assistants", part("b.pdf", "application/pdf", bytes)).await;
        assert_eq!((second.status, &second.json()["error"]["type"]), (429, &json!("rate_limit_error")));
        let entries = app.audit(docent_domain::listing::AuditFilter { record: Some(document_of(&id)), ..Default::default() }).await;
        assert_eq!(entries.len(), 1);
        app.leave_jobs();
    }

    async fn limited_key_adds_to_its_only_collection(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let team = ada.post("/collections", json!({ "name": "Team" })).await.expect(201).json();
        let other = ada.post("/collections", json!({ "name": "Other" })).await.expect(201).json();
        let (team, other) = (team["id"].as_str().unwrap(), other["id"].as_str().unwrap());
        let outside = upload(&ada, "a.pdf", pdf(&["zebras"])).await;
        let key = app.limited_key(ada.user.id, &["read", "ingest"], Some(&[team])).await.key;
        let key = ada.with_access(key);
        let inside = upload(&key, "b.pdf", pdf(&["lions"])).await;
        let report = ada.get(&format!("/documents/{}/report", document_of(&inside))).await.expect(200).json();
        assert_eq!(report["collection_ids"], json!([team]));
        assert_eq!(listed(&key, "").await, (vec![inside.clone()], false));
        refused(&key.get(&format!("/v1/files/{outside}")).await, 404, None, None);
        let _ = key.delete(&format!("/v1/files/{inside}")).await.expect(200);
        let both = app.limited_key(ada.user.id, &["read", "ingest"], Some(&[team, other])).await.key;
        let reply = create(&ada.with_access(both), "assistants", part("c.pdf", "application/pdf", pdf(&["words"]))).await;
        assert!(refused(&reply, 400, None, None).contains("several collections"));
        app.leave_jobs();
    }
}
