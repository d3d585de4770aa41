//! `GET /documents/{doc_id}/summary`, and questions about a whole document.

use docent_domain::fault::FaultKind;
use docent_domain::file_type::FileTypes;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, form, question_body};
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::{Value, json};

const PAGES: [&str; 3] = [
    "This manual describes the pump P9, which moves clean water in houses and gardens.",
    "The motor of the pump needs service once a year in a workshop of the maker.",
    "Storage in winter: the pump must be emptied, because frost destroys the housing.",
];

const REPORT: &[u8] = b"# Sales of pumps in the south

The sales of pumps in the south rose because the winter was mild and many towns placed orders.

# Balance sheet at the end of the year

The balance sheet at the end of the year shows what the company has and owes.

| (in thousands) | 2018 | 2017 |
|---|---|---|
| Cash in banks | 312 | 290 |
| Total current assets | 941 | 877 |
| Total current liabilities | 410 | 395 |
";

rules! {
    async fn summary_has_sentences_with_pages(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        let id = ada.add("pump.pdf", pdf(&PAGES)).await;
        app.run_jobs().await;
        let summary = ada.get(&format!("/documents/{id}/summary")).await.expect(200).json();
        assert_eq!((&summary["document_id"], &summary["title"]), (&Value::from(id.clone()), &"pump.pdf".into()));
        assert_eq!((&summary["version"], &summary["description"]["page"]), (&1.into(), &1.into()));
        assert_eq!(summary["description"]["text"], PAGES[0]);
        let points: Vec<_> = summary["points"].as_array().unwrap().iter().map(|it| (&it["text"], &it["page"])).collect();
        assert_eq!(points, [(&PAGES[1].into(), &2.into()), (&PAGES[2].into(), &3.into())]);
        assert_eq!((&summary["model"], &summary["fallback"]), (&Value::Null, &Value::Null));
        app.advance(std::time::Duration::from_secs(60));
        assert_eq!(ada.get(&format!("/documents/{id}/summary")).await.expect(200).json(), summary);
    }

    async fn document_that_is_not_ingested_has_no_summary(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        let id = ada.add("pump.pdf", pdf(&PAGES)).await;
        let reply = ada.get(&format!("/documents/{id}/summary")).await.expect(404).json();
        assert_eq!(reply["detail"], "This document has no summary: it is not ingested");
        app.run_jobs().await;
        let _ = ada.get(&format!("/documents/{id}/summary")).await.expect(200);
        let _ = ada.delete(&format!("/documents/{id}")).await.expect(204);
        let reply = ada.get(&format!("/documents/{id}/summary")).await.expect(404).json();
        assert_eq!(reply["detail"], "Document not found");
        app.run_jobs().await;
        ada.get("/documents/1/summary").await.invalid(&["path.doc_id"]);
    }

    async fn summary_of_an_unreadable_document_is_not_found(setup) {
        let app = setup.builtin_answerer().start().await;
        let (ada, grace) = (app.ada().await, app.member("grace@example.org").await);
        let collection = ada.post("/collections", json!({ "name": "Legal" })).await.expect(201).json();
        let path = format!("/documents/upload?collection_id={}", collection["id"].as_str().unwrap());
        let document = ada.upload_to(&path, "pump.pdf", pdf(&PAGES)).await.expect(202).json();
        app.run_jobs().await;
        let path = format!("/documents/{}/summary", document["id"].as_str().unwrap());
        let _ = ada.get(&path).await.expect(200);
        let reply = grace.get(&path).await.expect(404).json();
        assert_eq!(reply["detail"], "Document not found");
    }

    async fn model_writes_the_summary_and_its_faults_are_named(setup) {
        let written = "Description: A manual [1].\n- The motor of the pump needs service [1].\n";
        let app = setup.script([Turn::refused(FaultKind::Unavailable), Turn::saying(written)]).start().await;
        let ada = app.ada().await;
        let id = ada.add("pump.pdf", pdf(&PAGES)).await;
        app.run_jobs().await;
        let path = format!("/documents/{id}/summary");
        let summary = ada.get(&path).await.expect(200).json();
        assert_eq!((&summary["model"], &summary["fallback"]), (&Value::Null, &"model_failed".into()));
        assert_eq!(summary["points"].as_array().unwrap().len(), 2);
        app.advance(std::time::Duration::from_secs(15 * 60));
        // The access token has expired too.
        let ada = Member::login(&app, ada.user.clone()).await;
        let summary = ada.get(&path).await.expect(200).json();
        assert_eq!(summary["points"][0]["text"], "The motor of the pump needs service.");
        assert_eq!((&summary["points"][0]["page"], &summary["fallback"]), (&2.into(), &Value::Null));
        assert!(summary["model"].is_string(), "{summary}");
    }

    async fn summary_without_model_does_not_call_it(setup) {
        let written = "Description: A manual [1].\n- The motor of the pump needs service [1].\n";
        let app = setup.script([Turn::saying(written)]).start().await;
        let ada = app.ada().await;
        let id = ada.add("pump.pdf", pdf(&PAGES)).await;
        app.run_jobs().await;
        let (path, without_model) = (format!("/documents/{id}/summary"), format!("/documents/{id}/summary?model=false"));
        let summary = ada.get(&without_model).await.expect(200).json();
        assert_eq!((&summary["model"], &summary["fallback"]), (&Value::Null, &Value::Null));
        assert_eq!(summary["points"][0]["text"], PAGES[1]);
        assert!(app.model.requests().is_empty());
        // The model writes a better one when it is asked for, which both then return.
        let written = ada.get(&path).await.expect(200).json();
        assert!(written["model"].is_string(), "{written}");
        assert_eq!(ada.get(&without_model).await.expect(200).json(), written);
        assert_eq!(ada.get(&format!("{path}?model=true")).await.expect(200).json(), written);
        ada.get(&format!("{path}?model=maybe")).await.invalid(&["query.model"]);
    }

    async fn question_about_a_whole_document_is_answered_from_its_summary(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        let pump = ada.add("Pump manual.pdf", pdf(&PAGES)).await;
        app.run_jobs().await;
        let mut body = question_body("What is this document about?");
        body["include_sources"] = true.into();
        let reply = ada.post("/agents/chat", body).await.expect(200);
        let answer = reply.answer();
        assert!(answer.starts_with("**Pump manual.pdf (3 pages)**\n\n“This manual describes the pump P9"), "{answer}");
        assert!(answer.contains("needs service once a year in a workshop of the maker.” (Pump manual.pdf, page 2)"), "{answer}");
        let sources = reply.event("sources").unwrap()["results"].clone();
        let sources = sources.as_array().unwrap();
        assert!(!sources.is_empty() && sources.iter().all(|source| source["document_id"] == pump.as_str()), "{sources:?}");

        app.advance(std::time::Duration::from_secs(1));
        ada.add("Valves.pdf", pdf(&["Valves stop the water in a pipe when it is not needed at all."])).await;
        app.run_jobs().await;
        let answer = ada.ask("Summarise the document").await.expect(200).answer();
        assert_eq!(answer, "Which document do you mean?\n\n- Valves.pdf (1 page)\n- Pump manual.pdf (3 pages)");
        let answer = ada.ask("Worum geht es in Valves?").await.expect(200).answer();
        assert!(answer.contains("“Valves stop the water in a pipe") && !answer.contains("Pump"), "{answer}");
        let answer = ada.ask("Summarise the service of the motor").await.expect(200).answer();
        assert!(answer.contains("The motor of the pump needs service once a year"), "{answer}");
        let mut body = question_body("What is in the file?");
        body["document_ids"] = json!([pump]);
        let answer = ada.post("/agents/chat", body).await.expect(200).answer();
        assert!(answer.starts_with("**Pump manual.pdf (3 pages)**"), "{answer}");
    }

    async fn suggested_questions_have_answers(setup) {
        let types = FileTypes::parse("md").unwrap();
        let app = setup.builtin_answerer().settings(|settings| settings.upload_types = types).start().await;
        let ada = app.ada().await;
        let document = ada.post_form("/documents/upload", form("report.md", "text/markdown", REPORT.to_vec())).await;
        let id = document.expect(202).json()["id"].as_str().unwrap().to_owned();
        app.run_jobs().await;
        let summary = ada.get(&format!("/documents/{id}/summary")).await.expect(200).json();
        let questions: Vec<&str> =
            summary["questions"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect();
        assert!(questions.contains(&"How much is “Total current assets” in 2018?"), "{questions:?}");
        for question in questions {
            let mut body = question_body(question);
            body["document_ids"] = json!([id]);
            let answer = ada.post("/agents/chat", body).await.expect(200).answer();
            assert!(answer.contains("(report.md, page") && !answer.starts_with("I found no"), "{question}: {answer}");
        }
        let answer = ada.ask("How much is “Total current assets” in 2018?").await.expect(200).answer();
        assert!(answer.contains("| Total current assets | **941** |"), "{answer}");
    }
}
