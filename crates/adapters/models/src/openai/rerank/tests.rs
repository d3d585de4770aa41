//! Tests of the reranker against a fake back end.

use super::*;
use crate::openai::backend;
use docent_testkit::clock::TestClock;
use docent_testkit::wire::{FakeLlm, Reply};
use serde_json::json;

fn settings(fake: &FakeLlm) -> BackendSettings {
    BackendSettings { model: "test-reranker".to_owned(), ..backend::tests::settings(&fake.base_url()) }
}

fn reranker(fake: &FakeLlm) -> HttpReranker {
    HttpReranker::new(&settings(fake), Arc::new(TestClock::default())).unwrap()
}

fn clocked(fake: &FakeLlm) -> (HttpReranker, Arc<TestClock>) {
    let clock = Arc::new(TestClock::default());
    (HttpReranker::new(&settings(fake), Arc::clone(&clock) as _).unwrap(), clock)
}

mod contract {
    use super::*;

    docent_testkit::reranker_contract!(async {
        let fake = FakeLlm::start().await;
        (Arc::new(reranker(&fake)) as _, fake)
    });
}

const PASSAGES: [&str; 2] = ["Valves close.", "Pumps move water."];

async fn ask(reranker: &HttpReranker) -> Result<Vec<f32>> {
    reranker.rerank("what moves water?", &PASSAGES).await
}

#[tokio::test]
async fn all_passages_are_sent_in_one_call() {
    let fake = FakeLlm::start().await;
    ask(&reranker(&fake)).await.unwrap();
    let request = fake.requests().remove(0);
    assert_eq!(request.path, "/v1/rerank");
    assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
    let body =
        json!({"model": "test-reranker", "query": "what moves water?", "documents": PASSAGES, "top_n": 2});
    assert_eq!(request.json(), body);
    assert_eq!(fake.counts().reranks, 1);
}

#[tokio::test]
async fn back_end_without_documents_is_sent_texts() {
    let fake = FakeLlm::start().await;
    let scores = r#"[{"index":1,"score":0.9},{"index":0,"score":0.1}]"#;
    fake.script(Reply::json(422, r#"{"error":"missing field `texts`"}"#));
    fake.script(Reply::json(200, scores));
    fake.script(Reply::json(200, scores));
    let reranker = reranker(&fake);
    for _ in 0..2 {
        assert_eq!(ask(&reranker).await.unwrap(), [0.1, 0.9]);
    }
    let has_texts: Vec<bool> = fake.requests().iter().map(|r| r.json().get("texts").is_some()).collect();
    assert_eq!(has_texts, [false, true, true], "the supported form is remembered");
}

#[tokio::test]
async fn first_error_is_reported_if_both_forms_are_rejected() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(400, r#"{"message":"no such model"}"#));
    fake.script(Reply::json(404, "{}"));
    let reranker = reranker(&fake);
    let fault = ask(&reranker).await.unwrap_err();
    assert_eq!(fault.report(), "reranking back end: status 400: no such model");
    ask(&reranker).await.unwrap();
    assert!(fake.requests().last().unwrap().json().get("documents").is_some());
}

#[tokio::test]
async fn fault_is_classified_and_remembered_without_retry() {
    let cases = [
        (Reply::json(500, "{}"), FaultKind::Unavailable),
        (Reply::json(503, "{}"), FaultKind::Unavailable),
        (Reply::json(401, r#"{"message":"wrong key sk-very-secret"}"#), FaultKind::Rejected),
        (Reply::json(404, "{}"), FaultKind::Rejected),
        (Reply::json(200, "<html>"), FaultKind::InvalidResponse),
        (Reply::json(200, r#"{"results":[]}"#), FaultKind::InvalidResponse),
        (Reply::json(200, "x".repeat(2_000_000)), FaultKind::InvalidResponse),
        (Reply::events(&["half"]).cut(), FaultKind::Unavailable),
        (Reply::events(&[]).reset(), FaultKind::Unavailable),
    ];
    for (reply, kind) in cases {
        let fake = FakeLlm::start().await;
        fake.script(reply.clone());
        let reranker = reranker(&fake);
        let fault = ask(&reranker).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::Reranker, kind), "{reply:?}");
        assert!(!fault.report().contains("secret"), "{fault}");
        assert_eq!(reranker.check().await.unwrap_err().kind(), kind);
        assert_eq!(fake.counts().reranks, 1, "{reply:?}");
        ask(&reranker).await.unwrap();
        reranker.check().await.unwrap();
    }
}

#[tokio::test]
async fn stopped_back_end_is_unavailable() {
    let fake = FakeLlm::start().await;
    let reranker = reranker(&fake);
    fake.stop().await;
    assert_eq!(ask(&reranker).await.unwrap_err().kind(), FaultKind::Unavailable);
}

#[tokio::test]
async fn message_that_quotes_the_request_is_omitted() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(413, r#"{"message":"too long: Pumps move water."}"#));
    let fault = ask(&reranker(&fake)).await.unwrap_err();
    assert_eq!(
        fault.report(),
        "reranking back end: status 413 (message omitted because it quotes the request)"
    );
}

#[tokio::test]
async fn timeout_starts_a_cooldown() {
    for slow in [Reply::events(&[]).stall(), Reply::events(&["{"]).stall()] {
        let fake = FakeLlm::start().await;
        fake.script(slow);
        let clock = Arc::new(TestClock::default());
        let short_timeout = BackendSettings { timeout: Duration::from_millis(500), ..settings(&fake) };
        let mut reranker = HttpReranker::new(&short_timeout, Arc::clone(&clock) as _).unwrap();
        assert_eq!(ask(&reranker).await.unwrap_err().kind(), FaultKind::Timeout);
        let fault = ask(&reranker).await.unwrap_err();
        assert_eq!((fault.kind(), fault.retry_after()), (FaultKind::Timeout, Some(COOLDOWN)));
        assert_eq!(fake.counts().reranks, 1);
        clock.advance(COOLDOWN);
        reranker.timeout = Duration::from_secs(600);
        ask(&reranker).await.unwrap();
    }
}

#[tokio::test]
async fn requested_pause_is_respected() {
    for (status, header, pause) in [
        (429, Some("7"), Duration::from_secs(7)),
        (429, None, COOLDOWN),
        (503, Some("3"), Duration::from_secs(3)),
        (429, Some("86400"), MAX_COOLDOWN),
    ] {
        let fake = FakeLlm::start().await;
        let reply = Reply::json(status, "{}");
        fake.script(header.map_or(reply.clone(), |seconds| reply.header("Retry-After", seconds)));
        let (reranker, clock) = clocked(&fake);
        ask(&reranker).await.unwrap_err();
        clock.advance(pause - Duration::from_millis(1));
        ask(&reranker).await.unwrap_err();
        assert_eq!(fake.counts().reranks, 1, "{status} {header:?}");
        clock.advance(Duration::from_millis(1));
        ask(&reranker).await.unwrap();
        ask(&reranker).await.unwrap();
    }
}
