//! Functions of the client.

use super::{PATH, body, events, function, names, respond, searching, store};
use crate::openai::{offered_names, refused};
use docent_domain::chat::Message;
use docent_domain::fault::{FaultCause, FaultKind};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn function_of_the_client_ends_the_response_and_its_output_continues_it(setup) {
        let call = || Turn::new().text("Let me see. ").tool_call("call-7", "weather", r#"{"city":"Rome"}"#).stop();
        let app = setup.script([call(), Turn::saying("It rains."), call(), Turn::saying("It rains.")]).start().await;
        let ada = app.ada().await;
        let mut first = body("Weather in Rome?");
        first["tools"] = json!([function("weather")]);
        let response = respond(&ada, first.clone()).await;
        let [message, called] = response["output"].as_array().unwrap().as_slice() else { panic!("{response}") };
        assert_eq!(message["content"][0]["text"], "Let me see. ");
        assert_eq!((&called["type"], &called["name"], &called["call_id"]), (&json!("function_call"), &json!("weather"), &json!("call-7")));
        assert_eq!((&called["arguments"], &response["status"]), (&json!(r#"{"city":"Rome"}"#), &json!("completed")));
        let offered = &app.model.requests()[0];
        assert_eq!(offered_names(offered), ["search_docs", "weather"]);
        let output = json!({ "type": "function_call_output", "call_id": "call-7", "output": "Rain." });
        let chained = json!({ "model": "chat", "input": [output], "previous_response_id": response["id"], "tools": [function("weather")] });
        let answer = respond(&ada, chained.clone()).await;
        assert_eq!(answer["output"][0]["content"][0]["text"], "It rains.");
        let sent = app.model.requests()[1].messages.clone();
        let [Message::User(_), Message::Assistant { content, tool_calls }, Message::Tool(output)] = sent.as_slice() else { panic!("{sent:?}") };
        assert_eq!((content.as_str(), tool_calls[0].id.as_str(), output.content.as_str()), ("Let me see. ", "call-7", "Rain."));
        // In a stream, and with all items sent by the client.
        first["stream"] = json!(true);
        let events = events(&ada.post(PATH, first).await.expect(200));
        let tail = &events[events.len() - 5..];
        assert_eq!(names(tail), [
            "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done", "completed",
        ]);
        let mut items = vec![json!({ "role": "user", "content": "Weather in Rome?" })];
        items.extend(tail[4]["response"]["output"].as_array().unwrap().clone());
        items.push(chained["input"][0].clone());
        let _ = respond(&ada, body(items)).await;
        assert_eq!(app.model.requests()[3].messages, sent);
    }

    async fn tools_of_the_agent_run_before_functions_that_are_called_with_them(setup) {
        let both = Turn::new().tool_call("a", "search_docs", r#"{"query":"rome"}"#).tool_call("b", "weather", "{}").stop();
        let two = Turn::new().tool_call("c", "weather", "{}").tool_call("d", "weather", "{}").stop();
        let app = setup.script([both, two.clone(), two]).start().await;
        let ada = app.ada().await;
        let mut body = body("Weather?");
        body["tools"] = json!([function("weather")]);
        let response = respond(&ada, body.clone()).await;
        let calls: Vec<_> = response["output"].as_array().unwrap().iter().map(|item| item["call_id"].as_str().unwrap()).collect();
        assert_eq!(calls, ["c", "d"]);
        body["parallel_tool_calls"] = json!(false);
        assert_eq!(respond(&ada, body.clone()).await["output"].as_array().unwrap().len(), 1);
        // With `none`, the model receives no functions.
        body["tool_choice"] = json!("none");
        let _ = ada.post(PATH, body).await;
        assert!(!offered_names(app.model.requests().last().unwrap()).contains(&"weather"));
    }

    /// The model and the citations of its answer need the passages that were found before the function was called.
    async fn search_before_a_function_of_the_client_is_repeated_for_the_answer(setup) {
        let turns = || [
            Turn::searching("zebras graze"),
            Turn::new().tool_call("c", "weather", "{}").stop(),
            Turn::saying("In the savanna (zebra.pdf, page 2), where it rains."),
        ];
        let app = setup.script(turns().into_iter().chain(turns()).chain([Turn::saying("Yes.")])).start().await;
        let ada = app.ada().await;
        let (store, [zebra, _]) = store(&app, &ada).await;
        let mut first = searching("Where do zebras graze, and how is the weather there?", &store);
        first["tools"].as_array_mut().unwrap().push(function("weather"));
        let tools = first["tools"].clone();
        let output = json!({ "type": "function_call_output", "call_id": "c", "output": "Rain." });
        for is_chained in [true, false] {
            let response = respond(&ada, first.clone()).await;
            let kinds: Vec<_> = response["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["file_search_call", "function_call"]);
            let mut items = Vec::new();
            if !is_chained {
                items.push(json!({ "role": "user", "content": first["input"] }));
                items.extend(response["output"].as_array().unwrap().iter().cloned());
            }
            items.push(output.clone());
            let mut next = json!({ "model": "chat", "input": items, "tools": tools });
            if is_chained {
                next["previous_response_id"] = response["id"].clone();
            }
            let answer = respond(&ada, next).await;
            let [search, message] = answer["output"].as_array().unwrap().as_slice() else { panic!("{answer}") };
            assert_eq!((&search["type"], &search["queries"]), (&json!("file_search_call"), &json!(["zebras graze"])));
            let cited = &message["content"][0]["annotations"];
            assert_eq!((&cited[0]["file_id"], &cited[0]["page"]), (&json!(zebra), &json!(2)), "{answer}");
            let sent = app.model.requests().pop().unwrap().messages;
            assert!(sent.iter().any(|message| matches!(message, Message::Tool(output) if output.content.contains("zebras graze"))), "{sent:?}");
            // A new question has searches of its own.
            if !is_chained {
                let mut question = searching("Thanks?", &store);
                question["previous_response_id"] = answer["id"].clone();
                let answer = respond(&ada, question).await;
                assert_eq!(answer["output"].as_array().unwrap().len(), 1, "{answer}");
            }
        }
    }

    async fn builtin_answerer_calls_no_functions(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        let (store, _) = store(&app, &ada).await;
        let mut body = searching("Where do zebras graze?", &store);
        body["tools"].as_array_mut().unwrap().push(function("weather"));
        let response = respond(&ada, body).await;
        let kinds: Vec<_> = response["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["file_search_call", "message"], "{response}");
        assert_ne!(response["output"][1]["content"][0]["annotations"], json!([]), "{response}");
    }

    async fn functions_are_refused_where_no_tools_are_supported(setup) {
        let refused_tools = Turn::refused_because(FaultKind::Rejected, FaultCause::ToolsUnsupported);
        let app = setup.script([refused_tools, Turn::saying("ok"), Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let _ = respond(&ada, body("Weather?")).await;
        let mut with_function = body("Weather?");
        with_function["tools"] = json!([function("weather")]);
        let message = refused(&ada.post(PATH, with_function.clone()).await, 400, Some("tools"), None);
        assert!(message.contains("`weather`") && message.contains("does not support tools"), "{message}");
        // Functions that are not to be called need no support.
        with_function["tool_choice"] = json!("none");
        let _ = respond(&ada, with_function).await;
    }

    async fn refused_functions_turn_no_tools_off(setup) {
        let refused_tools = Turn::refused_because(FaultKind::Rejected, FaultCause::ToolsUnsupported);
        let app = setup.script([refused_tools, Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let mut with_function = body("Weather?");
        with_function["tools"] = json!([function("tool-call-parser")]);
        refused(&ada.post(PATH, with_function).await, 502, None, None);
        let _ = respond(&ada, body("Weather?")).await;
        assert!(!app.model.requests().last().unwrap().tools.is_empty(), "the model still gets tools");
    }
}
