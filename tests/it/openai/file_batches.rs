//! `/v1/vector_stores/{vector_store_id}/file_batches…`

use super::files::{document_of, ids, upload};
use super::refused;
use docent_domain::id::DocumentId;
use docent_domain::text::Title;
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};

async fn store(by: &Member) -> String {
    let store = by.post("/v1/vector_stores", json!({})).await.expect(200).json();
    format!("/v1/vector_stores/{}", store["id"].as_str().unwrap())
}

async fn files(by: &Member, number: usize) -> Vec<String> {
    let mut files = Vec::new();
    for n in 0..number {
        files.push(upload(by, &format!("{n}.pdf"), pdf(&[&format!("words {n}")])).await);
    }
    files
}

fn counts(object: &Value) -> [u64; 5] {
    let names = ["in_progress", "completed", "failed", "cancelled", "total"];
    names.map(|name| object["file_counts"][name].as_u64().unwrap())
}

async fn batch(by: &Member, store: &str, body: Value) -> (String, Value) {
    let reply = by.post(&format!("{store}/file_batches"), body).await.expect(200);
    let batch = reply.json();
    (format!("{store}/file_batches/{}", batch["id"].as_str().unwrap()), batch)
}

async fn listed(by: &Member, path: &str) -> Vec<String> {
    let mut listed = ids(&by.get(path).await.expect(200).json());
    listed.sort();
    listed
}

/// Adds documents with files that are not stored to the personal collection of an account.
async fn many_documents(app: &TestApp, by: &Member, number: u32) -> Vec<String> {
    use docent_domain::document::{BlobKey, Document, StoredFile};
    use docent_domain::id::{CollectionId, VersionId};
    let mut work = app.ports.store.begin().await.unwrap();
    let mut ids = Vec::new();
    for n in 0..number {
        let id = app.app.new_id(DocumentId::generate);
        let file = StoredFile {
            blob: BlobKey::of_version(VersionId::first(id)),
            name: docent_domain::text::FileName::sanitize("a.pdf"),
            bytes: 1,
            sha256: [0; 32],
            file_type: docent_domain::file_type::FileType::Pdf,
        };
        let (owner, title) = (by.user.id, Title::parse(&format!("{n}")).unwrap());
        let personal = CollectionId::personal(owner);
        let document = Document::new(id, owner, personal, title, Some(file), app.app.now());
        work.documents().insert(&document).await.unwrap();
        ids.push(format!("file-{}", id.to_string().replace('-', "")));
    }
    work.commit().await.unwrap();
    ids
}

rules! {
    async fn batch_counts_its_files(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let mut files = files(&ada, 2).await;
        files.push(upload(&ada, "scan.pdf", pdf(&["", ""])).await);
        // The same file twice counts once.
        let twice: Vec<_> = files.iter().chain(&files[..1]).collect();
        let body = json!({ "file_ids": twice, "attributes": { "year": 2025 } });
        let (path, begun) = batch(&ada, &store, body).await;
        let expected = json!({
            "id": path.rsplit('/').next().unwrap(), "object": "vector_store.files_batch", "created_at": begun["created_at"],
            "vector_store_id": store.rsplit('/').next().unwrap(), "status": "in_progress",
            "file_counts": { "in_progress": 3, "completed": 0, "failed": 0, "cancelled": 0, "total": 3 },
        });
        assert_eq!(begun, expected);
        let polled = ada.get(&path).await.expect(200);
        assert_eq!((polled.header("openai-poll-after-ms"), polled.json()), ("500", begun));
        app.run_jobs().await;
        let done = ada.get(&path).await.expect(200).json();
        assert_eq!((&done["status"], counts(&done)), (&json!("completed"), [0, 2, 1, 0, 3]));
        let mut all = files.clone();
        all.sort();
        assert_eq!(listed(&ada, &format!("{path}/files")).await, all);
        assert_eq!(listed(&ada, &format!("{path}/files?filter=failed")).await, files[2..]);
        let file = ada.get(&format!("{store}/files/{}", files[0])).await.expect(200).json();
        assert_eq!(file["attributes"], json!({ "year": 2025 }));
        // A file that is deleted or detached meanwhile is no longer waited for.
        let _ = ada.delete(&format!("/v1/files/{}", files[0])).await.expect(200);
        let _ = ada.delete(&format!("{store}/files/{}", files[1])).await.expect(200);
        let rest = ada.get(&path).await.expect(200).json();
        assert_eq!((&rest["status"], counts(&rest)), (&json!("completed"), [0, 0, 1, 2, 3]));
        app.leave_jobs();
    }

    async fn batch_of_failed_files_fails(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let scan = upload(&ada, "scan.pdf", pdf(&[""])).await;
        let (path, _) = batch(&ada, &store, json!({ "file_ids": [scan] })).await;
        app.run_jobs().await;
        assert_eq!(ada.get(&path).await.expect(200).json()["status"], "failed");
    }

    async fn files_can_have_attributes_of_their_own(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let files = files(&ada, 2).await;
        let entry = |n: usize, kind: &str| json!({ "file_id": files[n], "attributes": { "kind": kind } });
        let body = json!({ "files": [entry(0, "a"), entry(1, "b"), entry(0, "a")] });
        let (_, begun) = batch(&ada, &store, body).await;
        assert_eq!(counts(&begun), [2, 0, 0, 0, 2]);
        for (file, kind) in files.iter().zip(["a", "b"]) {
            let file = ada.get(&format!("{store}/files/{file}")).await.expect(200).json();
            assert_eq!(file["attributes"], json!({ "kind": kind }));
        }
        let path = format!("{store}/file_batches");
        let different = json!({ "files": [entry(0, "a"), entry(0, "b")] });
        refused(&ada.post(&path, different).await, 400, Some("file_ids"), None);
        app.leave_jobs();
    }

    async fn wrong_batches_attach_nothing(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let store = store(&ada).await;
        let files = files(&ada, 1).await;
        let path = format!("{store}/file_batches");
        let entry = json!({ "file_id": files[0] });
        let sizes = json!({ "max_chunk_size_tokens": 100, "chunk_overlap_tokens": 0 });
        let small = json!({ "file_id": files[0], "chunking_strategy": { "type": "static", "static": sizes } });
        for (body, param) in [
            (json!({}), "file_ids"),
            (json!({ "file_ids": [] }), "file_ids"),
            (json!({ "files": [] }), "files"),
            (json!({ "file_ids": files, "files": [entry] }), "file_ids"),
            (json!({ "file_ids": vec!["file-1"; 2001] }), "file_ids"),
            (json!({ "files": [small] }), "chunking_strategy.static.max_chunk_size_tokens"),
        ] {
            refused(&ada.post(&path, body).await, 400, Some(param), None);
        }
        let hidden = upload(&bob, "b.pdf", pdf(&["secret"])).await;
        for unknown in [hidden.as_str(), "file-x", "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"] {
            let body = json!({ "file_ids": [files[0], unknown] });
            refused(&ada.post(&path, body).await, 404, None, None);
        }
        refused(&bob.post(&path, json!({ "file_ids": [hidden] })).await, 404, None, None);
        assert!(listed(&ada, &format!("{store}/files")).await.is_empty());
        refused(&ada.get(&format!("{path}/vsfb_01920f3e5b7a7c3d9e214f6a8b0c2d4e")).await, 404, None, None);
        app.leave_jobs();
    }

    /// The index has the labels of an ingested file later than the database.
    async fn attached_file_is_completed_when_searches_find_it(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let file = files(&ada, 1).await.remove(0);
        app.run_jobs().await;
        let statuses = async || {
            let file = ada.get(&format!("{store}/files/{file}")).await.expect(200).json()["status"].clone();
            let store = ada.get(&store).await.expect(200).json();
            (file, store["status"].clone(), store["file_counts"]["completed"].clone())
        };
        let listed_as = async |status: &str| listed(&ada, &format!("{store}/files?filter={status}")).await;
        let reply = ada.post(&format!("{store}/files"), json!({ "file_id": file })).await.expect(200);
        assert_eq!((&reply.json()["status"], reply.header("openai-poll-after-ms")), (&json!("in_progress"), "500"));
        assert_eq!(statuses().await, (json!("in_progress"), json!("in_progress"), json!(0)));
        assert_eq!((listed_as("in_progress").await, listed_as("completed").await), (vec![file.clone()], vec![]));
        app.write_labels().await;
        assert_eq!(statuses().await, (json!("completed"), json!("completed"), json!(1)));
        assert_eq!((listed_as("in_progress").await, listed_as("completed").await), (vec![], vec![file.clone()]));
    }

    async fn cancelled_batch_detaches_waiting_files(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let done = files(&ada, 1).await;
        app.run_jobs().await;
        let waiting = files(&ada, 2).await;
        let all: Vec<_> = done.iter().chain(&waiting).collect();
        let (path, _) = batch(&ada, &store, json!({ "file_ids": all })).await;
        let _ = ada.post(&format!("{path}/cancel"), json!({})).await.expect(200);
        app.write_labels().await;
        let cancelled = ada.get(&path).await.expect(200).json();
        assert_eq!((&cancelled["status"], counts(&cancelled)), (&json!("cancelled"), [0, 1, 0, 2, 3]));
        assert_eq!(listed(&ada, &format!("{store}/files")).await, done);
        let mut expected = waiting.clone();
        expected.sort();
        let reply = ada.get(&format!("{path}/files?filter=cancelled")).await.expect(200).json();
        assert!(reply["data"].as_array().unwrap().iter().all(|file| file["status"] == "cancelled"));
        assert_eq!(listed(&ada, &format!("{path}/files?filter=cancelled")).await, expected);
        // They stay files.
        app.run_jobs().await;
        assert_eq!(ada.get(&format!("/v1/files/{}", waiting[0])).await.expect(200).json()["status"], "processed");
        assert_eq!(ada.get(&path).await.expect(200).json(), cancelled);
        // There is nothing left to cancel in a batch that is done.
        let (path, _) = batch(&ada, &store, json!({ "file_ids": waiting })).await;
        app.write_labels().await;
        let reply = ada.post(&format!("{path}/cancel"), json!({})).await.expect(200).json();
        assert_eq!((&reply["status"], counts(&reply)), (&json!("completed"), [0, 2, 0, 0, 2]));
    }

    /// A store that is deleted while a batch runs takes the batch with it, and leaves the files.
    async fn deleted_store_ends_its_batches(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let files = files(&ada, 2).await;
        let (path, _) = batch(&ada, &store, json!({ "file_ids": files })).await;
        let _ = ada.delete(&store).await.expect(200);
        refused(&ada.get(&path).await, 404, None, None);
        refused(&ada.post(&format!("{path}/cancel"), json!({})).await, 404, None, None);
        app.run_jobs().await;
        for file in files {
            assert_eq!(ada.get(&format!("/v1/files/{file}")).await.expect(200).json()["status"], "processed");
            let report = ada.get(&format!("/documents/{}/report", document_of(&file))).await.expect(200).json();
            assert_eq!(report["collection_ids"], json!([ada.user.id.to_string()]));
        }
    }

    async fn batch_can_have_two_thousand_files(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let store = store(&ada).await;
        let files = many_documents(&app, &ada, 2000).await;
        let (path, begun) = batch(&ada, &store, json!({ "file_ids": files })).await;
        assert_eq!(counts(&begun), [2000, 0, 0, 0, 2000]);
        assert_eq!(counts(&ada.get(&store).await.expect(200).json()), [2000, 0, 0, 0, 2000]);
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page = ada.get(&format!("{path}/files?limit=100&after={after}")).await.expect(200).json();
            seen.extend(ids(&page));
            if page["has_more"] == false {
                break;
            }
            page["last_id"].as_str().unwrap().clone_into(&mut after);
        }
        seen.sort();
        let mut expected = files;
        expected.sort();
        assert_eq!(seen, expected);
        let cancelled = ada.post(&format!("{path}/cancel"), json!({})).await.expect(200).json();
        assert_eq!(counts(&cancelled), [0, 0, 0, 2000, 2000]);
    }
}
