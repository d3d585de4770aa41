//! Tools.

use docent_domain::chat::Message;
use docent_ports::error::FaultKind;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::{app::TestApp, pdf::pdf, rules};

/// What the model was told by its tools before its `n`th call, in order.
fn told(app: &TestApp, n: usize) -> Vec<String> {
    let request = &app.model.requests()[n];
    let outputs = request.messages.iter().filter_map(|message| match message {
        Message::Tool(output) => Some(format!("{}: {}", output.call_id, output.content)),
        Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
    });
    outputs.collect()
}

rules! {
    async fn the_model_gets_one_tool(setup) {
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

    async fn without_a_tool_call_nothing_is_searched(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let _ = app.ada().await.ask("q").await.expect(200);
        assert_eq!((app.faults.index.calls(), app.faults.embedder.calls()), (0, 0));
    }

    async fn the_tool_s_result_is_appended_and_the_model_called_again(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        assert_eq!(ada.ask("q").await.expect(200).answer(), "done");
        assert_eq!(app.model.requests().len(), 2);
        assert_eq!(told(&app, 1), ["call-1: The zebra lives in Africa."]);
        let messages = &app.model.requests()[1].messages;
        assert!(matches!(&messages[1], Message::Assistant { tool_calls, .. } if tool_calls[0].name == "search_docs"));
    }

    async fn the_five_best_chunks_are_joined_by_a_blank_line(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        for n in 0..7 {
            ada.add(&format!("{n}.pdf"), pdf(&[&format!("The zebra number {n} lives here.")])).await;
        }
        app.run_jobs().await;
        let _ = ada.ask("q").await.expect(200);
        let told = told(&app, 1)[0].clone();
        let chunks: Vec<_> = told.strip_prefix("call-1: ").unwrap().split("\n\n").collect();
        assert_eq!(chunks.len(), 5, "{told}");
        assert!(chunks.iter().all(|chunk| chunk.starts_with("The zebra number ")));
    }

    async fn no_chunks_is_no_relevant_documents_found(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("done")]).start().await;
        assert_eq!(app.ada().await.ask("q").await.expect(200).answer(), "done");
        assert_eq!(told(&app, 1), ["call-1: No relevant documents found."]);
    }

    async fn a_retrieval_error_is_told_to_the_model(setup) {
        let turns = (0..2).flat_map(|_| [Turn::searching("zebra"), Turn::saying("done")]);
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        app.faults.index.fail_next(1, FaultKind::Unavailable);
        assert_eq!(ada.ask("q").await.expect(200).answer(), "done");
        assert_eq!(told(&app, 1), ["call-1: Error searching documents: the vector store cannot be reached"]);
        app.faults.embedder.fail_next(1, FaultKind::Timeout);
        assert_eq!(ada.ask("q").await.expect(200).answer(), "done");
        assert_eq!(told(&app, 3), ["call-1: Error searching documents: the embedding back end did not answer in time"]);
    }

    async fn several_calls_in_one_turn_are_answered_in_order(setup) {
        let both = Turn::new()
            .tool_call("a", "search_docs", r#"{"query":"zebra"}"#)
            .tool_call("b", "search_docs", r#"{"query":"unicorn"}"#)
            .stop();
        let app = setup.script([both, Turn::saying("done")]).start().await;
        let ada = app.ada().await;
        ada.add("a.pdf", pdf(&["The zebra lives."])).await;
        app.run_jobs().await;
        let _ = ada.ask("q").await.expect(200);
        assert_eq!(told(&app, 1), ["a: The zebra lives.", "b: No relevant documents found."]);
    }

    async fn broken_arguments_and_unknown_tools_are_told_to_the_model(setup) {
        let broken = Turn::new()
            .tool_call("a", "search_docs", "{\"query\":")
            .tool_call("b", "search_docs", "{\"q\":\"x\"}")
            .tool_call("c", "search_docs", "[]")
            .tool_call("d", "delete_docs", "{}")
            .stop();
        let app = setup.script([broken, Turn::saying("done")]).start().await;
        assert_eq!(app.ada().await.ask("q").await.expect(200).answer(), "done");
        let told = told(&app, 1);
        assert!(told[0].starts_with("a: Error: the arguments are not valid JSON"), "{told:?}");
        assert_eq!(told[1], "b: Error: search_docs needs a string argument \"query\".");
        assert_eq!(told[2], "c: Error: the arguments must be a JSON object.");
        assert_eq!(told[3], "d: Error: there is no tool named \"delete_docs\". Tools: search_docs.");
    }

    async fn the_loop_ends_at_ten_calls(setup) {
        let turn = Turn::new().text("again ").tool_call("a", "search_docs", r#"{"query":"x"}"#).stop();
        let app = setup.always(turn).start().await;
        let reply = app.ada().await.ask("q").await.expect(200);
        assert_eq!(reply.tokens(), ["again "; 10], "what was said on the way is streamed");
        assert_eq!(app.model.requests().len(), 10);
    }
}
