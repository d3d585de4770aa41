//! Answers are based on what the account can read. (extension)

use super::{collection, id, share};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};
use std::slice::from_ref;

rules! {
    /// Answers are based on documents of the asker's scope and selection.
    async fn answers_use_only_selected_documents(setup) {
        let app = setup.builtin_answerer().start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        let path = format!("/documents/upload?collection_id={team}");
        let inside = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras"])).await.expect(202).json());
        let outside = ada.add("b.pdf", pdf(&["zebras too"])).await;
        app.run_jobs().await;
        let ask = async |by: &Member, more: Value| {
            let mut body = question_body("zebras");
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let mut sources = by.sources_of(body).await;
            sources.sort();
            sources
        };
        let mut both = vec![inside.clone(), outside.clone()];
        both.sort();
        assert_eq!(ask(&ada, json!({})).await, both);
        assert_eq!(ask(&bob, json!({})).await, from_ref(&outside));
        assert_eq!(ask(&ada, json!({ "collection_ids": [team] })).await, from_ref(&inside));
        assert_eq!(ask(&ada, json!({ "document_ids": [outside] })).await, from_ref(&outside));
        let filter = json!({ "type": "eq", "key": "file_name", "value": "a.pdf" });
        assert_eq!(ask(&ada, json!({ "filters": filter })).await, from_ref(&inside));
        assert!(ask(&bob, json!({ "document_ids": [inside] })).await.is_empty());
    }

    /// The built-in answerer lists documents of the asker's scope and selection.
    async fn listed_documents_are_those_of_the_account(setup) {
        let app = setup.builtin_answerer().start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let empty = bob.ask("Which documents are there?").await.expect(200).answer();
        assert_eq!(empty, "There are no documents yet. Upload one first.");
        let team = collection(&ada, "Team").await;
        let path = format!("/documents/upload?collection_id={team}");
        let _ = ada.upload_to(&path, "Inside.pdf", pdf(&["zebras"])).await.expect(202);
        let outside = ada.add("Outside.pdf", pdf(&["zebras too", "and lions"])).await;
        app.run_jobs().await;
        let list = async |by: &Member, more: Value| {
            let mut body = question_body("Which documents are there?");
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            by.post("/agents/chat", body).await.expect(200).answer()
        };
        let all = list(&ada, json!({})).await;
        assert!(all.contains("- Inside.pdf (1 page)") && all.contains("- Outside.pdf (2 pages)"), "{all}");
        let seen = list(&bob, json!({})).await;
        assert!(!seen.contains("Inside") && seen.contains("- Outside.pdf (2 pages)"), "{seen}");
        let selected = list(&ada, json!({ "collection_ids": [team] })).await;
        assert!(selected.contains("Inside") && !selected.contains("Outside"), "{selected}");
        let selected = list(&ada, json!({ "document_ids": [outside] })).await;
        assert!(!selected.contains("Inside") && selected.contains("Outside"), "{selected}");
        let none = list(&bob, json!({ "document_ids": ["00000000-0000-0000-0000-000000000000"] })).await;
        assert!(none.ends_with("- None of the selected documents is ready."), "{none}");

        // An answer names the documents that were not searched, if the account can read them.
        let _ = ada.upload_to(&path, "Blank.pdf", pdf(&[""])).await.expect(202);
        app.run_jobs().await;
        let blank = "Not searched, because they could not be read: “Blank.pdf”.";
        assert!(list(&ada, json!({})).await.ends_with(blank));
        let declined = ada.ask("Who sells tractors?").await.expect(200).answer();
        assert!(declined.starts_with("I found no passage") && declined.ends_with(blank), "{declined}");
        let declined = bob.ask("Who sells tractors?").await.expect(200).answer();
        assert!(declined.starts_with("I found no passage") && !declined.contains("Blank"), "{declined}");
    }

    /// Earlier answers, in conversations and in resumed streams, quote a document only as long as the account can read it.
    // Invariant: Earlier answers quote only documents that the account can still read.
    async fn quotes_are_withheld_from_accounts_without_a_role(setup) {
        let answer = [Turn::searching("zebras"), Turn::saying("In Africa.")];
        let app = setup.script(answer).start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let team = collection(&ada, "Team").await;
        share(&ada, &team, &bob, "viewer").await;
        let path = format!("/documents/upload?collection_id={team}");
        let hers = id(&ada.upload_to(&path, "a.pdf", pdf(&["zebras of ada"])).await.expect(202).json());
        let his = bob.add("b.pdf", pdf(&["zebras of bob"])).await;
        app.run_jobs().await;
        let mut question = question_body("Where are the zebras?");
        question["conversation_id"] = json!("01900000-0000-7000-8000-000000000001");
        question["include_sources"] = json!(true);
        question["resumable"] = json!(true);
        let asked = bob.post("/agents/chat", question).await.expect(200);
        let stream = format!("/agents/chat/streams/{}", asked.header("x-stream-id"));
        // The title, the text and the availability of the sources, first of ada's document.
        let quotes = |sources: &Value| -> Vec<Value> {
            let mut found: Vec<Value> = sources.as_array().unwrap().clone();
            found.sort_by_key(|source| source["document_id"] != json!(hers));
            found.iter().map(|source| json!([source["title"], source["text"], source.get("available")])).collect()
        };
        let earlier = async || {
            let conversation = bob.get("/conversations/01900000-0000-7000-8000-000000000001").await.expect(200).json();
            assert_eq!(conversation["messages"][1]["content"], "In Africa.");
            let resumed = bob.get(&stream).await.expect(200);
            assert_eq!(resumed.answer(), "In Africa.");
            let resumed = quotes(&resumed.event("sources").unwrap()["results"]);
            assert_eq!(quotes(&conversation["messages"][1]["sources"]), resumed);
            resumed
        };
        let (of_ada, of_bob) = (json!(["a.pdf", "zebras of ada", null]), json!(["b.pdf", "zebras of bob", null]));
        let gone = |title: &str| json!([title, "", false]);
        assert_eq!(quotes(&asked.event("sources").unwrap()["results"]), [of_ada.clone(), of_bob.clone()]);
        assert_eq!(earlier().await, [of_ada.clone(), of_bob.clone()]);
        let _ = ada.delete(&format!("/collections/{team}/members/{}", bob.user.id)).await.expect(204);
        assert_eq!(earlier().await, [gone("a.pdf"), of_bob]);
        let _ = bob.delete(&format!("/documents/{his}")).await.expect(204);
        assert_eq!(earlier().await, [gone("a.pdf"), gone("b.pdf")]);
        share(&ada, &team, &bob, "viewer").await;
        assert_eq!(earlier().await, [of_ada, gone("b.pdf")]);
        app.leave_jobs();
    }
}
