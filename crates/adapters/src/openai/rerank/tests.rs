//! Tests of the reranker against a fake back end.

use super::*;
use docent_testkit::{
    clock::TestClock,
    wire::{FakeLlm, Reply},
};
use serde_json::json;

fn settings(fake: &FakeLlm) -> BackendSettings {
    BackendSettings {
        base_url: fake.base_url(),
        api_key: Some("sk-very-secret".to_owned()),
        model: "test-reranker".to_owned(),
        // Far longer than any test runs; those of a time-out set their own.
        timeout: Duration::from_secs(600),
        header_hook: None,
    }
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
async fn one_call_brings_all_passages() {
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
async fn a_back_end_that_knows_no_documents_is_sent_texts() {
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
    assert_eq!(has_texts, [false, true, true], "it is remembered");
}

#[tokio::test]
async fn a_request_that_is_wrong_in_either_form_is_refused_by_its_first_answer() {
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
async fn each_fault_has_its_kind_is_remembered_and_costs_one_call() {
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
async fn one_that_is_down_is_unavailable() {
    let fake = FakeLlm::start().await;
    let reranker = reranker(&fake);
    fake.stop().await;
    assert_eq!(ask(&reranker).await.unwrap_err().kind(), FaultKind::Unavailable);
}

#[tokio::test]
async fn a_message_that_quotes_a_passage_or_the_question_is_kept_out() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(413, r#"{"message":"too long: Pumps move water."}"#));
    let fault = ask(&reranker(&fake)).await.unwrap_err();
    assert_eq!(fault.report(), "reranking back end: status 413 and words that quote the request");
}

#[tokio::test]
async fn one_that_is_too_slow_is_left_alone_for_a_while() {
    for slow in [Reply::events(&[]).stall(), Reply::events(&["{"]).stall()] {
        let fake = FakeLlm::start().await;
        fake.script(slow);
        let clock = Arc::new(TestClock::default());
        let hurried = BackendSettings { timeout: Duration::from_millis(50), ..settings(&fake) };
        let mut reranker = HttpReranker::new(&hurried, Arc::clone(&clock) as _).unwrap();
        assert_eq!(ask(&reranker).await.unwrap_err().kind(), FaultKind::Timeout);
        let rest = ask(&reranker).await.unwrap_err();
        assert_eq!((rest.kind(), rest.retry_after()), (FaultKind::Timeout, Some(REST)));
        assert_eq!(fake.counts().reranks, 1);
        clock.advance(REST);
        reranker.timeout = Duration::from_secs(600);
        ask(&reranker).await.unwrap();
    }
}

#[tokio::test]
async fn a_pause_that_the_back_end_asks_for_is_kept() {
    for (status, header, pause) in [
        (429, Some("7"), Duration::from_secs(7)),
        (429, None, REST),
        (503, Some("3"), Duration::from_secs(3)),
        (429, Some("86400"), MAX_REST),
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
