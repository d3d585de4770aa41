//! The tool `search_docs` and the agent loop.

use docent_domain::chat::Message;
use docent_domain::fault::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::pdf::pdf;
use docent_tests::rules;

/// Returns the tool results that the model's `n`th call received, in order.
fn tool_results(app: &TestApp, n: usize) -> Vec<String> {
    let request = &app.model.requests()[n];
    let outputs = request.messages.iter().filter_map(|message| match message {
        Message::Tool(output) => Some(format!("{}: {}", output.call_id, output.content)),
        Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
    });
    outputs.collect()
}

rules! {
    async fn model_receives_one_tool(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let _ = app.ada().await.ask("q").await.expect(200);
        let requests = app.model.requests();
        let [tool] = requests[0].tools.as_slice() else { panic!("{:?}", requests[0].tools) };
        assert_eq!(tool.name, "search_docs");
        assert_eq!(tool.description, "Search uploaded documents for information relevant to the query.");
        let schema: serde_json::Value = serde_json::from_str(tool.parameters).unwrap();
        assert_eq!(schema["required"], serde_json::json!(["query"]));
        assert_eq!(schema["properties"]["query"]["type"], "string");
    }

    async fn answer_without_a_tool_call_does_not_search(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let _ = app.ada().await.ask("q").await.expect(200);
        assert_eq!((app.faults.index.calls(), app.faults.embedder.calls()), (0, 0));
    }

    async fn tool_result_is_appended_before_the_next_model_call(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        assert_eq!(ada.ask("q").await.expect(200).answer(), "done");
        assert_eq!(app.model.requests().len(), 2);
        assert_eq!(tool_results(&app, 1), ["call-1: The zebra lives in Africa."]);
        let messages = &app.model.requests()[1].messages;
        assert!(matches!(&messages[1], Message::Assistant { tool_calls, .. } if tool_calls[0].name == "search_docs"));
    }

    async fn tool_returns_the_five_best_chunks_joined_by_a_blank_line(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        for n in 0..7 {
            ada.add(&format!("{n}.pdf"), pdf(&[&format!("The zebra number {n} lives here.")])).await;
        }
        app.run_jobs().await;
        let _ = ada.ask("q").await.expect(200);
        let result = tool_results(&app, 1)[0].clone();
        let chunks: Vec<_> = result.strip_prefix("call-1: ").unwrap().split("\n\n").collect();
        assert_eq!(chunks.len(), 5, "{result}");
        assert!(chunks.iter().all(|chunk| chunk.starts_with("The zebra number ")));
    }

    async fn search_without_chunks_returns_no_relevant_documents_found(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        assert_eq!(app.ada().await.ask("q").await.expect(200).answer(), "done");
        assert_eq!(tool_results(&app, 1), ["call-1: No relevant documents found."]);
    }

    async fn retrieval_error_is_returned_to_the_model(setup) {
        let turns = (0..2).flat_map(|_| [Turn::searching("zebra"), Turn::saying("done")]);
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        assert_eq!(ada.ask("q").await.expect(200).answer(), "done");
        assert_eq!(tool_results(&app, 1), ["call-1: Error searching documents: the vector store cannot be reached"]);
        app.faults.embedder.fail_next(1, FaultKind::Timeout);
        assert_eq!(ada.ask("q").await.expect(200).answer(), "done");
        assert_eq!(tool_results(&app, 3), ["call-1: Error searching documents: the embedding back end did not answer in time"]);
    }

    async fn several_tool_calls_in_one_turn_are_answered_in_order(setup) {
        let both = Turn::new()
            .tool_call("a", "search_docs", r#"{"query":"zebra"}"#)
            .tool_call("b", "search_docs", r#"{"query":"unicorn"}"#)
            .stop();
        let app = setup.script([both, Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives."])).await;
        app.run_jobs().await;
        let _ = ada.ask("q").await.expect(200);
        assert_eq!(tool_results(&app, 1), ["a: The zebra lives.", "b: No relevant documents found."]);
    }

    async fn invalid_arguments_and_unknown_tools_are_reported_to_the_model(setup) {
        let broken = Turn::new()
            .tool_call("a", "search_docs", "{\"query\":")
            .tool_call("b", "search_docs", "{\"limit\":7}")
            .tool_call("c", "search_docs", "[]")
            .tool_call("d", "delete_docs", "{}")
            .stop();
        let app = setup.script([broken, Turn::saying("done")]).start().await;
        assert_eq!(app.ada().await.ask("q").await.expect(200).answer(), "done");
        let results = tool_results(&app, 1);
        assert!(results[0].starts_with("a: Error: the arguments are not valid JSON"), "{results:?}");
        assert_eq!(results[1], "b: Error: search_docs needs a string argument \"query\".");
        assert_eq!(results[2], "c: Error: the arguments must be a JSON object.");
        assert_eq!(results[3], "d: Error: there is no tool named \"delete_docs\". Tools: search_docs.");
    }

    async fn loop_stops_after_ten_model_calls(setup) {
        let turn = Turn::new().text("again ").tool_call("a", "search_docs", r#"{"query":"x"}"#).stop();
        let app = setup.always(turn).start().await;
        let reply = app.ada().await.ask("q").await.expect(200);
        assert_eq!(reply.tokens(), ["again "; 10], "text before tool calls is streamed");
        assert_eq!(app.model.requests().len(), 10);
    }
}
