//! Tests of the embedder against a fake back end.

mod dividing;

use super::*;
use crate::openai::backend;
use docent_testkit::clock::TestClock;
use docent_testkit::wire::{Failing, FakeLlm, Gate, RateLimit, Reply};
use serde_json::{Value, json};

fn settings(fake: &FakeLlm) -> BackendSettings {
    BackendSettings { model: "test-embedder".to_owned(), ..backend::tests::settings(&fake.base_url()) }
}

fn embedder(fake: &FakeLlm) -> OpenAiEmbedder {
    let limits = BatchLimits { texts: 2, ..BatchLimits::default() };
    OpenAiEmbedder::new(&settings(fake), limits, Arc::new(TestClock::default())).unwrap()
}

fn with_clock(fake: &FakeLlm, clock: &Arc<TestClock>) -> OpenAiEmbedder {
    let limits = BatchLimits { texts: 2, ..BatchLimits::default() };
    OpenAiEmbedder::new(&settings(fake), limits, Arc::clone(clock) as _).unwrap()
}

mod contract {
    use super::*;

    docent_testkit::embedder_contract!(async {
        let fake = FakeLlm::start().await;
        (Arc::new(embedder(&fake)) as _, fake)
    });
}

mod contract_without_base64 {
    use super::*;

    docent_testkit::embedder_contract!(async {
        let fake = FakeLlm::start().await;
        fake.script(Reply::json(400, r#"{"error":{"message":"encoding_format is not supported"}}"#));
        (Arc::new(embedder(&fake)) as _, fake)
    });
}

const CHUNKS: [(u32, &str); 5] = [
    (1, "Pumps move water."),
    (2, "Valves close."),
    (3, "Cranes lift."),
    (4, "Pipes leak."),
    (5, "Motors turn."),
];

fn passages() -> Passages<'static> {
    Passages { title: "Machines.pdf", lead: "", chunks: &CHUNKS, headings: &[] }
}

async fn embed(embedder: &OpenAiEmbedder) -> Result<Vec<Vec<f32>>> {
    let embeddings = embedder.embed_passages(passages()).await?;
    assert!(embeddings.iter().all(|embedding| embedding.sparse.is_none()));
    Ok(embeddings.into_iter().map(|embedding| embedding.dense.unwrap()).collect())
}

fn response(vectors: &[&[f32]]) -> String {
    let data: Vec<Value> =
        vectors.iter().enumerate().map(|(n, vector)| json!({"index": n, "embedding": vector})).collect();
    json!({"data": data}).to_string()
}

#[tokio::test]
async fn passages_are_embedded_in_batches_in_order() {
    let fake = FakeLlm::start().await;
    let vectors = embed(&embedder(&fake)).await.unwrap();
    assert_eq!(vectors.len(), 5);
    fake.configure(|model| {
        for ((_, text), vector) in CHUNKS.iter().zip(&vectors) {
            let expected = model.vector(&format!("Machines\n\n{text}"));
            assert!(expected.iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-6), "{text}");
        }
    });
    let sent: Vec<Value> = fake.requests().iter().map(|request| request.json()["input"].clone()).collect();
    let text = |n: usize| format!("Machines\n\n{}", CHUNKS[n].1);
    assert_eq!(sent, [json!([text(0), text(1)]), json!([text(2), text(3)]), json!([text(4)])]);
    let request = fake.requests().remove(0);
    assert_eq!(request.path, "/v1/embeddings");
    assert_eq!(request.header("authorization"), Some("Bearer sk-very-secret"));
    assert_eq!(request.json()["encoding_format"], "base64");
    assert_eq!(fake.counts().connections, 1);
}

#[tokio::test]
async fn no_request_is_sent_without_passages() {
    let fake = FakeLlm::start().await;
    let none = Passages { chunks: &[], ..passages() };
    assert_eq!(embedder(&fake).embed_passages(none).await.unwrap(), []);
    assert_eq!(fake.counts().embeddings, 0);
}

#[tokio::test]
async fn back_end_without_base64_is_asked_for_numbers() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(400, r#"{"error":{"message":"encoding_format is not supported"}}"#));
    let embedder = embedder(&fake);
    assert_eq!(embed(&embedder).await.unwrap().len(), 5);
    embedder.embed_query("pump").await.unwrap();
    let sent: Vec<bool> = fake.requests().iter().map(|r| r.json().get("encoding_format").is_some()).collect();
    assert_eq!(sent, [true, false, false, false, false], "the supported form is remembered");
}

#[tokio::test]
async fn numbers_are_accepted_when_base64_was_requested() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(200, response(&[&[0.0, 2.0]])));
    let query = embedder(&fake).embed_query("pump").await.unwrap();
    assert_eq!(query, QueryEmbedding { sparse: None, dense: Some(vec![0.0, 1.0]) });
}

#[tokio::test]
async fn vectors_of_different_dimensions_are_invalid() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(200, response(&[&[1.0, 0.0], &[0.0, 1.0]])));
    fake.script(Reply::json(200, response(&[&[1.0], &[1.0]])));
    assert_eq!(embed(&embedder(&fake)).await.unwrap_err().kind(), FaultKind::InvalidResponse);
}

#[tokio::test]
async fn missing_and_zero_vectors_are_invalid() {
    let fake = FakeLlm::start().await;
    for body in [response(&[&[1.0], &[0.0]]), response(&[&[1.0], &[1.0], &[1.0]]), "<html>".to_owned()] {
        fake.configure(|model| model.refusals.always = Some(Reply::json(200, body)));
        let fault = embed(&embedder(&fake)).await.unwrap_err();
        assert_eq!(
            (fault.component(), fault.kind()),
            (Component::Embedder, FaultKind::InvalidResponse),
            "{fault}"
        );
    }
}

#[tokio::test]
async fn query_waits_for_a_short_pause_once() {
    let fake = FakeLlm::start().await;
    let clock = Arc::new(TestClock::default());
    let limits = BatchLimits::default();
    let embedder = OpenAiEmbedder::new(&settings(&fake), limits, Arc::clone(&clock) as _).unwrap();
    let limited = || Reply::json(429, "{}").header("Retry-After", "2");
    fake.script(limited());
    let retried = embedder.embed_query("pump");
    let time = async {
        fake.until(|counts| counts.embeddings == 1).await;
        // Time passes in small steps, until the pause is over.
        while fake.counts().embeddings < 2 {
            clock.advance(Duration::from_millis(500));
            tokio::task::yield_now().await;
        }
    };
    assert!(tokio::join!(retried, time).0.is_ok());

    fake.script(limited());
    fake.script(limited());
    let failing = embedder.embed_query("pump");
    let time = async {
        while fake.counts().embeddings < 4 {
            clock.advance(Duration::from_millis(500));
            tokio::task::yield_now().await;
        }
    };
    let fault = tokio::join!(failing, time).0.unwrap_err();
    assert_eq!((fault.kind(), fault.retry_after()), (FaultKind::RateLimited, Some(Duration::from_secs(2))));
}

#[tokio::test]
async fn long_or_unspecified_pause_fails_the_query() {
    let fake = FakeLlm::start().await;
    fake.script(Reply::json(429, "{}").header("Retry-After", "3"));
    let fault = embedder(&fake).embed_query("pump").await.unwrap_err();
    assert_eq!((fault.kind(), fault.retry_after()), (FaultKind::RateLimited, Some(Duration::from_secs(3))));
    fake.script(Reply::json(429, "{}"));
    assert_eq!(embedder(&fake).embed_query("pump").await.unwrap_err().retry_after(), None);
    assert_eq!(fake.counts().embeddings, 2);
}

#[tokio::test]
async fn failed_batch_is_retried_a_limited_number_of_times() {
    let fake = FakeLlm::start().await;
    let clock = Arc::new(TestClock::default());
    let embedder = with_clock(&fake, &clock);
    for status in [500, 503, 502, 500] {
        fake.script(Reply::json(status, "{}"));
    }
    assert_eq!(clock.pass_while(embed(&embedder)).await.unwrap().len(), 5);
    assert_eq!((fake.counts().embeddings, fake.counts().embedded), (3 + 4, 3));
    fake.configure(|model| model.refusals.always = Some(Reply::json(503, "{}")));
    let fault = clock.pass_while(embed(&embedder)).await.unwrap_err();
    assert_eq!((fault.kind(), fault.passage()), (FaultKind::Unavailable, None));
    assert_eq!(fake.counts().embeddings, 7 + 5 + 1, "another text fails too");
}

#[tokio::test]
async fn batches_wait_for_short_pauses_and_fail_on_long_ones() {
    let fake = FakeLlm::start().await;
    let clock = Arc::new(TestClock::default());
    let embedder = with_clock(&fake, &clock);
    fake.script(Reply::json(429, "{}").header("Retry-After", "30"));
    fake.script(Reply::json(503, "{}").header("Retry-After", "5"));
    fake.script(Reply::json(429, "{}"));
    assert_eq!(clock.pass_while(embed(&embedder)).await.unwrap().len(), 5);
    assert_eq!((fake.counts().embeddings, fake.counts().embedded), (3 + 3, 3));

    fake.script(Reply::json(429, "{}").header("Retry-After", "3600"));
    for _ in 0..2 {
        let fault = clock.pass_while(embed(&embedder)).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::RateLimited);
        assert!(fault.retry_after() > Some(Duration::from_secs(3000)), "{fault:?}");
    }
    assert_eq!(fake.counts().embeddings, 7, "the second batch is not sent");
    clock.advance(Duration::from_secs(3600));
    assert!(clock.pass_while(embed(&embedder)).await.is_ok());
}

#[tokio::test]
async fn permanently_failing_back_end_is_not_retried_forever() {
    let fake = FakeLlm::start().await;
    fake.configure(|model| model.failing = Some(Failing::new(100, 3)));
    let clock = Arc::new(TestClock::default());
    let embedder = with_clock(&fake, &clock);
    assert!(clock.pass_while(embed(&embedder)).await.unwrap_err().is_transient());
    assert!(fake.counts().embeddings <= 20, "{:?}", fake.counts());
}

/// Embeds `batches` batches in each of four tasks.
async fn embed_in_four_tasks(fake: &FakeLlm, clock: &Arc<TestClock>, batches: usize) {
    let embedder = Arc::new(with_clock(fake, clock));
    let tasks = (0..4).map(|task| {
        let embedder = Arc::clone(&embedder);
        tokio::spawn(async move {
            for batch in 0..batches {
                let texts = [0, 1].map(|n| format!("task {task} batch {batch} text {n}"));
                let chunks = [(1, texts[0].as_str()), (2, texts[1].as_str())];
                embedder.embed_passages(Passages { chunks: &chunks, ..passages() }).await.unwrap();
            }
        })
    });
    let tasks = futures::future::join_all(tasks.collect::<Vec<_>>());
    for task in clock.pass_while(tasks).await {
        task.unwrap();
    }
    let counts = fake.counts();
    assert_eq!((counts.embedded, counts.embedded_again), (4 * batches as u64, 0));
}

#[tokio::test]
async fn few_calls_are_rejected_under_any_rate_limit() {
    for (calls, seconds) in [(10, 1), (60, 60), (1, 2)] {
        let fake = FakeLlm::start().await;
        let clock = Arc::new(TestClock::default());
        fake.configure(|model| {
            model.limit = Some(RateLimit::new(calls, Duration::from_secs(seconds), &clock));
        });
        embed_in_four_tasks(&fake, &clock, 60).await;
        let calls_made = fake.counts().embeddings;
        assert!(calls_made * 10 <= 240 * 11, "{calls_made} calls for 240 batches at {calls} in {seconds} s");
    }
}

#[tokio::test]
async fn random_failures_cause_few_extra_calls() {
    for seed in 0..4 {
        let fake = FakeLlm::start().await;
        let clock = Arc::new(TestClock::default());
        fake.configure(|model| model.failing = Some(Failing::new(30, seed)));
        embed_in_four_tasks(&fake, &clock, 60).await;
        let calls_made = fake.counts().embeddings;
        assert!(calls_made * 10 <= 240 * 16, "{calls_made} calls for 240 batches");
    }
}

#[tokio::test]
async fn wire_faults_are_classified_without_secrets() {
    let fake = FakeLlm::start().await;
    let embedder = embedder(&fake);
    for (reply, kind) in [
        (Reply::json(401, r#"{"error":{"message":"wrong key sk-very-secret"}}"#), FaultKind::Rejected),
        (
            Reply::json(413, r#"{"error":{"message":"too long: Pumps move water. Valves"}}"#),
            FaultKind::Rejected,
        ),
        (Reply::raw("").reset(), FaultKind::Unavailable),
        (Reply::json(200, r#"{"data":"#).header("Content-Length", "99").cut(), FaultKind::Unavailable),
    ] {
        fake.configure(|model| model.refusals.always = Some(reply));
        let fault = embed(&embedder).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::Embedder, kind), "{fault}");
        let shown = fault.report();
        assert!(!shown.contains("sk-very-secret") && !shown.contains("Valves"), "{shown}");
    }
    fake.configure(|model| model.refusals.always = None);
    assert_eq!(embed(&embedder).await.unwrap().len(), 5, "recovered");
}

#[tokio::test]
async fn timeout_applies_to_the_whole_response() {
    let fake = FakeLlm::start().await;
    let settings = BackendSettings { timeout: Duration::from_millis(500), ..settings(&fake) };
    let clock = Arc::new(TestClock::default());
    let embedder = OpenAiEmbedder::new(&settings, BatchLimits::default(), clock).unwrap();
    // The response never ends, so any timeout is reached; this one is long enough to send the request.
    let gate = Gate::default();
    fake.script(Reply::raw("").wait(&gate));
    fake.script(Reply::events(&["{"]).stall());
    for _ in 0..2 {
        assert_eq!(embedder.embed_query("pump").await.unwrap_err().kind(), FaultKind::Timeout);
    }
    fake.until(|counts| counts.hang_ups == 2).await;
}

#[tokio::test]
async fn cache_key_consists_of_text_model_and_url() {
    let fake = FakeLlm::start().await;
    let embedder = embedder(&fake);
    let texts = embedder.texts(passages()).unwrap();
    assert_eq!(texts[0], "Machines\n\nPumps move water.");
    assert_eq!((embedder.batch_size(&texts), embedder.batch_size(&texts[4..])), (2, 1));
    let space = embedder.vector_space();
    assert_eq!(space, format!("test-embedder at {}/embeddings", fake.base_url()));
    let url = "https://user:password@host/v1?key=secret".to_owned();
    let settings = BackendSettings { base_url: url, ..settings(&fake) };
    let clock = Arc::new(TestClock::default());
    if let Ok(other) = OpenAiEmbedder::new(&settings, BatchLimits::default(), clock) {
        assert_eq!(other.vector_space(), "test-embedder at https://host:443/v1/embeddings");
    }
}
