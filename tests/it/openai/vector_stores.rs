//! `/v1/vector_stores…`

use super::files::{document_of, ids, upload};
use super::refused;
use docent_domain::listing::AuditFilter;
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::time::Duration;

async fn store(by: &Member, body: Value) -> String {
    let store = by.post("/v1/vector_stores", body).await.expect(200).json();
    store["id"].as_str().unwrap().to_owned()
}

/// The ID that the other paths have for a vector store.
fn collection_of(store: &str) -> String {
    document_of(&store.replace("vs_", "file-"))
}

async fn attach(by: &Member, store: &str, file: &str) -> Value {
    let body = json!({ "file_id": file });
    by.post(&format!("/v1/vector_stores/{store}/files"), body).await.expect(200).json()
}

async fn collections(by: &Member, file: &str) -> Vec<String> {
    let report = by.get(&format!("/documents/{}/report", document_of(file))).await.expect(200).json();
    let ids = report["collection_ids"].as_array().unwrap().iter();
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

async fn listed(by: &Member, path: &str) -> Vec<String> {
    ids(&by.get(&format!("/v1/vector_stores{path}")).await.expect(200).json())
}

async fn counts(by: &Member, path: &str) -> [u64; 5] {
    let object = by.get(&format!("/v1/vector_stores{path}")).await.expect(200).json();
    let names = ["in_progress", "completed", "failed", "cancelled", "total"];
    names.map(|name| object["file_counts"][name].as_u64().unwrap())
}

/// Two PDFs of an account, not yet ingested.
async fn two_files(by: &Member) -> [String; 2] {
    let first = upload(by, "zebra.pdf", pdf(&["nothing here", "zebras graze in the savanna today"])).await;
    by.app().advance(Duration::from_secs(1));
    [first, upload(by, "lion.pdf", pdf(&["lions sleep in the savanna today"])).await]
}

async fn search(by: &Member, store: &str, body: Value) -> Value {
    by.post(&format!("/v1/vector_stores/{store}/search"), body).await.expect(200).json()
}

/// The files that a search finds.
fn found(page: &Value) -> Vec<String> {
    let results = page["data"].as_array().unwrap().iter();
    let mut files: Vec<String> = results.map(|it| it["file_id"].as_str().unwrap().to_owned()).collect();
    files.dedup();
    files
}

async fn settle(app: &TestApp) {
    app.run_jobs().await;
    app.write_labels().await;
}

rules! {
    async fn change_of_the_metadata_is_audited(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = store(&ada, json!({ "name": "Contracts", "metadata": { "team": "legal" } })).await;
        let path = format!("/v1/vector_stores/{id}");
        let change = json!({ "metadata": { "team": "sales" }, "expires_after": { "anchor": "last_active_at", "days": 7 } });
        let _ = ada.post(&path, change.clone()).await.expect(200);
        let entries = async || {
            let filter = AuditFilter { record: Some(collection_of(&id)), ..Default::default() };
            app.audit(filter).await
        };
        let changes = &entries().await[0].changes;
        let change_of = |name: &str| (changes[name].before.clone(), changes[name].after.clone());
        assert_eq!(change_of("metadata"), (Some("team: legal".to_owned()), Some("team: sales".to_owned())));
        assert_eq!(change_of("expires_after_days"), (None, Some("7".to_owned())));
        let count = entries().await.len();
        let _ = ada.post(&path, change).await.expect(200);
        assert_eq!(entries().await.len(), count, "a change to the same values is none");
    }

    async fn store_is_a_collection(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let body = json!({ "name": "Contracts", "description": "Signed", "metadata": { "team": "legal" } });
        let created = ada.post("/v1/vector_stores", body).await.expect(200).json();
        let id = created["id"].as_str().unwrap();
        let path = format!("/v1/vector_stores/{id}");
        let expected = json!({
            "id": id, "object": "vector_store", "created_at": created["created_at"], "name": "Contracts", "description": "Signed",
            "usage_bytes": 0, "file_counts": { "in_progress": 0, "completed": 0, "failed": 0, "cancelled": 0, "total": 0 },
            "status": "completed", "expires_after": null, "expires_at": null, "last_active_at": created["last_active_at"],
            "metadata": { "team": "legal" },
        });
        assert_eq!(created, expected);
        let collection = collection_of(id);
        assert_eq!(ada.get(&format!("/collections/{collection}")).await.expect(200).json()["name"], "Contracts");
        assert_eq!(ada.get(&path).await.expect(200).json(), created);
        let changed = ada.post(&path, json!({ "name": "Old contracts" })).await.expect(200).json();
        assert_eq!((&changed["name"], &changed["metadata"]), (&json!("Old contracts"), &json!({ "team": "legal" })));
        let cleared = ada.post(&path, json!({ "name": null, "metadata": null })).await.expect(200).json();
        assert_eq!((&cleared["name"], &cleared["metadata"]), (&json!("Old contracts"), &json!({})));
        // For another account it does not exist.
        assert_eq!(refused(&bob.get(&path).await, 404, None, None), "Collection not found");
        refused(&bob.post(&path, json!({ "name": "Mine" })).await, 404, None, None);
        refused(&bob.delete(&path).await, 404, None, None);
        refused(&bob.post(&format!("{path}/search"), json!({ "query": "q" })).await, 404, None, None);
        let deleted = ada.delete(&path).await.expect(200).json();
        assert_eq!(deleted, json!({ "id": id, "object": "vector_store.deleted", "deleted": true }));
        refused(&ada.get(&path).await, 404, None, None);
        let _ = ada.get(&format!("/collections/{collection}")).await.expect(404);
        let unnamed = ada.post("/v1/vector_stores", json!({})).await.expect(200).json();
        assert_eq!(unnamed["name"], "Vector store");
    }

    async fn stores_are_listed_in_pages(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut own = Vec::new();
        for n in 0..4 {
            app.advance(Duration::from_secs(1));
            own.push(store(&ada, json!({ "name": format!("Store {n}") })).await);
        }
        let all = listed(&ada, "?order=asc").await;
        // Those of everyone and of the account are older.
        assert_eq!((all.len(), &all[2..]), (6, &own[..]));
        assert_eq!(listed(&ada, "?limit=2").await, [own[3].clone(), own[2].clone()]);
        assert_eq!(listed(&ada, &format!("?limit=2&after={}", own[2])).await, [own[1].clone(), own[0].clone()]);
        assert_eq!(listed(&ada, &format!("?limit=2&before={}", own[1])).await, [own[3].clone(), own[2].clone()]);
        let _ = ada.delete(&format!("/v1/vector_stores/{}", own[2])).await.expect(200);
        assert_eq!(listed(&ada, &format!("?limit=1&after={}", own[2])).await, [own[1].clone()]);
        for query in ["?limit=101", "?order=x", "?after=file-1"] {
            let _ = ada.get(&format!("/v1/vector_stores{query}")).await.expect(400);
        }
    }

    async fn wrong_stores_are_refused(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let sizes = |size: u64, overlap: u64| {
            json!({ "type": "static", "static": { "max_chunk_size_tokens": size, "chunk_overlap_tokens": overlap } })
        };
        let long: String = "x".repeat(513);
        for (body, param) in [
            (json!({ "name": "" }), "name"),
            (json!({ "name": "x".repeat(151) }), "name"),
            (json!({ "metadata": { "n": 1 } }), "metadata"),
            (json!({ "metadata": { "n": long } }), "metadata"),
            (json!({ "expires_after": { "anchor": "created_at", "days": 1 } }), "expires_after.anchor"),
            (json!({ "expires_after": { "anchor": "last_active_at", "days": 0 } }), "expires_after.days"),
            (json!({ "expires_after": { "anchor": "last_active_at", "days": 366 } }), "expires_after.days"),
            (json!({ "chunking_strategy": sizes(99, 0) }), "chunking_strategy.static.max_chunk_size_tokens"),
            (json!({ "chunking_strategy": sizes(4097, 0) }), "chunking_strategy.static.max_chunk_size_tokens"),
            (json!({ "chunking_strategy": sizes(800, 401) }), "chunking_strategy.static.chunk_overlap_tokens"),
            (json!({ "chunking_strategy": sizes(256, 0) }), "chunking_strategy.static.max_chunk_size_tokens"),
            (json!({ "chunking_strategy": { "type": "static" } }), "chunking_strategy.static"),
            (json!({ "chunking_strategy": { "type": "semantic" } }), "chunking_strategy.type"),
        ] {
            refused(&ada.post("/v1/vector_stores", body).await, 400, Some(param), None);
        }
        let unknown = json!({ "name": "x", "file_ids": ["file-01920f3e5b7a7c3d9e214f6a8b0c2d4e"] });
        refused(&ada.post("/v1/vector_stores", unknown).await, 404, None, None);
        assert_eq!(listed(&ada, "").await.len(), 2, "nothing was created");
        for accepted in [sizes(800, 400), sizes(4096, 0), json!({ "type": "auto" })] {
            let _ = store(&ada, json!({ "chunking_strategy": accepted })).await;
        }
    }

    async fn attached_file_is_in_both_collections(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let [zebra, lion] = two_files(&ada).await;
        let first = store(&ada, json!({ "name": "First", "file_ids": [zebra] })).await;
        let second = store(&ada, json!({ "name": "Second" })).await;
        let attached = ada.post(&format!("/v1/vector_stores/{second}/files"), json!({ "file_id": zebra, "attributes": { "year": 2025 } })).await;
        assert_eq!(attached.header("openai-poll-after-ms"), "500");
        let attached = attached.expect(200).json();
        let expected = json!({
            "id": zebra, "object": "vector_store.file", "created_at": attached["created_at"], "usage_bytes": attached["usage_bytes"],
            "vector_store_id": second, "status": "in_progress", "last_error": null, "attributes": { "year": 2025 },
            "chunking_strategy": { "type": "static", "static": { "max_chunk_size_tokens": 512, "chunk_overlap_tokens": 50 } },
        });
        assert_eq!(attached, expected);
        assert_eq!(counts(&ada, &format!("/{second}")).await, [1, 0, 0, 0, 1]);
        assert_eq!(ada.get(&format!("/v1/vector_stores/{second}")).await.expect(200).json()["status"], "in_progress");
        settle(&app).await;
        let path = format!("/v1/vector_stores/{second}/files/{zebra}");
        assert_eq!(ada.get(&path).await.expect(200).json()["status"], "completed");
        let now = ada.get(&format!("/v1/vector_stores/{second}")).await.expect(200).json();
        assert_eq!((&now["status"], &now["usage_bytes"]), (&json!("completed"), &attached["usage_bytes"]));
        assert_eq!(collections(&ada, &zebra).await.len(), 3);
        // Attaching it again changes nothing.
        assert_eq!(attach(&ada, &second, &zebra).await["attributes"], json!({ "year": 2025 }));
        let _ = attach(&ada, &second, &lion).await;
        app.write_labels().await;
        assert_eq!(found(&search(&ada, &first, json!({ "query": "savanna" })).await), std::slice::from_ref(&zebra));
        assert_eq!(listed(&ada, &format!("/{second}/files?order=asc")).await, [zebra.clone(), lion.clone()]);
        assert_eq!(listed(&ada, &format!("/{second}/files?limit=1&after={lion}")).await, std::slice::from_ref(&zebra));
        // The attributes belong to the file.
        let changed = ada.post(&path, json!({ "attributes": { "year": 2026 } })).await.expect(200).json();
        assert_eq!(changed["attributes"], json!({ "year": 2026 }));
        let other = ada.get(&format!("/v1/vector_stores/{first}/files/{zebra}")).await.expect(200).json();
        assert_eq!(other["attributes"], json!({ "year": 2026 }));
        refused(&ada.post(&path, json!({})).await, 400, Some("attributes"), None);
        assert_eq!(ada.post(&path, json!({ "attributes": null })).await.expect(200).json()["attributes"], json!({}));
        let content = ada.get(&format!("{path}/content")).await.expect(200).json();
        assert_eq!(content["data"][1], json!({ "type": "text", "text": content["data"][1]["text"], "page": 2 }));
        assert!(content["data"][1]["text"].as_str().unwrap().contains("zebras graze"), "{content}");
        // Detaching leaves the file.
        let detached = ada.delete(&path).await.expect(200).json();
        assert_eq!(detached, json!({ "id": zebra, "object": "vector_store.file.deleted", "deleted": true }));
        refused(&ada.get(&path).await, 404, None, None);
        refused(&ada.delete(&path).await, 404, None, None);
        assert_eq!(found(&search(&ada, &second, json!({ "query": "savanna" })).await), [lion]);
        assert_eq!(ada.get(&format!("/v1/files/{zebra}")).await.expect(200).json()["status"], "processed");
        // Deleting it empties all stores.
        let _ = ada.delete(&format!("/v1/files/{zebra}")).await.expect(200);
        assert_eq!(counts(&ada, &format!("/{first}")).await, [0; 5]);
        assert!(found(&search(&ada, &first, json!({ "query": "savanna" })).await).is_empty());
        app.leave_jobs();
    }

    /// A document that was uploaded into a collection goes to its owner when it leaves.
    async fn detached_document_goes_to_the_personal_collection(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = store(&ada, json!({ "name": "Team" })).await;
        let collection = collection_of(&team);
        let members = format!("/collections/{collection}/members");
        let _ = ada.put(&members, json!({ "email": "bob@example.org", "role": "contributor" })).await.expect(200);
        let path = format!("/documents/upload?collection_id={collection}");
        let own = ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json()["id"].as_str().unwrap().to_owned();
        let bobs = bob.upload_to(&path, "b.pdf", pdf(&["lions"])).await.expect(202).json()["id"].as_str().unwrap().to_owned();
        // It has files that are nowhere else.
        refused(&ada.delete(&format!("/v1/vector_stores/{team}")).await, 409, None, None);
        let file = format!("/v1/vector_stores/{team}/files/{own}");
        let id = ada.delete(&file).await.expect(200).json()["id"].as_str().unwrap().to_owned();
        assert_eq!(collections(&ada, &id).await, [ada.user.id.to_string()]);
        // A manager cannot take another account's only copy away.
        let bobs = format!("/v1/vector_stores/{team}/files/{bobs}");
        refused(&ada.delete(&bobs).await, 409, None, None);
        let _ = bob.delete(&bobs).await.expect(200);
        let _ = ada.delete(&format!("/v1/vector_stores/{team}")).await.expect(200);
        app.leave_jobs();
    }

    async fn role_decides_who_attaches(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = store(&ada, json!({ "name": "Team" })).await;
        let members = format!("/collections/{}/members", collection_of(&team));
        let file = upload(&bob, "a.pdf", pdf(&["zebras"])).await;
        let files = format!("/v1/vector_stores/{team}/files");
        refused(&bob.post(&files, json!({ "file_id": file })).await, 404, None, None);
        let _ = ada.put(&members, json!({ "email": "bob@example.org", "role": "viewer" })).await.expect(200);
        refused(&bob.post(&files, json!({ "file_id": file })).await, 403, None, Some("insufficient_permissions"));
        let _ = ada.put(&members, json!({ "email": "bob@example.org", "role": "contributor" })).await.expect(200);
        let _ = attach(&bob, &team, &file).await;
        // A file of another account that is only readable stays as it is.
        let public = bob.add("b.pdf", pdf(&["lions"])).await;
        refused(&ada.post(&files, json!({ "file_id": public })).await, 403, None, Some("insufficient_permissions"));
        let attributes = json!({ "attributes": { "a": 1 } });
        refused(&ada.post(&format!("{files}/{file}"), attributes).await, 403, None, Some("insufficient_permissions"));
        // A manager detaches any file, and its owner keeps it.
        let _ = ada.delete(&format!("{files}/{file}")).await.expect(200);
        assert_eq!(collections(&bob, &file).await, [bob.user.id.to_string()]);
        app.leave_jobs();
    }

    async fn failed_file_names_the_cause(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let scan = upload(&ada, "scan.pdf", pdf(&["", ""])).await;
        let good = upload(&ada, "a.pdf", pdf(&["zebras"])).await;
        let id = store(&ada, json!({ "file_ids": [scan, good] })).await;
        app.run_jobs().await;
        let file = ada.get(&format!("/v1/vector_stores/{id}/files/{scan}")).await.expect(200).json();
        assert_eq!((&file["status"], &file["last_error"]["code"]), (&json!("failed"), &json!("unsupported_file")));
        assert!(file["last_error"]["message"].as_str().unwrap().starts_with("no extractable text"));
        assert_eq!(counts(&ada, &format!("/{id}")).await, [0, 1, 1, 0, 2]);
        assert_eq!(listed(&ada, &format!("/{id}/files?filter=failed")).await, [scan]);
        assert_eq!(listed(&ada, &format!("/{id}/files?filter=completed")).await, [good]);
        for status in ["in_progress", "cancelled"] {
            assert!(listed(&ada, &format!("/{id}/files?filter={status}")).await.is_empty());
        }
        let _ = ada.get(&format!("/v1/vector_stores/{id}/files?filter=done")).await.expect(400);
    }

    async fn search_finds_passages_with_their_place(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let [zebra, lion] = two_files(&ada).await;
        let id = store(&ada, json!({ "file_ids": [zebra, lion] })).await;
        let path = format!("/v1/vector_stores/{id}");
        for (file, kind) in [(&zebra, "herbivore"), (&lion, "carnivore")] {
            let body = json!({ "attributes": { "kind": kind, "link": "own" } });
            let body = if file == &lion { body } else { json!({ "attributes": { "kind": kind } }) };
            let _ = ada.post(&format!("{path}/files/{file}"), body).await.expect(200);
        }
        settle(&app).await;
        let page = search(&ada, &id, json!({ "query": "Where do zebras graze?" })).await;
        assert_eq!(page["object"], "vector_store.search_results.page");
        assert_eq!([&page["search_query"], &page["has_more"], &page["next_page"]], [&json!(["Where do zebras graze?"]), &json!(false), &Value::Null]);
        let best = &page["data"][0];
        assert_eq!((&best["file_id"], &best["filename"]), (&json!(zebra), &json!("zebra.pdf")));
        assert!(best["content"][0]["text"].as_str().unwrap().contains("zebras graze"), "{best}");
        assert_eq!((&best["content"][0]["type"], &best["attributes"]["kind"]), (&json!("text"), &json!("herbivore")));
        let first = best["attributes"]["page"].as_u64().unwrap();
        assert!((1..=2).contains(&first), "{best}");
        let link = best["attributes"]["link"].as_str().unwrap();
        assert!(link.ends_with(&format!("/chat#document={}&page={first}", document_of(&zebra))), "{link}");
        let scores: Vec<f64> = page["data"].as_array().unwrap().iter().map(|it| it["score"].as_f64().unwrap()).collect();
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)) && scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        // Filters, several queries and the threshold.
        let only = |filters: Value| json!({ "query": "savanna", "filters": filters });
        let lions = search(&ada, &id, only(json!({ "type": "eq", "key": "kind", "value": "carnivore" }))).await;
        assert_eq!(found(&lions), std::slice::from_ref(&lion));
        assert_eq!(lions["data"][0]["attributes"]["link"], "own", "attributes of the file come first");
        let nested = json!({ "type": "or", "filters": [
            { "type": "in", "key": "kind", "value": ["herbivore"] },
            { "type": "and", "filters": [{ "type": "ne", "key": "kind", "value": "carnivore" }] },
        ] });
        assert_eq!(found(&search(&ada, &id, only(nested)).await), std::slice::from_ref(&zebra));
        let both = search(&ada, &id, json!({ "query": ["zebras graze", "lions sleep"], "max_num_results": 2 })).await;
        let mut files = found(&both);
        files.sort();
        let mut expected = vec![zebra, lion];
        expected.sort();
        assert_eq!((files, both["search_query"].as_array().unwrap().len()), (expected, 2));
        let one = search(&ada, &id, json!({ "query": "savanna", "max_num_results": 1 })).await;
        assert_eq!(one["data"].as_array().unwrap().len(), 1);
        let least = scores[0];
        let strict = json!({ "query": "Where do zebras graze?", "ranking_options": { "ranker": "auto", "score_threshold": least } });
        assert_eq!(search(&ada, &id, strict).await["data"][0]["score"], json!(least));
        let none = json!({ "query": "savanna", "ranking_options": { "score_threshold": 1.0 } });
        assert!(found(&search(&ada, &id, none).await).is_empty());
        for (body, param) in [
            (json!({}), "query"),
            (json!({ "query": " " }), "query"),
            (json!({ "query": [] }), "query"),
            (json!({ "query": 1 }), "query"),
            (json!({ "query": vec!["a"; 11] }), "query"),
            (json!({ "query": "a", "max_num_results": 0 }), "max_num_results"),
            (json!({ "query": "a", "max_num_results": 51 }), "max_num_results"),
            (json!({ "query": "a", "ranking_options": { "score_threshold": 1.1 } }), "ranking_options.score_threshold"),
            (json!({ "query": "a", "filters": { "type": "like", "key": "a", "value": "b" } }), "filters"),
        ] {
            refused(&ada.post(&format!("{path}/search"), body).await, 400, Some(param), None);
        }
    }

    async fn unused_store_expires_and_keeps_its_files(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let file = upload(&ada, "a.pdf", pdf(&["zebras"])).await;
        let day = Duration::from_secs(24 * 60 * 60);
        let expiry = json!({ "anchor": "last_active_at", "days": 2 });
        let body = json!({ "file_ids": [file], "expires_after": expiry });
        let created = ada.post("/v1/vector_stores", body).await.expect(200).json();
        assert_eq!(created["expires_after"], expiry);
        let seconds = |key: &str| created[key].as_i64().unwrap();
        assert_eq!(seconds("expires_at") - seconds("last_active_at"), 2 * 24 * 60 * 60);
        let id = created["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/vector_stores/{id}");
        settle(&app).await;
        for _ in 0..2 {
            app.advance(day);
            let ada = Member::login(&app, ada.user.clone()).await;
            assert_eq!(found(&search(&ada, &id, json!({ "query": "zebras" })).await), std::slice::from_ref(&file), "a search is a use");
        }
        app.advance(2 * day);
        let ada = Member::login(&app, ada.user.clone()).await;
        assert_eq!(ada.get(&path).await.expect(200).json()["status"], "expired");
        let code = Some("vector_store_expired");
        refused(&ada.post(&format!("{path}/search"), json!({ "query": "zebras" })).await, 400, None, code);
        refused(&ada.post(&format!("{path}/files"), json!({ "file_id": file })).await, 400, None, code);
        assert_eq!(collections(&ada, &file).await.len(), 2, "nothing is deleted");
        let revived = ada.post(&path, json!({ "expires_after": null })).await.expect(200).json();
        assert_eq!((&revived["status"], &revived["expires_at"]), (&json!("completed"), &Value::Null));
        assert_eq!(found(&search(&ada, &id, json!({ "query": "zebras" })).await), [file]);
    }

    async fn limited_key_sees_only_its_stores(setup) {
        let app = setup.api_keys().start().await;
        let ada = app.ada().await;
        let (team, other) = (store(&ada, json!({ "name": "Team" })).await, store(&ada, json!({ "name": "Other" })).await);
        let [zebra, lion] = two_files(&ada).await;
        let _ = (attach(&ada, &team, &zebra).await, attach(&ada, &other, &lion).await);
        settle(&app).await;
        let key = app.limited_key(ada.user.id, &["read", "ingest", "admin"], Some(&[&collection_of(&team)])).await.key;
        let key = ada.with_access(key);
        assert_eq!(listed(&key, "").await, std::slice::from_ref(&team));
        assert_eq!(listed(&key, &format!("/{team}/files")).await, [zebra]);
        for path in [format!("/{other}"), format!("/{other}/files"), format!("/{team}/files/{lion}")] {
            refused(&key.get(&format!("/v1/vector_stores{path}")).await, 404, None, None);
        }
        refused(&key.post(&format!("/v1/vector_stores/{other}/search"), json!({ "query": "q" })).await, 404, None, None);
        refused(&key.post(&format!("/v1/vector_stores/{team}/files"), json!({ "file_id": lion })).await, 404, None, None);
        let _ = key.post("/v1/vector_stores", json!({ "name": "More" })).await.expect(403);
        let reader = app.limited_key(ada.user.id, &["read"], None).await.key;
        let reader = ada.with_access(reader);
        let code = Some("insufficient_permissions");
        refused(&reader.post("/v1/vector_stores", json!({})).await, 403, None, code);
        refused(&reader.post(&format!("/v1/vector_stores/{team}/files"), json!({ "file_id": lion })).await, 403, None, code);
    }
}
