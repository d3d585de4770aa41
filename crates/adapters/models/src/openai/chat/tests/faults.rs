//! Faults of back ends.

use super::*;

#[tokio::test]
async fn error_status_maps_to_fault_kind_with_message() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    let words = r#"{"error":{"message":"no such model","type":"invalid_request_error"}}"#;
    for (status, kind) in [
        (401, FaultKind::Rejected),
        (403, FaultKind::Rejected),
        (404, FaultKind::Rejected),
        (408, FaultKind::Timeout),
        (409, FaultKind::Unavailable),
        (425, FaultKind::Unavailable),
        (429, FaultKind::RateLimited),
        (500, FaultKind::Unavailable),
        (503, FaultKind::Unavailable),
    ] {
        fake.script(Reply::json(status, words));
        let fault = first_fault(&model).await;
        assert_eq!((fault.component(), fault.kind()), (Component::ChatModel, kind), "{status}");
        assert_eq!(fault.report(), format!("chat model: status {status}: no such model"));
    }
}

#[tokio::test]
async fn rate_limit_fault_contains_the_requested_pause() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    for (header, value, pause) in [
        ("Retry-After", "7", Duration::from_secs(7)),
        ("Retry-After", "Thu, 01 Jan 2026 00:00:30 GMT", Duration::from_secs(30)),
        ("retry-after-ms", "1500", Duration::from_millis(1500)),
    ] {
        fake.script(Reply::json(429, "{}").header(header, value));
        let fault = first_fault(&model).await;
        assert_eq!((fault.kind(), fault.retry_after()), (FaultKind::RateLimited, Some(pause)));
    }
}

#[tokio::test]
async fn fault_omits_key_and_question() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.script(Reply::json(401, format!(r#"{{"error":"Incorrect key {KEY}."}}"#)));
    assert_eq!(first_fault(&model).await.to_string(), "chat model: status 401: Incorrect key [key].");
    fake.script(Reply::json(413, format!(r#"{{"error":{{"message":"Too long: {QUESTION}"}}}}"#)));
    let fault = first_fault(&model).await;
    assert_eq!(fault.report(), "chat model: status 413 (message omitted because it quotes the request)");
    fake.script(Reply::events(&[WORD, &format!(r#"{{"error":{{"message":"bad: {QUESTION} {KEY}"}}}}"#)]));
    let (events, fault) = read(model.stream(request()).await.unwrap()).await;
    assert_eq!(events, [word()]);
    let shown = fault.unwrap().to_string();
    assert!(!shown.contains("pump") && !shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn fault_omits_url_credentials() {
    let fake = FakeLlm::start().await;
    let base_url = fake.base_url().replace("127.0.0.1", "user:password@127.0.0.1");
    let model = model_with(&BackendSettings { base_url, ..settings(&fake) });
    fake.script(Reply::raw("").reset());
    let fault = first_fault(&model).await;
    assert_eq!(fault.kind(), FaultKind::Unavailable);
    assert!(!fault.report().contains("password"), "{fault}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(307, "").header("Location", &fake.base_url()));
    let fault = first_fault(&model(&fake)).await;
    assert_eq!(fault.kind(), FaultKind::Rejected);
    assert!(fault.report().contains("check the base URL"), "{fault}");
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn error_before_the_first_event_fails_the_call() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.script(Reply::events(&[r#"{"error":{"message":"overloaded","code":503}}"#]));
    let fault = first_fault(&model).await;
    assert_eq!(fault.kind(), FaultKind::Unavailable);
    assert_eq!(fault.report(), "chat model: the back end reported an error within its response: overloaded");
    fake.script(Reply::json(200, r#"{"error":{"message":"slow down","type":"rate_limit_exceeded"}}"#));
    assert_eq!(first_fault(&model).await.kind(), FaultKind::RateLimited);
}

#[tokio::test]
async fn truncated_response_ends_with_a_fault() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    for reply in [Reply::events(&[WORD]).cut(), Reply::events(&[WORD]), Reply::events(&[WORD]).until_close()]
    {
        fake.script(reply);
        let (events, fault) = read(model.stream(request()).await.unwrap()).await;
        let fault = fault.unwrap();
        assert_eq!((events, fault.kind()), (vec![word()], FaultKind::Unavailable), "{fault}");
    }
}

#[tokio::test]
async fn truncation_after_the_finish_reason_is_ignored() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    for reply in [Reply::events(&[WORD, STOP]).cut(), Reply::events(&[WORD, "[DONE]"]).cut()] {
        fake.script(reply);
        assert_eq!(ask(&model).await, [word(), finished()]);
    }
}

#[tokio::test]
async fn connection_resets_are_unavailable_faults() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.script(Reply::raw("").reset());
    assert_eq!(first_fault(&model).await.kind(), FaultKind::Unavailable);
    let gate = Gate::default();
    fake.script(Reply::events(&[WORD]).wait(&gate).reset());
    let mut stream = model.stream(request()).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), word());
    gate.open();
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind(), FaultKind::Unavailable);
}

#[tokio::test]
async fn stopped_back_end_is_unavailable_until_restarted() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    ask(&model).await;
    let address = fake.stop().await;
    let fault = first_fault(&model).await;
    assert_eq!(fault.kind(), FaultKind::Unavailable);
    let _back = FakeLlm::start_on(&address.to_string()).await;
    ask(&model).await;
}

#[tokio::test]
async fn silence_before_or_after_the_headers_times_out() {
    let fake = FakeLlm::start().await;
    // The back end never responds, so any timeout is reached; this one is long enough to send the request.
    let model = model_with(&BackendSettings { timeout: Duration::from_millis(500), ..settings(&fake) });
    fake.script(Reply::raw("").stall());
    assert_eq!(first_fault(&model).await.kind(), FaultKind::Timeout);
    fake.script(Reply::events(&[]).stall());
    assert_eq!(first_fault(&model).await.kind(), FaultKind::Timeout);
    fake.until(|counts| counts.hang_ups == 2).await;
}

#[tokio::test]
async fn html_and_invalid_json_are_invalid_responses() {
    let fake = FakeLlm::start().await;
    let model = model(&fake);
    fake.script(Reply::json(200, "<html>").header("Content-Type", "text/html; charset=utf-8"));
    let fault = first_fault(&model).await;
    assert_eq!(fault.kind(), FaultKind::InvalidResponse);
    assert!(fault.report().contains("check the base URL"), "{fault}");
    fake.script(Reply::events(&["not json"]));
    assert_eq!(first_fault(&model).await.kind(), FaultKind::InvalidResponse);
    fake.script(Reply::json(200, "{}"));
    assert_eq!(first_fault(&model).await.kind(), FaultKind::InvalidResponse);
}

#[tokio::test]
async fn response_that_is_not_http_is_a_transient_fault() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::raw("-ERR unknown command 'POST'\r\n"));
    let fault = first_fault(&model(&fake)).await;
    assert!(fault.is_transient(), "{fault}");
}

#[tokio::test]
async fn concurrent_responses_are_independent() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.answer_tokens = Some(50));
    let model = Arc::new(model(&fake));
    let asks = (0..200).map(|_| {
        let model = Arc::clone(&model);
        tokio::spawn(async move { ask(&model).await })
    });
    for answer in asks.collect::<Vec<_>>() {
        assert_eq!(answer.await.unwrap().len(), 51);
    }
    assert_eq!(fake.counts().chats, 200);
}
