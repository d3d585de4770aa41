//! Functions of the client in `POST /v1/chat/completions`.

use super::{chunks, offered_names, refused};
use docent_domain::chat::Message;
use docent_domain::fault::{FaultCause, FaultKind};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::Member;
use docent_tests::rules;
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

fn function(name: &str) -> Value {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    json!({ "type": "function", "function": { "name": name, "description": "The weather.", "parameters": parameters, "strict": true } })
}

fn body(messages: impl Into<Value>) -> Value {
    json!({ "model": "chat", "messages": messages.into(), "tools": [function("weather")] })
}

fn question() -> Value {
    json!({ "role": "user", "content": "Weather in Rome?" })
}

async fn choice(by: &Member, body: Value) -> Value {
    by.post(PATH, body).await.expect(200).json()["choices"][0].take()
}

rules! {
    async fn function_of_the_client_ends_the_answer_and_its_output_continues_it(setup) {
        let call = || Turn::new().tool_call("call-7", "weather", r#"{"city":"Rome"}"#).stop();
        let app = setup.script([call(), Turn::saying("It rains."), call(), Turn::saying("It rains.")]).start().await;
        let ada = app.ada().await;
        let called = choice(&ada, body([question()])).await;
        let calls = json!([{ "id": "call-7", "type": "function", "function": { "name": "weather", "arguments": r#"{"city":"Rome"}"# } }]);
        let message = json!({ "role": "assistant", "content": null, "refusal": null, "annotations": [], "tool_calls": calls });
        assert_eq!((&called["finish_reason"], &called["message"]), (&json!("tool_calls"), &message));
        let offered = &app.model.requests()[0];
        assert_eq!(offered_names(offered), ["search_docs", "weather"]);
        if let Some(function) = offered.functions.first() {
            assert_eq!(function.description, "The weather.");
            assert!(function.parameters.contains("city"), "{}", function.parameters);
        }
        // As clients send it back, with all that they received.
        let output = json!({ "role": "tool", "tool_call_id": "call-7", "content": "Rain." });
        let continued = body([question(), message, output]);
        let answer = choice(&ada, continued.clone()).await;
        assert_eq!((&answer["message"]["content"], &answer["finish_reason"]), (&json!("It rains."), &json!("stop")));
        assert!(answer["message"].get("tool_calls").is_none(), "{answer}");
        let sent = app.model.requests()[1].messages.clone();
        let [Message::User(_), Message::Assistant { content, tool_calls }, Message::Tool(output)] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!((content.as_str(), tool_calls[0].id.as_str(), output.content.as_str()), ("", "call-7", "Rain."));
        let mut streamed = body([question()]);
        streamed["stream"] = json!(true);
        let parts = chunks(&ada.post(PATH, streamed).await.expect(200));
        let delta = |n: usize| &parts[n]["choices"][0]["delta"];
        let mut first_call = calls[0].clone();
        first_call["index"] = json!(0);
        assert_eq!(delta(1), &json!({ "tool_calls": [first_call] }));
        assert_eq!((&parts[2]["choices"][0]["finish_reason"], &parts[3], parts.len()), (&json!("tool_calls"), &json!("[DONE]"), 4));
        let mut streamed = continued;
        streamed["stream"] = json!(true);
        let parts = chunks(&ada.post(PATH, streamed).await.expect(200));
        assert_eq!(parts[parts.len() - 2]["choices"][0]["finish_reason"], "stop");
    }

    async fn tools_of_the_agent_run_before_functions_and_sources_follow_with_the_answer(setup) {
        let both = Turn::new().tool_call("a", "search_docs", r#"{"query":"rome"}"#).tool_call("b", "weather", "{}").stop();
        let two = Turn::new().text("Let me see.").tool_call("c", "weather", "{}").tool_call("d", "weather", "{}").stop();
        let app = setup.script([both, two.clone(), two.clone(), two, Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let ids = |choice: &Value| -> Vec<String> {
            let calls = choice["message"]["tool_calls"].as_array().unwrap().iter();
            calls.map(|call| call["id"].as_str().unwrap().to_owned()).collect()
        };
        let called = choice(&ada, body([question()])).await;
        assert_eq!((ids(&called), &called["message"]["content"]), (vec!["c".to_owned(), "d".to_owned()], &json!("Let me see.")));
        let mut single = body([question()]);
        single["parallel_tool_calls"] = json!(false);
        assert_eq!(ids(&choice(&ada, single.clone()).await), ["c"]);
        single["stream"] = json!(true);
        let parts = chunks(&ada.post(PATH, single.clone()).await.expect(200));
        let called: usize = parts.iter().filter_map(|part| part["choices"][0]["delta"]["tool_calls"].as_array()).map(Vec::len).sum();
        assert_eq!(called, 1);
        // With `none`, the model receives no functions.
        single["tool_choice"] = json!("none");
        let _ = ada.post(PATH, single).await.expect(200);
        assert!(!offered_names(app.model.requests().last().unwrap()).contains(&"weather"));
    }

    async fn wrong_functions_and_outputs_are_refused(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let with_tools = |tools: Value| { let mut body = body([question()]); body["tools"] = tools; body };
        let call = json!({ "id": "a", "type": "function", "function": { "name": "weather", "arguments": "{}" } });
        let called = json!({ "role": "assistant", "content": "", "tool_calls": [call] });
        let mut custom = called.clone();
        custom["tool_calls"][0]["type"] = json!("custom");
        let output = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
        for (wrong, param, reason) in [
            (with_tools(json!([{ "type": "web_search" }])), "tools[0].type", "\"web_search\" is not supported"),
            (with_tools(json!([{ "type": "function" }])), "tools[0].function", "is required"),
            (with_tools(json!([{ "type": "function", "function": {} }])), "tools[0].function.name", "is required"),
            (with_tools(json!([function("a b")])), "tools[0].function.name", "letters, digits"),
            (with_tools(json!([function("search_docs")])), "tools", "the agent has a tool of this name"),
            (with_tools(json!([function("a"), function("a")])), "tools", "two functions named \"a\""),
            (with_tools((0..129).map(|n| function(&format!("f{n}"))).collect()), "tools", "at most 128"),
            (body([question(), called.clone()]), "messages", "has no output for the function call \"a\""),
            (body([question(), called.clone(), question()]), "messages", "has no output for the function call \"a\""),
            (body([question(), called, output("b")]), "messages", "has no call for the function output \"b\""),
            (body([output("a"), question()]), "messages", "has no call for the function output \"a\""),
            (body([question(), custom, output("a")]), "messages[1].tool_calls[0].type", "\"custom\" is not supported"),
            (body([json!({ "role": "tool", "content": "x" }), question()]), "messages[0].tool_call_id", "is required"),
        ] {
            let message = refused(&ada.post(PATH, wrong.clone()).await, 400, Some(param), None);
            assert!(message.contains(reason), "{wrong}: {message}");
        }
        assert!(app.model.requests().is_empty());
    }

    async fn functions_are_refused_where_no_tools_are_supported(setup) {
        let refused_tools = Turn::refused_because(FaultKind::Rejected, FaultCause::ToolsUnsupported);
        let app = setup.script([refused_tools, Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let mut plain = body([question()]);
        plain["tools"] = json!([]);
        let _ = ada.post(PATH, plain).await.expect(200);
        let message = refused(&ada.post(PATH, body([question()])).await, 400, Some("tools"), None);
        assert!(message.contains("`weather`") && message.contains("does not support tools"), "{message}");
    }

    async fn builtin_answerer_calls_no_functions(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        let answer = choice(&ada, body([question()])).await;
        assert_eq!(answer["finish_reason"], "stop");
        assert!(answer["message"]["content"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
}
