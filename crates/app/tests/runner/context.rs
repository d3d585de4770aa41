//! Lines of context of passages, written by the chat model during ingestion.

use super::seconds;
use super::service::{Service, until};
use async_trait::async_trait;
use docent_app::App;
use docent_app::documents;
use docent_app::maintenance::backup::{BackupOptions, restore, save};
use docent_app::maintenance::progress::NoProgress;
use docent_app::maintenance::reindex::{Plan, reindex};
use docent_app::search::{self, SearchRequest};
use docent_app::settings::PassageContext;
use docent_domain::access::Actor;
use docent_domain::chunk::ChunkSize;
use docent_domain::document::DocumentState;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::retrieval::{IndexEntry, StoredChunk};
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::usage::TokenUsage;
use docent_domain::user::User;
use docent_ports::chat_model::{ChatModel, ChatRequest, ChatStream};
use docent_ports::vector_indexes::VectorIndexes;
use docent_testkit::builders;
use docent_testkit::fakes::archive::FakeArchive;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::fakes::recorder::Noted;
use docent_testkit::fakes::text_extractor::{CachingTextExtractor, fake_pdf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A line for each passage of a call.
const LINES: &str = "[1] Amcor report, part 1\n[2] Amcor report, part 2\n[3] Amcor report, part 3\n[4] Amcor report, part 4\n\
    [5] Amcor report, part 5\n[6] Amcor report, part 6\n[7] Amcor report, part 7\n[8] Amcor report, part 8\n";

/// A service whose chat model writes lines of context, with small passages.
fn service(model: Arc<dyn ChatModel>) -> Service {
    let mut service = Service::new().changed(|ports| {
        ports.extractor = Arc::new(CachingTextExtractor::default());
        ports.model = model;
    });
    let mut settings = service.app.settings().clone();
    settings.passage_context = PassageContext::Model;
    settings.chunk_size = ChunkSize { tokens: 20, overlap: 0 };
    service.app = Arc::new(App::new(service.ports.clone(), settings));
    service
}

fn writing(turns: impl IntoIterator<Item = Turn>) -> (Service, Arc<ScriptedChatModel>) {
    let model = Arc::new(ScriptedChatModel::new(turns));
    (service(Arc::clone(&model) as _), model)
}

/// The text of a page of two passages, which differ from those of other pages.
fn page(n: usize) -> String {
    format!(
        "Item {n}: net sales rose in year {n} because more films were sold at higher prices than before year {n}."
    )
}

impl Service {
    async fn upload_pages(&self, pages: impl IntoIterator<Item = String>) -> DocumentId {
        let pages: Vec<String> = pages.into_iter().collect();
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        self.upload(&String::from_utf8(fake_pdf(&pages)).unwrap()).await
    }

    fn indexed(&self, id: DocumentId) -> Vec<IndexEntry> {
        self.index.entries(VersionId::first(id))
    }

    /// The chunks in the active index.
    async fn active_chunks(&self, id: DocumentId) -> Vec<StoredChunk> {
        let active = self.app.active_index().await.unwrap().generation;
        let index = self.collections.open(&active.collection, active.id).await.unwrap();
        index.chunks(VersionId::first(id)).await.unwrap()
    }

    async fn reindexed(&self) {
        let plan = Plan { model: Some("fake-embedder".to_owned()), concurrency: 1 };
        reindex(&self.app, &plan, &CancellationToken::new(), &NoProgress).await.unwrap();
    }
}

fn root() -> Actor {
    Actor::of(&User { is_superuser: true, ..builders::user(1) }).unwrap()
}

/// What the model was given by the user message of each call.
fn prompts(model: &ScriptedChatModel) -> Vec<String> {
    let last = |request: ChatRequest| request.messages.last().unwrap().content().to_owned();
    model.requests().into_iter().map(last).collect()
}

fn context(entries: &[IndexEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.context.as_str()).collect()
}

#[tokio::test]
async fn line_is_indexed_and_not_part_of_the_text() {
    let usage = TokenUsage { prompt: 90, completion: 7 };
    let (service, model) = writing([Turn::new().text(LINES).finished(Some(usage))]);
    let id = service.upload_pages([format!("Segment Results\n{}", page(1))]).await;
    service.drain().await;
    let entries = service.indexed(id);
    assert!(entries.len() > 1 && entries.len() < 8, "{}", entries.len());
    assert_eq!(context(&entries)[..2], ["Amcor report, part 1", "Amcor report, part 2"]);
    let headings = &entries[0].embedding.sparse.as_ref().unwrap().headings;
    assert!(headings.iter().any(|(term, _)| term == "amcor"), "{headings:?}");
    assert!(entries.iter().all(|entry| !entry.text.contains("Amcor")));

    let (grant, all) = (root().authorize().unwrap(), Selection::default());
    let request = SearchRequest { query: "Amcor", scope: Scope::SERVICE, selection: &all, limit: 5 };
    let found = search::search(&service.app, grant, request).await.unwrap().passages;
    assert!(!found.is_empty());
    assert!(found.iter().all(|passage| !passage.text.contains("Amcor")), "{found:?}");

    let prompt = prompts(&model).remove(0);
    assert!(
        prompt.starts_with("Title: a.pdf\n\nBeginning of the document:\nSegment Results\nItem 1:"),
        "{prompt}"
    );
    assert!(prompt.contains("\n[1] (page 1)\nSegment Results\n"), "{prompt}");
    assert!(prompt.contains("\n[2] (page 1, under: Segment Results)\n"), "{prompt}");
    let noted = service.recorder.noted();
    let used = |event: &Noted| matches!(event, Noted::TokensUsed(agent, _, tokens) if agent.as_str() == "ingestion" && *tokens == usage);
    assert_eq!(noted.iter().filter(|event| used(event)).count(), 1, "{noted:?}");
}

#[tokio::test]
async fn setting_none_makes_no_call() {
    let (mut service, model) = writing([]);
    let settings = docent_app::settings::Settings::default();
    service.app = Arc::new(App::new(service.ports.clone(), settings));
    let id = service.upload_pages([page(1)]).await;
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!((context(&service.indexed(id)), model.requests().len()), (vec![""], 0));
}

#[tokio::test]
async fn job_waits_for_an_unavailable_model_and_asks_for_no_line_again() {
    for kind in [FaultKind::Unavailable, FaultKind::Timeout, FaultKind::RateLimited, FaultKind::Full] {
        let (service, model) = writing([Turn::saying(LINES), Turn::refused(kind), Turn::saying(LINES)]);
        let id = service.upload_pages((0..5).map(page)).await;
        assert_eq!(service.drain().await, 1);
        let job = service.job(id).await;
        assert_eq!(
            (job.attempts, job.last_error.as_deref()),
            (0, Some("chat model: a scripted fault")),
            "{kind:?}"
        );
        assert!(job.wait.unwrap().reason.starts_with("the chat model "));
        assert_eq!(prompts(&model).len(), 2);
        service.clock.advance(seconds(120));
        assert_eq!(service.drain().await, 1);
        assert_eq!(service.document(id).await.state.name(), "ingested");
        let prompts = prompts(&model);
        assert_eq!((prompts.len(), &prompts[1]), (3, &prompts[2]), "only the refused call is repeated");
        let entries = service.indexed(id);
        assert!(entries.len() > 8 && context(&entries).iter().all(|line| line.starts_with("Amcor report")));
    }
}

#[tokio::test(start_paused = true)]
async fn endless_answer_is_a_timeout_that_the_job_waits_for() {
    let (service, model) = writing([Turn::new().text("[1] Amcor").stall(), Turn::saying(LINES)]);
    let id = service.upload_pages([page(1)]).await;
    service.drain().await;
    let job = service.job(id).await;
    assert_eq!((job.attempts, model.cut_short()), (0, 1));
    assert_eq!(job.wait.unwrap().reason, "the chat model did not answer in time");
    service.clock.advance(seconds(120));
    service.drain().await;
    assert_eq!(context(&service.indexed(id))[0], "Amcor report, part 1");
}

#[tokio::test]
async fn killed_ingestion_continues_where_it_stopped() {
    let (service, model) = writing([Turn::saying(LINES), Turn::new().stall(), Turn::saying(LINES)]);
    let id = service.upload_pages((0..5).map(page)).await;
    let killed = service.spawn_drain();
    let file = service.document(id).await.file.unwrap();
    let is_cached = async {
        loop {
            let cached = service.ports.extractor.extract_file(&file, &*service.ports.blobs).await.unwrap();
            if !cached.context.is_empty() {
                return cached.context.len();
            }
            tokio::task::yield_now().await;
        }
    };
    let cached = tokio::time::timeout(Duration::from_secs(20), is_cached).await.expect("lines are cached");
    assert_eq!(cached, 8);
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    service.clock.advance(seconds(3600));
    service.other_process().drain().await.unwrap();
    assert_eq!(service.document(id).await.state.name(), "ingested");
    let prompts = prompts(&model);
    assert_eq!(
        (prompts.len(), &prompts[1]),
        (3, &prompts[2]),
        "lines that were written are not asked for again"
    );
}

#[tokio::test]
async fn unusable_line_leaves_the_passage_without_one_and_is_not_asked_for_again() {
    let long = format!("[1] {}\n[2] Amcor", "word ".repeat(100));
    for (text, expected) in [
        ("I cannot do that.", ["", ""]),
        ("", ["", ""]),
        ("{\"lines\": []}", ["", ""]),
        (long.as_str(), ["", "Amcor"]),
    ] {
        let (service, model) = writing([Turn::saying(text)]);
        let id = service.upload_pages([page(1)]).await;
        service.drain().await;
        assert_eq!(service.document(id).await.state.name(), "ingested", "{text}");
        assert_eq!(context(&service.indexed(id))[..2], expected, "{text}");
        service.reindexed().await;
        assert_eq!(
            (service.active_chunks(id).await[1].context.as_str(), model.requests().len()),
            (expected[1], 1)
        );
    }
}

#[tokio::test]
async fn rejected_input_leaves_passages_without_a_line_until_the_next_ingestion() {
    for turn in [
        Turn::refused(FaultKind::Rejected),
        Turn::refused(FaultKind::InvalidResponse),
        Turn::new().text("[1] Amc").fault(FaultKind::InvalidResponse),
    ] {
        let (service, model) = writing([turn, Turn::saying(LINES)]);
        let id = service.upload_pages([page(1)]).await;
        service.drain().await;
        assert_eq!(service.document(id).await.state.name(), "ingested");
        assert!(context(&service.indexed(id)).iter().all(|line| line.is_empty()));
        service.reindexed().await;
        assert_eq!(service.active_chunks(id).await[0].context, "Amcor report, part 1");
        assert_eq!(model.requests().len(), 2);
    }
}

/// A back end that refuses the key.
struct WrongKey;

#[async_trait]
impl ChatModel for WrongKey {
    async fn stream(&self, _request: ChatRequest) -> Result<ChatStream, Fault> {
        Err(Fault::new(Component::ChatModel, FaultKind::Rejected, "status 401").with_status(401))
    }

    fn model(&self) -> &'static str {
        "refusing"
    }
}

#[tokio::test]
async fn refused_key_fails_the_document() {
    let service = service(Arc::new(WrongKey));
    let id = service.upload_pages([page(1)]).await;
    service.drain().await;
    let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "embedding_failed");
    assert_eq!(failed.failure.reason, "the chat model refused the request (1 attempt)");
}

#[tokio::test]
async fn deletion_stops_the_model() {
    let (service, model) = writing([Turn::new().stall()]);
    let id = service.upload_pages([page(1)]).await;
    let (stop, runner) = service.spawn_runner();
    until("the model is asked", || model.requests().len() == 1).await;
    documents::delete::delete(&service.app, &root(), id).await.unwrap();
    until("the model is stopped", || model.cut_short() == 1).await;
    stop.cancel();
    runner.await.unwrap();
    assert_eq!(service.indexed(id), []);
}

#[tokio::test]
async fn reindex_uses_cached_lines() {
    let (service, model) = writing([Turn::saying(LINES), Turn::saying(LINES)]);
    let id = service.upload_pages((0..5).map(page)).await;
    service.drain().await;
    let before: Vec<String> = service.indexed(id).into_iter().map(|entry| entry.context).collect();
    service.reindexed().await;
    let stored = service.active_chunks(id).await;
    let after: Vec<&str> = stored.iter().map(|chunk| chunk.context.as_str()).collect();
    assert_eq!((after, model.requests().len()), (before.iter().map(String::as_str).collect(), 2));
}

#[tokio::test]
async fn restored_passages_have_their_lines() {
    let (service, _) = writing([Turn::saying(LINES)]);
    let id = service.upload_pages([page(1)]).await;
    service.drain().await;
    let archive = FakeArchive::default();
    let options = BackupOptions { program: "0.1.0".to_owned(), schema: "current".to_owned(), chunks: true };
    save(&service.app, options, archive.writer(), &NoProgress).await.unwrap();
    let other = Service::new();
    restore(&other.app, &archive, &NoProgress).await.unwrap();
    let restored = other.indexed(id);
    assert_eq!(restored, service.indexed(id), "text, line and terms are the same");
    assert_eq!(context(&restored)[0], "Amcor report, part 1");
}
