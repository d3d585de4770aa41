//! `PUT /documents/{doc_id}/file`, and uploads of files that are there already.

use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use serde_json::{Value, json};
use std::slice::from_ref;
use std::time::Duration;

async fn replace(by: &Member, id: &str, name: &str, bytes: Vec<u8>) -> Reply {
    let path = format!("/documents/{id}/file");
    by.put_form(&path, form(name, "application/pdf", bytes)).await
}

async fn report(by: &Member, id: &str) -> Value {
    by.get(&format!("/documents/{id}/report")).await.expect(200).json()
}

rules! {
    async fn replaced_file_is_searched_until_the_new_one_is_ingested(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras graze"])).await;
        app.run_jobs().await;
        let reply = replace(&ada, &id, "b.pdf", pdf(&["giraffes graze"])).await.expect(202).json();
        assert_eq!(reply, json!({ "id": id, "title": "a.pdf", "status": "ingested", "vector_doc_id": id }));
        assert_eq!(ada.search("zebras").await, from_ref(&id));
        let waiting = report(&ada, &id).await;
        assert_eq!((&waiting["version"], &waiting["file"]["name"]), (&json!(1), &json!("a.pdf")));
        assert_eq!((&waiting["replacement"]["version"], &waiting["replacement"]["failure"]), (&json!(2), &Value::Null));

        app.run_jobs().await;
        assert_eq!(ada.search("giraffes").await, from_ref(&id));
        assert!(ada.search("zebras").await.is_empty());
        let replaced = report(&ada, &id).await;
        assert_eq!((&replaced["version"], &replaced["file"]["name"]), (&json!(2), &json!("b.pdf")));
        assert_eq!((&replaced["replacement"], &replaced["status"]), (&Value::Null, &json!("ingested")));
        let document = ada.document(&id).await;
        assert_eq!((&document["title"], &document["vector_doc_id"]), (&json!("b.pdf"), &json!(id)));
        let file = ada.get(&format!("/documents/{id}/file")).await.expect(200);
        assert!(file.header("content-disposition").contains("b.pdf"));
        let found = ada.post("/search", json!({ "query": "giraffes", "document_ids": [id] })).await.expect(200).json();
        assert_eq!((found["results"].as_array().unwrap().len(), &found["results"][0]["version"]), (1, &json!(2)));
    }

    async fn failed_replacement_leaves_the_document_as_it_was(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        let _ = replace(&ada, &id, "b.pdf", b"no PDF".to_vec()).await.expect(202);
        app.run_jobs().await;
        assert_eq!(ada.search("zebras").await, from_ref(&id));
        let failed = report(&ada, &id).await;
        assert_eq!((&failed["version"], &failed["status"]), (&json!(1), &json!("ingested")));
        assert_eq!(failed["replacement"]["failure"]["code"], "not_a_pdf");
        let retried = ada.post(&format!("/documents/{id}/retry"), json!({})).await.expect(202).json();
        assert_eq!(retried["status"], "ingested");
        assert_eq!(report(&ada, &id).await["replacement"]["failure"], Value::Null);
        app.run_jobs().await;
        let _ = replace(&ada, &id, "c.pdf", pdf(&["giraffes"])).await.expect(202);
        app.run_jobs().await;
        assert_eq!(report(&ada, &id).await["version"], 3, "the number of a version is not used again");
        assert_eq!(ada.search("giraffes").await, [id]);
    }

    async fn file_of_a_failed_document_is_replaced_immediately(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.faults.embedder.fail_next(1, FaultKind::Rejected);
        app.run_jobs().await;
        let reply = replace(&ada, &id, "b.pdf", pdf(&["giraffes"])).await.expect(202).json();
        assert_eq!((&reply["status"], &reply["title"]), (&json!("pending"), &json!("b.pdf")));
        app.run_jobs().await;
        assert_eq!(ada.search("giraffes").await, from_ref(&id));
        assert!(report(&ada, &id).await["replacement"].is_null());
    }

    async fn sources_of_earlier_answers_name_their_version(setup) {
        let (one, two) = (Turn::searching("zebras"), Turn::searching("giraffes"));
        let app = setup.script([one, Turn::saying("one"), two, Turn::saying("two")]).start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        let conversation = ada.post("/conversations", json!({})).await.expect(201).json();
        let path = format!("/conversations/{}", conversation["id"].as_str().unwrap());
        let ask = async |question: &str| {
            let body = json!({
                "messages": [{ "role": "user", "content": question }],
                "conversation_id": conversation["id"],
            });
            let _ = ada.post("/agents/chat", body).await.expect(200);
        };
        ask("zebras?").await;
        let _ = replace(&ada, &id, "a.pdf", pdf(&["giraffes"])).await.expect(202);
        app.run_jobs().await;
        ask("giraffes?").await;
        let messages = ada.get(&path).await.expect(200).json()["messages"].clone();
        let versions: Vec<&Value> = messages
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|message| message["sources"].as_array())
            .map(|sources| &sources[0]["version"])
            .collect();
        assert_eq!(versions, [&Value::Null, &json!(2)], "the first version has no number");
    }

    async fn replacing_requires_the_right_to_change(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        replace(&bob, &id, "b.pdf", pdf(&["x"])).await.refused(403, "You do not have permission to do this");
        let unknown = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";
        replace(&bob, unknown, "b.pdf", pdf(&["x"])).await.refused(404, "Document not found");
        assert_eq!(report(&ada, &id).await["file"]["name"], "a.pdf");
        app.leave_jobs();
    }

    async fn upload_of_an_equal_file_names_the_oldest(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let first = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.advance(Duration::from_secs(1));
        let second = bob.add("b.pdf", pdf(&["zebras"])).await;
        assert_ne!(first, second);
        assert_eq!(report(&ada, &first).await["duplicate_of"], Value::Null);
        assert_eq!(report(&bob, &second).await["duplicate_of"], json!(first));
        let path = "/documents/upload?on_duplicate=return";
        let reply = bob.upload_to(path, "c.pdf", pdf(&["zebras"])).await.expect(200).json();
        assert_eq!((&reply["id"], &reply["title"]), (&json!(first), &json!("a.pdf")));
        let new = bob.upload_to(path, "d.pdf", pdf(&["giraffes"])).await.expect(202).json();
        assert_eq!(new["title"], "d.pdf");
        assert_eq!(ada.get("/documents").await.expect(200).json().as_array().unwrap().len(), 3);
        let _ = bob.upload_to("/documents/upload?on_duplicate=x", "e.pdf", pdf(&["x"])).await.expect(422);
        app.leave_jobs();
    }

    /// Reports and uploads do not reveal equal files that the account cannot read.
    async fn equal_file_outside_the_scope_is_not_named(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let secret = ada.post("/collections", json!({ "name": "Secret" })).await.expect(201).json();
        let path = format!("/documents/upload?collection_id={}", secret["id"].as_str().unwrap());
        let _ = ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202);
        let path = "/documents/upload?on_duplicate=return";
        let own = bob.upload_to(path, "b.pdf", pdf(&["zebras"])).await.expect(202).json();
        assert_eq!(report(&bob, own["id"].as_str().unwrap()).await["duplicate_of"], Value::Null);
        app.leave_jobs();
    }
}
