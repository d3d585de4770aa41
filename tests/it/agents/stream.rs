//! The event stream of an answer.

use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::question_body;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

rules! {
    // Invariant: A stream that is not resumable is byte for byte what the contract says.
    async fn tokens_are_framed_exactly_as_the_contract_says(setup) {
        let turn = Turn::new().text("Hel").text("lo \"w\"\n").text("é\u{2028}日").stop();
        let app = setup.script([turn]).start().await;
        let ada = app.ada().await;
        let reply = ada.ask("q").await.expect(200);
        assert_eq!(reply.text, "data: \"Hel\"\n\ndata: \"lo \\\"w\\\"\\n\"\n\ndata: \"é\u{2028}日\"\n\n");
        assert_eq!(reply.answer(), "Hello \"w\"\né\u{2028}日");
        assert_eq!(reply.header("content-type"), "text/event-stream");
        assert_eq!(reply.header("cache-control"), "no-store");
        assert_eq!(reply.header("x-accel-buffering"), "no");
    }

    async fn tokens_are_sent_as_they_arrive(setup) {
        let app = setup.script([Turn::new().text("one").text("two").stall()]).start().await;
        let ada = app.ada().await;
        let mut response = ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
        let mut seen = String::new();
        while seen != "data: \"one\"\n\ndata: \"two\"\n\n" {
            seen.push_str(str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap());
        }
    }

    async fn idle_stream_sends_pings(setup) {
        let app = setup.script([Turn::new().text("one").stall()]).start().await;
        let ada = app.ada().await;
        let mut response = ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
        assert_eq!(response.chunk().await.unwrap().unwrap(), "data: \"one\"\n\n");
        let chunk = response.chunk();
        tokio::pin!(chunk);
        let mut ping = None;
        wait::until("a ping", async || {
            app.advance(Duration::from_secs(15));
            if let std::task::Poll::Ready(chunk) = futures::poll!(&mut chunk) { ping = chunk.unwrap(); }
            ping.is_some()
        }).await;
        let ping = String::from_utf8(ping.unwrap().to_vec()).unwrap();
        assert!(ping.split_inclusive("\n\n").all(|comment| comment == ": ping\n\n"), "{ping}");
    }

    async fn disconnect_stops_the_model(setup) {
        let app = setup.script([Turn::new().text("one").stall()]).start().await;
        let ada = app.ada().await;
        let mut response = ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send().await.unwrap();
        let _ = response.chunk().await.unwrap().unwrap();
        assert_eq!(app.model.cut_short(), 0);
        drop(response);
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
    }

    async fn disconnect_before_the_first_token_stops_the_model(setup) {
        let app = setup.script([Turn::new().stall()]).start().await;
        let ada = app.ada().await;
        let request = tokio::spawn(ada.request(Method::POST, "/agents/chat").json(&question_body("q")).send());
        wait::until("the model is asked", async || app.model.requests().len() == 1).await;
        request.abort();
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
    }

    async fn requested_sources_are_the_last_event(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        let id = ada.add("Animals.pdf", pdf(&["On the first page is nothing.", "The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let mut body = question_body("Where does the zebra live?");
        body["include_sources"] = json!(true);
        let reply = ada.post("/agents/chat", body).await.expect(200);
        let results = reply.event("sources").unwrap()["results"].clone();
        let source = &results[0];
        assert_eq!(source["document_id"], id);
        assert_eq!(source["title"], "Animals.pdf");
        assert_eq!((&source["page_start"], &source["page_end"]), (&json!(1), &json!(2)));
        assert!(source["text"].as_str().unwrap().contains("The zebra lives in Africa."));
        assert!(source["score"].as_f64().unwrap() > 0.0);
        assert_eq!(source["chunk_id"].as_str().unwrap().len(), 36);
        assert_eq!(source.as_object().unwrap().len(), 7);
        assert!(reply.text.starts_with("data: \"In \"\n\ndata: \"Africa.\"\n\nevent: sources\ndata: {\"results\":["));
        assert!(reply.text.ends_with("]}\n\n"));
    }

    async fn sources_without_a_search_are_empty(setup) {
        let app = setup.script([Turn::saying("Hi")]).start().await;
        let ada = app.ada().await;
        let mut body = question_body("q");
        body["include_sources"] = json!(true);
        let reply = ada.post("/agents/chat", body).await.expect(200);
        assert_eq!(reply.text, "data: \"Hi\"\n\nevent: sources\ndata: {\"results\":[]}\n\n");
    }

    async fn sources_are_sent_only_on_request(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        ada.add("Animals.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let reply = ada.ask("Where does the zebra live?").await.expect(200);
        assert_eq!(reply.text, "data: \"In \"\n\ndata: \"Africa.\"\n\n");
    }

    async fn question_back_has_its_choices_as_metadata(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        for (title, text) in [("Report.pdf", "The pump works."), ("Report 2018.pdf", "The valve works.")] {
            ada.add(title, pdf(&[text])).await;
        }
        app.run_jobs().await;
        let ask = async |messages: Value| {
            let body = json!({ "messages": messages, "include_metadata": true });
            ada.post("/agents/chat", body).await.expect(200)
        };
        let about = json!({ "role": "user", "content": "What is the document about?" });
        let reply = ask(json!([about])).await;
        let mut choices = reply.event("metadata").unwrap()["choices"].clone();
        choices.as_array_mut().unwrap().sort_by_key(ToString::to_string);
        assert_eq!(choices, json!(["Report 2018.pdf", "Report.pdf"]), "{}", reply.text);
        // The title of one is the beginning of the other.
        for (choice, other) in [("Report.pdf", "Report 2018.pdf"), ("Report 2018.pdf", "Report.pdf")] {
            let chosen = json!([about, { "role": "assistant", "content": reply.answer() }, { "role": "user", "content": choice }]);
            let answer = ask(chosen).await.answer();
            assert!(answer.contains(choice) && !answer.contains(other), "{choice}: {answer}");
        }
        let plain = ada.post("/agents/chat", json!({ "messages": [about] })).await.expect(200);
        assert!(plain.event("metadata").is_none(), "{}", plain.text);
    }

    async fn builtin_answerer_quotes_the_document(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        ada.add("Animals.pdf", pdf(&["Nothing of interest is said here.", "The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let answer = ada.ask("Where does the zebra live?").await.expect(200).answer();
        assert!(answer.contains("The zebra lives in Africa"), "{answer}");
        assert!(answer.contains("Animals"), "{answer}");
    }
}
