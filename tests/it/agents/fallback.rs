//! Quotes while the chat model fails, and its reasoning.

use docent_domain::fault::{FaultCause, FaultKind};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::member::{Member, question_body};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::{rules, wait};
use serde_json::{Value, json};

const ID: &str = "01900000-0000-7000-8000-000000000001";

/// A member whose document says on its second page how long the warranty is.
async fn member(app: &TestApp) -> Member {
    let ada = app.ada().await;
    ada.add("Terms.pdf", pdf(&["These are the terms of the shop.", "The warranty lasts five years."])).await;
    app.run_jobs().await;
    ada
}

fn body() -> Value {
    let mut body = question_body("How long is the warranty?");
    for (field, value) in [
        ("fallback", json!("quotes")),
        ("include_metadata", json!(true)),
        ("include_sources", json!(true)),
        ("conversation_id", json!(ID)),
    ] {
        body[field] = value;
    }
    body
}

/// Checks that an answer quotes the second page, and returns the cause that its first event names.
fn cause(reply: &Reply) -> String {
    let metadata = reply.event("metadata").unwrap_or_else(|| panic!("{}", reply.text));
    assert_eq!(metadata["type"], "fallback", "{}", reply.text);
    let answer = reply.answer();
    assert!(answer.contains("five years") && answer.contains("(Terms.pdf, page 2)"), "{answer}");
    assert_source(&reply.event("sources").unwrap()["results"]);
    assert!(reply.event("error").is_none(), "{}", reply.text);
    metadata["cause"].as_str().unwrap().to_owned()
}

fn assert_source(sources: &Value) {
    let source = &sources[0];
    assert_eq!((&source["title"], &source["page_end"]), (&json!("Terms.pdf"), &json!(2)));
}

async fn stored(by: &Member) -> Vec<Value> {
    let conversation = by.get(&format!("/conversations/{ID}")).await.expect(200).json();
    conversation["messages"].as_array().unwrap().clone()
}

rules! {
    async fn documents_are_quoted_while_the_model_fails(setup) {
        let app = setup.start().await;
        let ada = member(&app).await;
        // In a conversation, the answerer would not repeat itself.
        let mut body = body();
        body["conversation_id"] = Value::Null;
        for (kind, refused, broken_off) in [
            (FaultKind::Unavailable, "overloaded", "failed"),
            (FaultKind::Timeout, "timeout", "timeout"),
            (FaultKind::RateLimited, "overloaded", "overloaded"),
            (FaultKind::Rejected, "rejected", "rejected"),
            (FaultKind::InvalidResponse, "failed", "failed"),
        ] {
            for (turn, expected) in [(Turn::refused(kind), refused), (Turn::new().fault(kind), broken_off)] {
                app.model.push(turn);
                assert_eq!(cause(&ada.post("/agents/chat", body.clone()).await.expect(200)), expected, "{kind:?}");
            }
        }
        app.model.push(Turn::searching("warranty"));
        app.model.push(Turn::refused(FaultKind::Timeout));
        assert_eq!(cause(&ada.post("/agents/chat", body).await.expect(200)), "timeout");
    }

    async fn stream_without_metadata_has_only_the_quotes(setup) {
        let app = setup.script([Turn::refused(FaultKind::Timeout)]).start().await;
        let ada = member(&app).await;
        let mut body = question_body("How long is the warranty?");
        body["fallback"] = json!("quotes");
        let reply = ada.post("/agents/chat", body).await.expect(200);
        assert!(!reply.text.contains("event:") && reply.answer().contains("five years"), "{}", reply.text);
    }

    async fn errors_stay_without_the_field(setup) {
        let app = setup.always(Turn::refused(FaultKind::Timeout)).start().await;
        let ada = member(&app).await;
        let mut body = body();
        body["fallback"] = Value::Null;
        ada.post("/agents/chat", body.clone()).await.refused(504, "The chat model did not answer in time");
        body.as_object_mut().unwrap().remove("fallback");
        ada.post("/agents/chat", body.clone()).await.refused(504, "The chat model did not answer in time");
        for wrong in [json!("model"), json!(true), json!("")] {
            body["fallback"] = wrong;
            ada.post("/agents/chat", body.clone()).await.invalid(&["body.fallback"]);
        }
    }

    async fn refusal_of_a_content_filter_stays(setup) {
        let app = setup.script([Turn::refused_because(FaultKind::Rejected, FaultCause::ContentFilter)]).start().await;
        let ada = member(&app).await;
        let detail = "The chat model blocked the request with its content filter";
        ada.post("/agents/chat", body()).await.refused(502, detail);
    }

    async fn answer_that_has_begun_is_not_replaced(setup) {
        let app = setup.script([Turn::new().text("Well").fault(FaultKind::Unavailable)]).start().await;
        let ada = member(&app).await;
        let reply = ada.post("/agents/chat", body()).await.expect(200);
        assert_eq!((reply.answer().as_str(), reply.text.contains("fallback")), ("Well", false));
        assert!(reply.event("error").is_some(), "{}", reply.text);
        assert_eq!(stored(&ada).await[1]["fallback_cause"], Value::Null);
    }

    // Invariant: Quotes replace an answer of the model only before its first token, only for clients that ask
    // for them, and with a label that is stored.
    async fn cause_is_stored_with_the_answer_and_counted(setup) {
        let app = setup.metrics(None).script([Turn::saying("Hello.")]).start().await;
        let ada = member(&app).await;
        let _ = ada.post("/agents/chat", body()).await.expect(200);
        app.model.push(Turn::refused(FaultKind::Timeout));
        let reply = ada.post("/agents/chat", body()).await.expect(200);
        let messages = stored(&ada).await;
        let causes: Vec<&Value> = messages.iter().map(|message| &message["fallback_cause"]).collect();
        assert_eq!(causes, [&Value::Null, &Value::Null, &Value::Null, &json!("timeout")]);
        assert_eq!((&messages[3]["content"], &messages[3]["complete"]), (&json!(reply.answer()), &json!(true)));
        assert_source(&messages[3]["sources"]);
        let metrics = app.get("/metrics").await.expect(200).text;
        for line in [
            "docent_fallback_answers_total{agent=\"chat\",cause=\"timeout\"} 1\n",
            "docent_faults_total{part=\"chat_model\",kind=\"timeout\"} 1\n",
        ] {
            assert!(metrics.contains(line), "{metrics}");
        }
        // The model receives the quotes as the answer that they are.
        app.model.push(Turn::saying("Yes."));
        let mut follow_up = question_body("Sure?");
        follow_up["conversation_id"] = json!(ID);
        let _ = ada.post("/agents/chat", follow_up).await.expect(200);
        let sent = app.model.requests().pop().unwrap().messages;
        assert_eq!(sent.len(), 5);
        assert_eq!(sent[3].content(), reply.answer());
    }

    async fn failed_calls_use_no_tokens(setup) {
        let app = setup.always(Turn::refused(FaultKind::Timeout)).start().await;
        let ada = app.ada().await;
        let _ = ada.ask("How long is the warranty?").await.expect(504);
        let _ = ada.post("/agents/chat", body()).await.expect(200);
        wait::until("usage is recorded", async || app.usage(ada.user.id).await.completion > 0).await;
        let (failed, prompt) = (docent_app::tokens::count("How long is the warranty?") as u64, app.usage(ada.user.id).await.prompt);
        assert!(prompt > failed, "{prompt}");
    }

    async fn resumable_fallback_has_the_same_events(setup) {
        let app = setup.always(Turn::refused(FaultKind::Timeout)).start().await;
        let ada = member(&app).await;
        let plain = ada.post("/agents/chat", body()).await.expect(200);
        let mut body = body();
        body["resumable"] = json!(true);
        body["replaces"] = stored(&ada).await[1]["id"].clone();
        let reply = ada.post("/agents/chat", body).await.expect(200);
        assert_eq!(cause(&reply), "timeout");
        assert_eq!(reply.answer(), plain.answer());
        let stream = reply.header("x-stream-id");
        let again = ada.get(&format!("/agents/chat/streams/{stream}")).await.expect(200);
        assert_eq!(again.text, reply.text);
        assert!(reply.text.ends_with("event: end\ndata: {\"reason\":\"complete\"}\n\n"), "{}", reply.text);
    }

    async fn reasoning_is_sent_on_request_and_not_stored(setup) {
        let turn = || Turn::new().reasoning("The user ").reasoning("asks.").text("Five years.").stop();
        let app = setup.always(turn()).start().await;
        let ada = app.ada().await;
        let mut body = question_body("How long?");
        body["conversation_id"] = json!(ID);
        let plain = "data: \"Five years.\"\n\n";
        for include in [Value::Null, json!(false)] {
            body["include_reasoning"] = include;
            assert_eq!(ada.post("/agents/chat", body.clone()).await.expect(200).text, plain);
        }
        body["include_reasoning"] = json!(true);
        let reply = ada.post("/agents/chat", body.clone()).await.expect(200);
        let reasoning = "event: reasoning\ndata: \"The user \"\n\nevent: reasoning\ndata: \"asks.\"\n\n";
        assert_eq!(reply.text, format!("{reasoning}{plain}"));
        assert!(!ada.get(&format!("/conversations/{ID}")).await.expect(200).text.contains("The user asks"));
        body["include_reasoning"] = json!("yes");
        ada.post("/agents/chat", body).await.invalid(&["body.include_reasoning"]);
    }

    async fn reasoning_without_an_answer_ends_with_an_error_event(setup) {
        let app = setup.script([Turn::new().reasoning("Hm.").stop(), Turn::new().reasoning("Hm.").fault(FaultKind::Timeout)]).start().await;
        let ada = app.ada().await;
        let mut body = question_body("How long?");
        body["include_reasoning"] = json!(true);
        for detail in ["The chat model returned no answer, only its reasoning", "The chat model did not answer in time"] {
            let reply = ada.post("/agents/chat", body.clone()).await.expect(200);
            assert_eq!(reply.event("reasoning"), Some(json!("Hm.")));
            assert_eq!(reply.event("error").unwrap()["detail"], detail);
        }
    }
}
