//! Tests with back ends that refuse batches or texts.

use super::*;
use docent_testkit::wire::Refusals;

/// Nine texts of different words; the one at `special` is `text`.
fn texts(special: usize, text: &str) -> Vec<String> {
    let mut texts: Vec<String> = (0..9).map(|n| format!("Pump {n} moves water.")).collect();
    text.clone_into(&mut texts[special]);
    texts
}

struct Bench {
    fake: FakeLlm,
    clock: Arc<TestClock>,
    embedder: OpenAiEmbedder,
}

impl Bench {
    async fn new(refusals: Refusals, limits: BatchLimits) -> Self {
        let fake = FakeLlm::start().await;
        let clock = Arc::new(TestClock::default());
        let embedder = OpenAiEmbedder::new(&settings(&fake), limits, Arc::clone(&clock) as _).unwrap();
        // The back end is known to support base64: otherwise refused calls are repeated without it.
        embedder.embed_query("pump").await.unwrap();
        fake.configure(|model| model.refusals = refusals);
        Self { fake, clock, embedder }
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>> {
        let chunks: Vec<(u32, &str)> = texts.iter().map(|text| (1, text.as_str())).collect();
        let passages = Passages { title: "", lead: "", chunks: &chunks, headings: &[] };
        self.clock.pass_while(self.embedder.embed_passages(passages)).await
    }

    /// The number of calls so far, without the first.
    fn calls(&self) -> u64 {
        self.fake.counts().embeddings - 1
    }

    /// Checks that the vectors are those of the texts, except for shortened ones.
    fn assert_vectors(&self, texts: &[String], embeddings: &[Embedding]) {
        assert_eq!(texts.len(), embeddings.len());
        self.fake.configure(|model| {
            for (text, embedding) in texts.iter().zip(embeddings).filter(|(_, it)| !it.is_shortened) {
                let vector = embedding.dense.as_ref().unwrap();
                assert!(model.vector(text).iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-5), "{text}");
            }
        });
    }
}

#[tokio::test]
async fn refused_batch_is_halved_and_its_size_is_remembered() {
    for status in [400, 413, 422] {
        let refusals = Refusals { texts: Some((3, status)), ..Refusals::default() };
        let bench = Bench::new(refusals, BatchLimits::default()).await;
        let texts = texts(0, "Cranes lift.");
        let embeddings = bench.embed(&texts).await.unwrap();
        bench.assert_vectors(&texts, &embeddings);
        assert!(embeddings.iter().all(|embedding| !embedding.is_shortened));
        let calls = bench.calls();
        assert_eq!(calls, 7, "9 and 5 and 4 texts are refused, 3 and 2 and 2 and 2 accepted");
        assert_eq!(bench.embedder.batch_size(&texts), 3);
        bench.embed(&texts).await.unwrap();
        assert_eq!(bench.calls() - calls, 3, "later batches are small from the start");
    }
}

#[tokio::test]
async fn back_end_that_embeds_one_text_per_call_is_used() {
    let one = Reply::json(200, response(&[&[0.6, 0.8]]));
    let bench =
        Bench::new(Refusals { always: Some(one), ..Refusals::default() }, BatchLimits::default()).await;
    let texts = texts(0, "Cranes lift.");
    assert_eq!(bench.embed(&texts).await.unwrap().len(), 9);
    assert_eq!(bench.embedder.batch_size(&texts), 1);
}

#[tokio::test]
async fn too_long_text_is_shortened_alone_and_batches_stay_large() {
    for (status, names_bytes) in [(400, false), (413, true), (422, false), (500, false)] {
        let refusals = Refusals { bytes: Some((400, status)), names_bytes, ..Refusals::default() };
        let bench = Bench::new(refusals, BatchLimits::default()).await;
        let long = "centrifugal ".repeat(200);
        let texts = texts(4, &long);
        let embeddings = bench.embed(&texts).await.unwrap();
        let shortened: Vec<usize> = (0..9).filter(|n| embeddings[*n].is_shortened).collect();
        assert_eq!(shortened, [4]);
        bench.assert_vectors(&texts, &embeddings);
        let sent = bench.fake.requests().into_iter().map(|request| request.json()["input"].clone());
        let parts: Vec<usize> = sent
            .filter_map(|input| {
                input.as_array().filter(|input| input.len() == 1).map(|input| input[0].clone())
            })
            .filter_map(|text| text.as_str().filter(|text| text.starts_with("centrifugal")).map(str::len))
            .collect();
        let longest = parts.iter().copied().filter(|bytes| *bytes <= 400).max().unwrap();
        assert!(longest >= 350, "no more is lost than needed: {parts:?}");
        assert!(parts.len() <= if names_bytes { 2 } else { 7 }, "{parts:?}");
        assert_eq!(bench.embedder.batch_size(&texts), 9, "batches of this size are accepted");
    }
}

#[tokio::test]
async fn learnt_length_applies_to_later_texts_before_they_are_sent() {
    let refusals = Refusals { bytes: Some((400, 400)), ..Refusals::default() };
    let bench = Bench::new(refusals, BatchLimits::default()).await;
    let long: Vec<String> = (0..9).map(|n| format!("{n} {}", "centrifugal ".repeat(100))).collect();
    assert!(bench.embed(&long).await.unwrap().iter().all(|embedding| embedding.is_shortened));
    assert!(bench.calls() <= 40, "{}", bench.calls());
    let calls = bench.calls();
    assert!(bench.embed(&long).await.unwrap().iter().all(|embedding| embedding.is_shortened));
    assert_eq!(bench.calls() - calls, 1, "all texts are sent in one call");
    assert!(!bench.embed(&texts(0, "Short.")).await.unwrap()[0].is_shortened);
}

#[tokio::test]
async fn configured_length_applies_from_the_start() {
    let refusals = Refusals { bytes: Some((400, 400)), ..Refusals::default() };
    let limits = BatchLimits { text_tokens: Some(100), ..BatchLimits::default() };
    let bench = Bench::new(refusals, limits).await;
    let texts = texts(4, &"centrifugal ".repeat(200));
    let embeddings = bench.embed(&texts).await.unwrap();
    assert!(embeddings[4].is_shortened && !embeddings[3].is_shortened);
    assert_eq!(bench.calls(), 1);
    assert!(bench.embedder.vector_space().ends_with(", 100 tokens"), "other vectors than without the limit");
}

#[tokio::test]
async fn wrong_request_is_refused_without_splitting_the_document() {
    for status in [400, 401, 404, 413, 422] {
        let unknown = Reply::json(status, r#"{"error":{"message":"model \"bge\" was not found"}}"#);
        let refusals = Refusals { always: Some(unknown), ..Refusals::default() };
        let bench = Bench::new(refusals, BatchLimits::default()).await;
        let texts: Vec<String> = (0..200).map(|n| format!("Pump {n} moves water.")).collect();
        let fault = bench.embed(&texts).await.unwrap_err();
        assert_eq!(
            (fault.kind(), fault.status(), fault.passage()),
            (FaultKind::Rejected, Some(status), None)
        );
        assert!(fault.message().contains("was not found"), "{fault}");
        assert!(bench.calls() <= 7, "{} calls", bench.calls());
    }
}

#[tokio::test]
async fn text_that_makes_the_back_end_fail_is_found() {
    let nan = Refusals { word_without_vector: Some("poison"), ..Refusals::default() };
    let failing = |status| Refusals { word: Some(("poison", status)), ..Refusals::default() };
    for (refusals, status) in [(failing(500), Some(500)), (failing(503), Some(503)), (nan, None)] {
        for limit in [4, 32] {
            let limits = BatchLimits { texts: limit, ..BatchLimits::default() };
            let bench = Bench::new(refusals.clone(), limits).await;
            let fault = bench.embed(&texts(6, "This is poison.")).await.unwrap_err();
            assert_eq!((fault.kind(), fault.passage()), (FaultKind::Rejected, Some(6)), "{fault}");
            assert_eq!(fault.status(), status);
            assert!(bench.calls() <= 20, "{} calls", bench.calls());
            assert_eq!(bench.embed(&texts(6, "This is none.")).await.unwrap().len(), 9);
        }
    }
}

#[tokio::test]
async fn text_that_is_refused_at_any_length_is_named() {
    let refusals = Refusals { word: Some(("poison", 400)), ..Refusals::default() };
    let bench = Bench::new(refusals, BatchLimits::default()).await;
    let fault = bench.embed(&texts(6, "This is poison.")).await.unwrap_err();
    assert_eq!((fault.kind(), fault.passage()), (FaultKind::Rejected, Some(6)));
}

#[tokio::test]
async fn outage_is_not_taken_for_a_bad_text() {
    let down = Refusals { always: Some(Reply::json(500, "{}")), ..Refusals::default() };
    let bench = Bench::new(down, BatchLimits { texts: 1, ..BatchLimits::default() }).await;
    let fault = bench.embed(&texts(0, "Cranes lift.")).await.unwrap_err();
    assert_eq!((fault.kind(), fault.passage()), (FaultKind::Unavailable, None));
    assert_eq!(bench.calls(), 6);
}

#[tokio::test]
async fn too_long_query_is_shortened() {
    let refusals = Refusals { bytes: Some((400, 400)), ..Refusals::default() };
    let bench = Bench::new(refusals, BatchLimits::default()).await;
    let query = bench.embedder.embed_query(&"centrifugal ".repeat(200)).await.unwrap();
    assert!(query.dense.is_some());
}

#[tokio::test]
async fn prefixes_are_sent_and_are_part_of_the_name() {
    let bench = Bench::new(Refusals::default(), BatchLimits::default()).await;
    let model = EmbeddingModel::new("nomic-embed-text", None, None);
    let named = BackendSettings { model: model.name.clone(), ..settings(&bench.fake) };
    let embedder =
        OpenAiEmbedder::new(&named, BatchLimits::default(), Arc::clone(&bench.clock) as _).unwrap();
    let embedder = embedder.with_prefixes(model.prefixes.clone());
    embedder.embed_passages(Passages { chunks: &CHUNKS[..1], ..passages() }).await.unwrap();
    embedder.embed_query("Who pumps?").await.unwrap();
    let sent: Vec<Value> = bench.fake.requests().iter().map(docent_testkit::wire::Request::json).collect();
    let [.., passage, query] = sent.as_slice() else { panic!("{sent:?}") };
    assert_eq!(passage["model"], "nomic-embed-text");
    assert_eq!(passage["input"], json!(["search_document: Machines\n\nPumps move water."]));
    assert_eq!(query["input"], json!(["search_query: Who pumps?"]));
    assert_eq!(embedder.model(), model.to_string());
    assert_eq!(embedder.texts(passages()).unwrap()[0], "search_document: Machines\n\nPumps move water.");
    assert_eq!(embedder.vector_space(), format!("nomic-embed-text at {}/embeddings", bench.fake.base_url()));
}
