//! `POST /v1/chat/completions`

use super::{chunks, refused};
use docent_domain::chat::{FinishReason, Message};
use docent_domain::fault::FaultKind;
use docent_domain::usage::TokenUsage;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::Method;
use serde_json::{Value, json};

const PATH: &str = "/v1/chat/completions";

fn body(question: &str) -> Value {
    let mut body = question_body(question);
    body["model"] = json!("chat");
    body
}

fn streamed(question: &str) -> Value {
    let mut body = body(question);
    body["stream"] = json!(true);
    body
}

async fn ask(by: &Member, body: Value) -> Reply {
    by.post(PATH, body).await
}

/// Ends a turn with this token usage.
fn with_usage(turn: Turn, prompt: u64, completion: u64) -> Turn {
    turn.finished(Some(TokenUsage { prompt, completion }))
}

rules! {
    async fn number_of_left_out_messages_is_in_a_header(setup) {
        let app = setup.settings(|settings| settings.client_history_tokens = 105).always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let roles = ["user", "assistant"].into_iter().cycle();
        let messages: Vec<Value> = roles.take(401).map(|role| json!({ "role": role, "content": "a" })).collect();
        for stream in [false, true] {
            let body = json!({ "model": "chat", "messages": messages, "stream": stream });
            let reply = ask(&ada, body).await.expect(200);
            assert_eq!(reply.header("x-messages-left-out"), "380");
            assert!(!reply.text.contains("history_shortened"), "{}", reply.text);
        }
        assert_eq!(app.model.requests()[0].messages.len(), 21);
        assert_eq!(ask(&ada, body("Where?")).await.expect(200).header("x-messages-left-out"), "0");
    }

    async fn completion_has_the_openai_shape(setup) {
        let app = setup.script([with_usage(Turn::new().text("In ").text("Africa."), 12, 3)]).start().await;
        let ada = app.ada().await;
        let reply = ask(&ada, body("Where?")).await.expect(200).json();
        assert!(reply["id"].as_str().unwrap().starts_with("chatcmpl-"));
        assert_eq!((&reply["object"], &reply["model"]), (&json!("chat.completion"), &json!("chat")));
        assert_eq!(reply["created"], 1_767_225_600);
        assert_eq!(reply["choices"], json!([{
            "index": 0,
            "message": { "role": "assistant", "content": "In Africa.", "refusal": null, "annotations": [] },
            "logprobs": null,
            "finish_reason": "stop",
        }]));
        assert_eq!(reply["usage"], json!({ "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 }));
        let cost = TokenUsage { prompt: 12, completion: 3 };
        wait::until("usage is recorded", async || app.usage(ada.user.id).await == cost).await;
    }

    async fn streamed_completion_has_the_openai_shape(setup) {
        let app = setup.script([Turn::saying("In Africa.")]).start().await;
        let ada = app.ada().await;
        let reply = ask(&ada, streamed("Where?")).await.expect(200);
        let chunks = chunks(&reply);
        assert_eq!(chunks.last(), Some(&json!("[DONE]")));
        let parts = &chunks[..chunks.len() - 1];
        for part in parts {
            assert_eq!((&part["object"], &part["id"]), (&json!("chat.completion.chunk"), &parts[0]["id"]));
            assert_eq!((&part["model"], part.get("usage")), (&json!("chat"), None));
        }
        let deltas: Vec<_> = parts.iter().map(|part| &part["choices"][0]["delta"]).collect();
        let expected = [
            json!({ "role": "assistant", "content": "" }), json!({ "content": "In " }), json!({ "content": "Africa." }), json!({}),
        ];
        assert_eq!(deltas, expected.iter().collect::<Vec<_>>());
        let reasons: Vec<_> = parts.iter().map(|part| &part["choices"][0]["finish_reason"]).collect();
        assert_eq!(reasons, [&json!(null), &json!(null), &json!(null), &json!("stop")]);
    }

    async fn requested_usage_is_streamed_in_the_last_chunk(setup) {
        let app = setup.always(with_usage(Turn::new().text("ok"), 12, 3)).start().await;
        let ada = app.ada().await;
        let mut body = streamed("q");
        body["stream_options"] = json!({ "include_usage": true });
        let all = chunks(&ask(&ada, body.clone()).await.expect(200));
        let [before @ .., last, _done] = all.as_slice() else { panic!("{all:?}") };
        assert!(before.iter().all(|part| part["usage"].is_null() && part.get("usage").is_some()));
        assert_eq!(last["choices"], json!([]));
        assert_eq!(last["usage"], json!({ "prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15 }));
        body["stream_options"] = json!({ "include_usage": false });
        assert!(chunks(&ask(&ada, body).await).iter().all(|part| part.get("usage").is_none()));
    }

    async fn citations_are_annotations_with_their_position_and_page(setup) {
        let answer = "Größe 😀: in Africa (Animals.pdf, page 2), it seems (Animals.pdf, page 1).";
        let turns = || [Turn::searching("zebra"), Turn::saying(answer)];
        let app = setup
            .http(|http| http.public_url = Some("https://docs.example.org/docent/".to_owned()))
            .script(turns().into_iter().chain(turns()))
            .start()
            .await;
        let ada = app.ada().await;
        let id = ada.add("Animals.pdf", pdf(&["Nothing is here.", "The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let whole = ask(&ada, body("Where?")).await.expect(200).json();
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], answer);
        let annotations = message["annotations"].as_array().unwrap().clone();
        let cited: Vec<_> = annotations.iter().map(|annotation| {
            let at = &annotation["url_citation"];
            let (start, end) = (at["start_index"].as_u64().unwrap() as usize, at["end_index"].as_u64().unwrap() as usize);
            answer.chars().skip(start).take(end - start).collect::<String>()
        }).collect();
        assert_eq!(cited, ["Animals.pdf, page 2", "Animals.pdf, page 1"]);
        let url = format!("https://docs.example.org/docent/chat#document={id}&page=2");
        assert_eq!(annotations[0]["type"], "url_citation");
        assert_eq!(annotations[0]["url_citation"], json!({ "start_index": 20, "end_index": 39, "url": url, "title": "Animals.pdf" }));
        let own = &annotations[0]["file_citation"];
        assert_eq!((&own["file_id"], &own["filename"], &own["page"]), (&json!(id), &json!("Animals.pdf"), &json!(2)));
        assert!(own["quote"].as_str().unwrap().contains("The zebra lives in Africa.") && own["score"].is_number());
        let parts = chunks(&ask(&ada, streamed("Where?")).await.expect(200));
        let delta = &parts[parts.len() - 3]["choices"][0]["delta"];
        assert_eq!(*delta, json!({ "annotations": annotations }));
    }

    async fn answer_without_citations_has_all_sources_at_its_end(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("In Äfrica.")]).start().await;
        let ada = app.ada().await;
        let id = ada.add("Animals.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let found = ask(&ada, body("Where?")).await.expect(200).json()["choices"][0]["message"]["annotations"].clone();
        let url = format!("http://{}/chat#document={id}&page=1", app.address);
        assert_eq!(found[0]["url_citation"], json!({ "start_index": 10, "end_index": 10, "url": url, "title": "Animals.pdf" }));
    }

    async fn declining_answer_has_no_sources(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        ada.add("Animals.pdf", pdf(&["The zebra lives in Africa. It eats grass."])).await;
        app.run_jobs().await;
        let found = ask(&ada, body("Where does the zebra live?")).await.expect(200).json();
        assert_ne!(found["choices"][0]["message"]["annotations"], json!([]), "{found}");
        let unsure = ask(&ada, body("How many kilograms does a newborn zebra weigh?")).await.expect(200).json();
        let message = &unsure["choices"][0]["message"];
        let text = message["content"].as_str().unwrap();
        // What it shows is cited; nothing is if it shows nothing.
        assert!(text.contains("I am not sure that the documents answer this."), "{unsure}");
        assert_eq!(message["annotations"].as_array().unwrap().len(), text.matches("(Animals.pdf, page 1)").count(), "{unsure}");
        let declined = ask(&ada, body("What is the capital of Paraguay?")).await.expect(200).json();
        let choice = &declined["choices"][0];
        assert_eq!((&choice["message"]["annotations"], &choice["finish_reason"]), (&json!([]), &json!("stop")), "{choice}");
    }

    async fn maximum_of_tokens_ends_the_answer_and_stops_the_model(setup) {
        let app = setup.always(Turn::saying("one two three four five").stall()).start().await;
        let ada = app.ada().await;
        for (name, other) in [("max_tokens", 100), ("max_completion_tokens", 100), ("max_tokens", 2)] {
            let mut body = body("q");
            body["max_completion_tokens"] = json!(other);
            body["max_tokens"] = json!(other);
            body[name] = json!(2);
            let before = app.model.cut_short();
            let whole = ask(&ada, body.clone()).await.expect(200).json();
            let choice = &whole["choices"][0];
            assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("one two"), &json!("length")));
            assert!(whole["usage"]["completion_tokens"].as_u64() >= Some(2), "{whole}");
            wait::until("the model is stopped", async || app.model.cut_short() == before + 1).await;
            body["stream"] = json!(true);
            let parts = chunks(&ask(&ada, body).await.expect(200));
            let text: String = parts.iter().filter_map(|part| part["choices"][0]["delta"]["content"].as_str()).collect();
            assert_eq!((text.as_str(), &parts[parts.len() - 2]["choices"][0]["finish_reason"]), ("one two", &json!("length")));
        }
    }

    async fn answer_within_the_limits_is_whole(setup) {
        let app = setup.always(Turn::saying("one two three")).start().await;
        let ada = app.ada().await;
        for (name, value) in [
            ("max_tokens", json!(3)), ("max_tokens", json!(null)), ("stop", json!("four")), ("stop", json!([])), ("stop", json!("three.")),
            ("stop", json!(null)),
        ] {
            let mut body = body("q");
            body[name] = value;
            let choice = ask(&ada, body).await.expect(200).json()["choices"][0].clone();
            assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("one two three"), &json!("stop")), "{name}");
        }
    }

    async fn stop_string_ends_the_answer_and_stops_the_model(setup) {
        let app = setup.always(Turn::new().text("one tw").text("o three").stall()).start().await;
        let ada = app.ada().await;
        for stop in [json!("two"), json!(["three", "two"])] {
            let mut body = body("q");
            body["stop"] = stop;
            let choice = ask(&ada, body.clone()).await.expect(200).json()["choices"][0].clone();
            assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("one "), &json!("stop")));
            body["stream"] = json!(true);
            let parts = chunks(&ask(&ada, body).await.expect(200));
            let text: String = parts.iter().filter_map(|part| part["choices"][0]["delta"]["content"].as_str()).collect();
            assert_eq!((text.as_str(), &parts[parts.len() - 2]["choices"][0]["finish_reason"]), ("one ", &json!("stop")));
        }
        wait::until("the model is stopped", async || app.model.cut_short() == 4).await;
    }

    async fn limits_of_the_text_apply_to_the_text_after_a_search(setup) {
        let app = setup.script([Turn::searching("zebra"), Turn::saying("In Africa and elsewhere.")]).start().await;
        let ada = app.ada().await;
        let mut body = body("Where?");
        body["max_tokens"] = json!(2);
        let choice = ask(&ada, body).await.expect(200).json()["choices"][0].clone();
        assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("In Africa"), &json!("length")));
    }

    async fn content_may_be_a_string_or_text_parts(setup) {
        let app = setup.script([Turn::saying("ok")]).start().await;
        let ada = app.ada().await;
        let messages = json!([
            { "role": "developer", "content": "Be brief." },
            { "role": "system", "content": [{ "type": "text", "text": "Be good." }] },
            { "role": "user", "content": "Hi" },
            { "role": "assistant", "content": null, "tool_calls": [] },
            { "role": "user", "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }], "name": "ada" },
        ]);
        let body = json!({ "model": "chat", "messages": messages });
        let _ = ask(&ada, body).await.expect(200);
        assert_eq!(app.model.requests()[0].messages, [
            Message::System("Be brief.".into()),
            Message::System("Be good.".into()),
            Message::User("Hi".into()),
            Message::User("one\ntwo".into()),
        ]);
    }

    async fn unsupported_optional_parameters_are_ignored(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let mut body = body("q");
        for (name, value) in [
            ("temperature", json!(0.3)), ("n", json!(1)), ("user", json!("x")), ("tools", json!([])), ("functions", json!(null)),
            ("tool_choice", json!("auto")), ("parallel_tool_calls", json!(false)), ("logit_bias", json!({})), ("logprobs", json!(false)),
            ("top_logprobs", json!(0)), ("modalities", json!(["text"])), ("web_search_options", json!(null)),
            ("response_format", json!({ "type": "text" })), ("stream", json!(null)), ("made_up", json!({})),
        ] {
            body[name] = value;
        }
        assert_eq!(ask(&ada, body).await.expect(200).json()["choices"][0]["message"]["content"], "ok");
    }

    async fn unsupported_requests_are_refused(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let image = json!([{ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "x" } }] }]);
        for (name, value, param) in [
            ("n", json!(2), "n"),
            ("tool_choice", json!("required"), "tool_choice"),
            ("tool_choice", json!({ "type": "function", "function": { "name": "f" } }), "tool_choice"),
            ("response_format", json!({ "type": "json_object" }), "response_format"),
            ("response_format", json!({ "type": "json_schema", "json_schema": {} }), "response_format"),
            ("functions", json!([{ "name": "f" }]), "functions"),
            ("max_tokens", json!(0), "max_tokens"),
            ("max_completion_tokens", json!("5"), "max_completion_tokens"),
            ("stop", json!(""), "stop"),
            ("stop", json!(5), "stop"),
            ("stop", json!(["a", "b", "c", "d", "e"]), "stop"),
            ("logprobs", json!(true), "logprobs"),
            ("top_logprobs", json!(3), "top_logprobs"),
            ("logit_bias", json!({ "50256": -100 }), "logit_bias"),
            ("web_search_options", json!({}), "web_search_options"),
            ("stream", json!("yes"), "stream"),
            ("messages", image, "messages[0].content"),
            ("messages", json!([{ "role": "user", "content": null }]), "messages[0].content"),
            ("messages", json!([{ "role": "user" }]), "messages[0].content"),
            ("messages", json!([{ "role": "robot", "content": "x" }]), "messages[0].role"),
            ("messages", json!([{ "role": "assistant", "content": "x" }]), "messages"),
            ("messages", json!([]), "messages"),
            ("messages", json!(null), "messages"),
            ("model", json!(null), "model"),
            ("model", json!(1), "model"),
        ] {
            let mut body = body("q");
            body[name] = value;
            let message = refused(&ask(&ada, body).await, 400, Some(param), None);
            assert!(message.starts_with(&format!("{param}: ")), "{message}");
        }
        let mut other = body("q");
        other["model"] = json!("gpt-4o");
        refused(&ask(&ada, other).await, 404, None, Some("model_not_found"));
        refused(&ada.app().send(ada.request(Method::POST, PATH).body("{")).await, 400, Some("body"), None);
        assert!(app.model.requests().is_empty());
    }

    async fn unavailable_model_returns_an_error(setup) {
        let turns = [Turn::refused(FaultKind::Unavailable), Turn::refused(FaultKind::Timeout), Turn::refused(FaultKind::Unavailable)];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        refused(&ask(&ada, body("q")).await, 502, None, None);
        refused(&ask(&ada, body("q")).await, 504, None, None);
        refused(&ask(&ada, streamed("q")).await, 502, None, None);
    }

    async fn interrupted_answer_ends_with_an_error(setup) {
        let broken = || Turn::new().text("Hel").fault(FaultKind::Unavailable);
        let app = setup.script([broken(), broken()]).start().await;
        let ada = app.ada().await;
        let parts = chunks(&ask(&ada, streamed("q")).await.expect(200));
        assert_eq!(parts[1]["choices"][0]["delta"], json!({ "content": "Hel" }));
        assert_eq!((&parts[2]["error"]["type"], parts.len()), (&json!("server_error"), 3), "no further event");
        refused(&ask(&ada, body("q")).await, 502, None, None);
    }

    async fn answer_at_the_loop_limit_has_finish_reason_length(setup) {
        let app = setup.always(Turn::searching("x")).start().await;
        let ada = app.ada().await;
        let whole = ask(&ada, body("q")).await.expect(200).json();
        assert_eq!(whole["choices"][0]["finish_reason"], "length");
        let parts = chunks(&ask(&ada, streamed("q")).await.expect(200));
        assert_eq!(parts[parts.len() - 2]["choices"][0]["finish_reason"], "length");
    }

    async fn answer_cut_by_a_content_filter_has_its_finish_reason(setup) {
        let app = setup.always(Turn::new().text("Five").ending(FinishReason::ContentFilter)).start().await;
        let ada = app.ada().await;
        let whole = ask(&ada, body("q")).await.expect(200).json();
        assert_eq!(whole["choices"][0]["finish_reason"], "content_filter");
        let parts = chunks(&ask(&ada, streamed("q")).await.expect(200));
        assert_eq!(parts[parts.len() - 2]["choices"][0]["finish_reason"], "content_filter");
    }

    async fn disconnect_stops_the_model(setup) {
        let app = setup.always(Turn::new().text("one").stall()).start().await;
        let ada = app.ada().await;
        let mut response = ada.request(Method::POST, PATH).json(&streamed("q")).send().await.unwrap();
        let _ = response.chunk().await.unwrap().unwrap();
        drop(response);
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
        let request = tokio::spawn(ada.request(Method::POST, PATH).json(&body("q")).send());
        wait::until("the model is asked", async || app.model.requests().len() == 2).await;
        request.abort();
        wait::until("the model is stopped", async || app.model.cut_short() == 2).await;
    }
}
