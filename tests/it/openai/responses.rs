//! `/v1/responses…`

mod functions;
mod history;
mod parameters;

use super::files::{document_of, upload};
use super::refused;
use docent_domain::chat::{FinishReason, Message};
use docent_domain::fault::FaultKind;
use docent_domain::usage::TokenUsage;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use reqwest::Method;
use serde_json::{Value, json};

const PATH: &str = "/v1/responses";

fn body(input: impl Into<Value>) -> Value {
    json!({ "model": "chat", "input": input.into() })
}

async fn respond(by: &Member, body: Value) -> Value {
    by.post(PATH, body).await.expect(200).json()
}

fn path(response: &Value) -> String {
    format!("{PATH}/{}", response["id"].as_str().unwrap())
}

/// The events of a stream. Each has its name and its number.
fn events(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let events = reply.text.split_terminator("\n\n").map(|event| {
        let (name, data) = event.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["type"], name);
        data
    });
    let events: Vec<Value> = events.collect();
    assert!(events.iter().zip(0..).all(|(event, n)| event["sequence_number"] == n), "{events:?}");
    events
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap().trim_start_matches("response.")).collect()
}

/// A vector store with a PDF about zebras and one about lions, and the IDs of both files.
async fn store(app: &TestApp, by: &Member) -> (String, [String; 2]) {
    let zebra = upload(by, "zebra.pdf", pdf(&["nothing is here", "zebras graze in the savanna today"])).await;
    let lion = upload(by, "lion.pdf", pdf(&["lions sleep in the savanna today"])).await;
    let body = json!({ "name": "Animals", "file_ids": [zebra, lion] });
    let store = by.post("/v1/vector_stores", body).await.expect(200).json();
    app.run_jobs().await;
    app.write_labels().await;
    (store["id"].as_str().unwrap().to_owned(), [zebra, lion])
}

fn searching(question: &str, store: &str) -> Value {
    let mut body = body(question);
    body["tools"] = json!([{ "type": "file_search", "vector_store_ids": [store] }]);
    body
}

/// A function of a client.
fn function(name: &str) -> Value {
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
    json!({ "type": "function", "name": name, "description": "Tells the weather.", "parameters": parameters, "strict": true })
}

rules! {
    async fn response_has_the_openai_shape(setup) {
        let turn = Turn::new().text("In ").text("Africa.").finished(Some(TokenUsage { prompt: 12, completion: 3 }));
        let app = setup.script([turn]).start().await;
        let ada = app.ada().await;
        let mut body = body("Where?");
        body["instructions"] = json!("Be brief.");
        body["metadata"] = json!({ "team": "zoo" });
        body["temperature"] = json!(0.5);
        let response = respond(&ada, body).await;
        let id = response["id"].as_str().unwrap();
        let digits = id.strip_prefix("resp_").unwrap();
        let expected = json!({
            "id": id, "object": "response", "created_at": 1_767_225_600, "completed_at": 1_767_225_600, "status": "completed",
            "error": null, "incomplete_details": null, "background": false, "conversation": null, "instructions": "Be brief.",
            "max_output_tokens": null, "max_tool_calls": null, "metadata": { "team": "zoo" }, "model": "chat", "moderation": null,
            "output": [{
                "type": "message", "id": format!("msg_{digits}_0"), "status": "completed", "role": "assistant", "phase": null,
                "content": [{ "type": "output_text", "text": "In Africa.", "annotations": [], "logprobs": [] }],
            }],
            "parallel_tool_calls": true, "previous_response_id": null, "prompt": null, "prompt_cache_key": null, "prompt_cache_diagnostics": null, "prompt_cache_options": null,
            "prompt_cache_retention": null, "reasoning": { "effort": null, "summary": null }, "safety_identifier": null,
            "service_tier": "default", "store": true, "temperature": 0.5, "text": { "format": { "type": "text" }, "verbosity": "medium" },
            "tool_choice": "auto", "tools": [], "top_logprobs": 0, "top_p": null, "truncation": "auto",
            "usage": {
                "input_tokens": 12, "input_tokens_details": { "cached_tokens": 0, "cache_write_tokens": 0 },
                "output_tokens": 3, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
            },
            "user": null,
        });
        assert_eq!(response, expected);
        let sent = &app.model.requests()[0];
        assert_eq!(sent.messages, [Message::System("Be brief.".into()), Message::User("Where?".into())]);
        assert_eq!((sent.sampling.temperature, sent.sampling.top_p), (Some(0.5), None));
        let cost = TokenUsage { prompt: 12, completion: 3 };
        wait::until("usage is recorded", async || app.usage(ada.user.id).await == cost).await;
        assert_eq!(ada.get(&path(&response)).await.expect(200).json(), response);
        let items = ada.get(&format!("{}/input_items", path(&response))).await.expect(200).json();
        let item = json!({
            "id": format!("msg_in_{digits}_0"), "type": "message", "role": "user", "status": "completed", "phase": null,
            "content": [{ "type": "input_text", "text": "Where?" }],
        });
        assert_eq!(items["data"], json!([item]));
    }

    async fn search_is_an_item_with_its_results_if_included(setup) {
        let answer = "Größe 😀: in Africa (zebra.pdf, page 2).";
        let turns = || [Turn::searching("zebras graze"), Turn::saying(answer)];
        let app = setup.script(turns().into_iter().chain(turns())).start().await;
        let ada = app.ada().await;
        let (store, [zebra, _]) = store(&app, &ada).await;
        let mut body = searching("Where?", &store);
        let plain = respond(&ada, body.clone()).await;
        assert_eq!((&plain["output"][0]["type"], &plain["output"][0]["results"]), (&json!("file_search_call"), &json!(null)));
        body["include"] = json!(["file_search_call.results"]);
        let response = respond(&ada, body).await;
        let [search, message] = response["output"].as_array().unwrap().as_slice() else { panic!("{response}") };
        assert_eq!((&search["queries"], &search["status"]), (&json!(["zebras graze"]), &json!("completed")));
        let best = &search["results"][0];
        assert_eq!((&best["file_id"], &best["filename"]), (&json!(zebra), &json!("zebra.pdf")));
        assert!(best["text"].as_str().unwrap().contains("zebras graze"), "{best}");
        assert!((0.0..=1.0).contains(&best["score"].as_f64().unwrap()) && best["attributes"]["page"].is_number());
        let link = format!("http://{}/chat#document={}&page=2", app.address, document_of(&zebra));
        let citation = json!({
            "type": "file_citation", "file_id": zebra, "filename": "zebra.pdf", "index": 20, "page": 2, "link": link,
        });
        assert_eq!(message["content"][0]["annotations"], json!([citation]));
        let index = 20;
        assert!(answer.chars().skip(index).collect::<String>().starts_with("zebra.pdf, page 2"));
        let stored = path(&response);
        assert_eq!(ada.get(&stored).await.expect(200).json()["output"][0]["results"], json!(null));
        for query in ["include=file_search_call.results", "include[]=file_search_call.results"] {
            assert_eq!(ada.get(&format!("{stored}?{query}")).await.expect(200).json(), response);
        }
        // Results of files that are deleted are not shown.
        let _ = ada.delete(&format!("/v1/files/{zebra}")).await.expect(200);
        app.run_jobs().await;
        let left = ada.get(&format!("{stored}?include[]=file_search_call.results")).await.expect(200).json();
        assert!(left["output"][0]["results"].as_array().unwrap().iter().all(|result| result["file_id"] != json!(zebra)), "{left}");
    }

    async fn text_before_a_search_is_a_message_of_its_own(setup) {
        let first = || Turn::new().text("Let me look.").tool_call("1", "search_docs", r#"{"query":"zebras graze"}"#).stop();
        let turns = [first(), Turn::saying("In Africa."), first(), Turn::saying("In Africa.")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let (store, _) = store(&app, &ada).await;
        let response = respond(&ada, searching("Where?", &store)).await;
        let output = response["output"].as_array().unwrap();
        let kinds: Vec<_> = output.iter().map(|item| item["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["message", "file_search_call", "message"], "{response}");
        let text = |item: &Value| item["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!((text(&output[0]), text(&output[2])), ("Let me look.".to_owned(), "In Africa.".to_owned()));
        assert_eq!((&output[0]["status"], &output[0]["content"][0]["annotations"]), (&json!("completed"), &json!([])));
        // Without the tool, clients expect one message.
        let response = respond(&ada, body("Where?")).await;
        assert_eq!(response["output"].as_array().unwrap().len(), 1, "{response}");
        assert_eq!(text(&response["output"][0]), "Let me look.\n\nIn Africa.");
    }

    async fn failed_search_is_shown_as_failed(setup) {
        let app = setup.script([Turn::searching("zebras graze"), Turn::saying("I could not search.")]).start().await;
        let ada = app.ada().await;
        let (store, _) = store(&app, &ada).await;
        app.faults.index.fail_all(FaultKind::Unavailable);
        let mut body = searching("Where?", &store);
        body["stream"] = json!(true);
        let events = events(&ada.post(PATH, body).await.expect(200));
        assert!(!names(&events).contains(&"file_search_call.completed"), "{events:?}");
        let output = &events.last().unwrap()["response"]["output"];
        assert_eq!((&output[0]["type"], &output[0]["status"]), (&json!("file_search_call"), &json!("failed")));
        assert_eq!(output[0]["queries"], json!(["zebras graze"]));
    }

    async fn search_keeps_to_stores_filters_and_limits(setup) {
        let turns = |n| (0..n).flat_map(|_| [Turn::searching("savanna"), Turn::saying("ok")]);
        let app = setup.script(turns(5)).start().await;
        let ada = app.ada().await;
        let (store, [zebra, lion]) = store(&app, &ada).await;
        let empty = ada.post("/v1/vector_stores", json!({ "name": "Empty" })).await.expect(200).json();
        let found = async |tool: Value| -> Vec<String> {
            let mut body = body("Where?");
            body["tools"] = json!([tool]);
            body["include"] = json!(["file_search_call.results"]);
            let response = respond(&ada, body).await;
            let results = response["output"][0]["results"].as_array().unwrap().clone();
            let mut files: Vec<String> = results.iter().map(|of| of["file_id"].as_str().unwrap().to_owned()).collect();
            files.sort();
            files
        };
        let mut both = [zebra.clone(), lion.clone()];
        both.sort();
        assert_eq!(found(json!({ "type": "file_search", "vector_store_ids": [store] })).await, both);
        assert_eq!(found(json!({ "type": "file_search", "vector_store_ids": [empty["id"]] })).await, [""; 0]);
        let one = json!({ "type": "file_search", "vector_store_ids": [store], "max_num_results": 1 });
        assert_eq!(found(one).await.len(), 1);
        let filtered = json!({
            "type": "file_search", "vector_store_ids": [store], "filters": { "type": "eq", "key": "file_name", "value": "lion.pdf" },
        });
        assert_eq!(found(filtered).await, [lion]);
        let strict = json!({ "type": "file_search", "vector_store_ids": [store], "ranking_options": { "score_threshold": 1.0 } });
        assert_eq!(found(strict).await, [""; 0]);
    }

    async fn required_search_is_made_before_the_model_is_called(setup) {
        let app = setup.always(Turn::saying("ok")).start().await;
        let ada = app.ada().await;
        let (store, _) = store(&app, &ada).await;
        for choice in [json!("required"), json!({ "type": "file_search" })] {
            let mut body = searching("Where do zebras graze?", &store);
            body["tool_choice"] = choice.clone();
            let response = respond(&ada, body).await;
            assert_eq!((&response["output"][0]["type"], &response["tool_choice"]), (&json!("file_search_call"), &choice));
        }
        let without = respond(&ada, searching("Where?", &store)).await;
        assert_eq!(without["output"][0]["type"], "message");
    }

    async fn without_tools_all_documents_are_searched_and_no_item_says_so(setup) {
        let app = setup.script([Turn::searching("zebras"), Turn::saying("In Africa (zebra.pdf, page 2).")]).start().await;
        let ada = app.ada().await;
        let (_, [zebra, _]) = store(&app, &ada).await;
        let response = respond(&ada, body("Where?")).await;
        let output = response["output"].as_array().unwrap();
        assert_eq!((output.len(), &output[0]["content"][0]["annotations"][0]["file_id"]), (1, &json!(zebra)));
    }

    async fn stream_has_the_events_in_order(setup) {
        let turns = [Turn::searching("zebras graze"), Turn::saying("In Africa (zebra.pdf, page 2).")];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let (store, _) = store(&app, &ada).await;
        let mut body = searching("Where?", &store);
        body["stream"] = json!(true);
        body["include"] = json!(["file_search_call.results"]);
        let reply = ada.post(PATH, body).await.expect(200);
        assert_eq!(reply.header("x-messages-left-out"), "0");
        let events = events(&reply);
        let (head, rest) = events.split_at(9);
        assert_eq!(names(head), [
            "created", "in_progress", "output_item.added", "file_search_call.in_progress", "file_search_call.searching",
            "file_search_call.completed", "output_item.done", "output_item.added", "content_part.added",
        ]);
        let deltas = rest.iter().take_while(|event| event["type"] == "response.output_text.delta").count();
        let text: String = rest[..deltas].iter().map(|event| event["delta"].as_str().unwrap()).collect();
        assert_eq!((text.as_str(), &rest[0]["logprobs"]), ("In Africa (zebra.pdf, page 2).", &json!([])));
        let last = &rest[deltas..];
        assert_eq!(names(last), [
            "output_text.annotation.added", "output_text.done", "content_part.done", "output_item.done", "completed",
        ]);
        let response = &last[4]["response"];
        assert_eq!((&events[0]["response"]["status"], &events[0]["response"]["output"]), (&json!("in_progress"), &json!([])));
        assert_eq!((&events[6]["item"], &last[3]["item"]), (&response["output"][0], &response["output"][1]));
        assert_eq!((&events[6]["output_index"], &last[3]["output_index"]), (&json!(0), &json!(1)));
        assert_eq!(last[1]["text"], json!(text));
        assert_eq!(last[0]["annotation"], response["output"][1]["content"][0]["annotations"][0]);
        assert!(rest[..deltas].iter().all(|event| event["item_id"] == response["output"][1]["id"]));
        assert!(events[6]["item"]["results"].is_array());
        let stored = ada.get(&format!("{}?include[]=file_search_call.results", path(response))).await;
        assert_eq!(&stored.expect(200).json(), response);
    }

    async fn disconnected_client_stops_the_model_and_nothing_is_stored(setup) {
        let app = setup.script([Turn::new().text("one").stall()]).start().await;
        let ada = app.ada().await;
        let mut body = body("q");
        body["stream"] = json!(true);
        let mut reply = ada.request(Method::POST, PATH).json(&body).send().await.unwrap();
        let first = String::from_utf8(reply.chunk().await.unwrap().unwrap().to_vec()).unwrap();
        let data = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        let created: Value = serde_json::from_str(data).unwrap();
        drop(reply);
        wait::until("the model is stopped", async || app.model.cut_short() == 1).await;
        refused(&ada.get(&path(&created["response"])).await, 404, None, None);
        wait::until("usage is recorded", async || app.usage(ada.user.id).await != TokenUsage::default()).await;
    }

    async fn long_answer_is_incomplete(setup) {
        let app = setup.script([
            Turn::saying("one two three four five"), Turn::new().text("half").ending(FinishReason::ContentFilter),
            Turn::new().text("half").ending(FinishReason::Length),
        ]).start().await;
        let ada = app.ada().await;
        let mut limited = body("q");
        limited["max_output_tokens"] = json!(2);
        let response = respond(&ada, limited).await;
        assert_eq!((&response["status"], &response["incomplete_details"]), (&json!("incomplete"), &json!({ "reason": "max_output_tokens" })));
        let message = &response["output"][0];
        assert_eq!((&message["content"][0]["text"], &message["status"]), (&json!("one two"), &json!("incomplete")));
        assert_eq!((&response["completed_at"], &response["error"]), (&json!(null), &json!(null)));
        let mut streamed = body("q");
        streamed["stream"] = json!(true);
        let filtered = events(&ada.post(PATH, streamed).await.expect(200));
        let last = filtered.last().unwrap();
        assert_eq!((&last["type"], &last["response"]["incomplete_details"]["reason"]), (&json!("response.incomplete"), &json!("content_filter")));
        assert_eq!(respond(&ada, body("q")).await["incomplete_details"]["reason"], "max_output_tokens");
    }

    async fn model_without_an_answer_fails_the_response(setup) {
        let app = setup.always(Turn::new().reasoning("hm").stop()).start().await;
        let ada = app.ada().await;
        let response = respond(&ada, body("q")).await;
        let error = json!({ "code": "server_error", "message": "The chat model returned no answer, only its reasoning", "misalignment": null, "param": null, "type": null });
        assert_eq!((&response["status"], &response["error"], &response["output"]), (&json!("failed"), &error, &json!([])));
    }

    async fn fault_before_the_answer_is_an_error_and_later_a_failed_response(setup) {
        let broken = || Turn::new().text("Hel").fault(FaultKind::Unavailable);
        let turns = [Turn::refused(FaultKind::Unavailable), Turn::refused(FaultKind::Timeout), broken(), broken()];
        let app = setup.script(turns).start().await;
        let ada = app.ada().await;
        let mut streamed = body("q");
        streamed["stream"] = json!(true);
        refused(&ada.post(PATH, body("q")).await, 502, None, None);
        refused(&ada.post(PATH, streamed.clone()).await, 504, None, None);
        refused(&ada.post(PATH, body("q")).await, 502, None, None);
        let all = events(&ada.post(PATH, streamed).await.expect(200));
        let last = all.last().unwrap();
        assert_eq!(names(&all[all.len() - 2..]), ["output_item.done", "failed"]);
        let response = &last["response"];
        assert_eq!((&response["status"], &response["error"]["code"]), (&json!("failed"), &json!("server_error")));
        assert_eq!((&response["output"][0]["status"], &response["output"][0]["content"][0]["text"]), (&json!("incomplete"), &json!("Hel")));
        assert_eq!(&ada.get(&path(response)).await.expect(200).json(), response);
    }

    async fn limits_of_the_account_apply(setup) {
        let app = setup.settings(|settings| settings.account_limits.tokens_per_day = 1).always(Turn::saying("hello world")).start().await;
        let ada = app.ada().await;
        let _ = respond(&ada, body("hello world")).await;
        wait::until("usage is recorded", async || app.usage(ada.user.id).await.completion > 0).await;
        refused(&ada.post(PATH, body("hello")).await, 429, None, Some("tokens_per_day_limit"));
    }
}
