//! Summaries of documents, with and without a chat model.

use crate::service::Service;
use async_trait::async_trait;
use docent_app::Error;
use docent_app::agent::AgentRequest;
use docent_app::agent::answer::ask;
use docent_app::documents::summary::{self, SummarizedDocument};
use docent_app::maintenance::backup::{BackupOptions, restore, save};
use docent_app::maintenance::progress::NoProgress;
use docent_domain::access::Actor;
use docent_domain::chat::Message;
use docent_domain::fault::{Fault, FaultKind};
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::limits::AccountLimits;
use docent_domain::listing::{PageRequest, Period, UsageFilter, UsageGrouping};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::{AccountRoles, Scope};
use docent_domain::selection::Selection;
use docent_domain::summary::{DocumentSummary, Fallback, Place};
use docent_domain::usage::TokenUsage;
use docent_domain::user::User;
use docent_ports::chat_model::{ChatModel, ChatRequest, ChatStream};
use docent_testkit::builders;
use docent_testkit::fakes::archive::FakeArchive;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::fakes::text_extractor::{FakeTextExtractor, fake_pdf};
use futures::StreamExt;
use std::sync::Arc;
use std::time::Duration;

const PAGES: [&str; 3] = [
    "Pump manual\n\nThis manual describes the pump P9, which moves clean water in houses and gardens.",
    "Motor Service\nThe motor of the pump needs service once a year in a workshop of the maker.",
    "Winter Storage\nStorage in winter: the pump must be emptied, because frost destroys the housing.",
];

const WRITTEN: &str = "Description: A manual of the pump P9 [1].\n- The motor needs service every year [1].\n- Elephants are grey \
    [1].\n- Frost destroys the pump [9].\n? How often does the motor need service?\n? Why must the pump be emptied in winter?\n? What is xyzzy?\n";

/// A model that answers by quoting, and plays a script. Suggested questions are tried without the tool that lists documents:
/// it searches for them, and declines those with the given word.
struct Quoting {
    script: Arc<ScriptedChatModel>,
    declined: &'static str,
}

#[async_trait]
impl ChatModel for Quoting {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Fault> {
        if request.tools.len() > 1 {
            return self.script.stream(request).await;
        }
        let turn = match &request.messages[..] {
            [Message::User(question)] => Turn::searching(question),
            [Message::User(question), ..] if question.contains(self.declined) => Turn::declining("Nothing."),
            _ => Turn::saying("Quotes."),
        };
        ScriptedChatModel::new([turn]).stream(request).await
    }

    fn model(&self) -> &'static str {
        "quoting"
    }

    fn reads_records(&self) -> bool {
        true
    }
}

fn quoting(turns: impl IntoIterator<Item = Turn>) -> (Service, Arc<ScriptedChatModel>) {
    declining("Nothing like it", turns)
}

fn declining(
    declined: &'static str,
    turns: impl IntoIterator<Item = Turn>,
) -> (Service, Arc<ScriptedChatModel>) {
    let script = Arc::new(ScriptedChatModel::new(turns));
    let model = Arc::new(Quoting { script: Arc::clone(&script), declined });
    (reading(Service::new().changed(|ports| ports.model = model)), script)
}

fn connected(turns: impl IntoIterator<Item = Turn>) -> (Service, Arc<ScriptedChatModel>) {
    let script = Arc::new(ScriptedChatModel::new(turns));
    let model = Arc::clone(&script);
    (reading(Service::new().changed(|ports| ports.model = model)), script)
}

fn reading(service: Service) -> Service {
    service.changed(|ports| ports.extractor = Arc::new(FakeTextExtractor))
}

fn root() -> Actor {
    Actor::of(&User { is_superuser: true, ..builders::user(1) }).unwrap()
}

fn file(pages: &[&str]) -> String {
    String::from_utf8(fake_pdf(pages)).unwrap()
}

impl Service {
    async fn manual(&self) -> DocumentId {
        let id = self.upload(&file(&PAGES)).await;
        self.drain().await;
        id
    }

    async fn summarized(&self, actor: &Actor, id: DocumentId) -> Result<SummarizedDocument, Error> {
        let grant = actor.authorize().unwrap();
        summary::get(&self.app, actor, grant, Scope::SERVICE, id).await
    }

    async fn summary(&self, id: DocumentId) -> DocumentSummary {
        self.summarized(&root(), id).await.unwrap().summary
    }

    async fn stored(&self, id: DocumentId) -> Option<DocumentSummary> {
        self.ports.store.read().await.unwrap().documents().summary(id).await.unwrap()
    }

    async fn used_tokens(&self) -> Vec<TokenUsage> {
        let filter = UsageFilter { user: None, api_key: None, period: Period::default() };
        let grouping = UsageGrouping { by_day: false, by_user: false, by_key: false };
        let page = PageRequest { offset: 0, limit: 9 };
        let mut view = self.ports.store.read().await.unwrap();
        let sums = view.usage().sums(&filter, grouping, page).await.unwrap();
        sums.records.into_iter().map(|sum| sum.tokens).collect()
    }
}

fn texts(summary: &DocumentSummary) -> Vec<(&str, u32)> {
    summary.points.iter().map(|point| (point.text.as_str(), point.place.page)).collect()
}

#[tokio::test]
async fn summary_without_a_model_consists_of_sentences_and_answerable_questions() {
    let (service, script) = quoting([]);
    let id = service.manual().await;
    let summary = service.summary(id).await;
    let description = summary.description.as_ref().unwrap();
    assert_eq!(
        (description.text.as_str(), description.place),
        (
            "This manual describes the pump P9, which moves clean water in houses and gardens.",
            Some(Place { page: 1, chunk: 0 })
        )
    );
    assert_eq!(
        texts(&summary),
        [
            ("The motor of the pump needs service once a year in a workshop of the maker.", 2),
            ("Storage in winter: the pump must be emptied, because frost destroys the housing.", 3),
        ]
    );
    let questions: Vec<_> = summary.questions.iter().map(|it| (it.text.as_str(), it.page)).collect();
    assert_eq!(
        questions,
        [
            ("What does the document say about Motor Service?", 2),
            ("What does the document say about Winter Storage?", 3),
        ]
    );
    assert_eq!((summary.model.as_deref(), summary.fallback), (None, None));
    assert_eq!(service.stored(id).await, Some(summary));
    assert_eq!(script.requests().len(), 0);
}

#[tokio::test]
async fn stored_summary_is_returned_until_the_document_is_ingested_again() {
    let (service, _) = quoting([]);
    let id = service.manual().await;
    let first = service.summary(id).await;
    service.clock.advance(Duration::from_secs(3600));
    assert_eq!(service.summary(id).await, first);
    service
        .replace(id, &file(&["The new manual describes the valve V2, which stops the water in a pipe."]))
        .await;
    assert_eq!(service.summary(id).await, first, "the former version is read until the new one is ingested");
    service.drain().await;
    assert_eq!(service.stored(id).await, None);
    let second = service.summary(id).await;
    assert!(second.description.unwrap().text.contains("valve") && second.version != first.version);
}

#[tokio::test]
async fn question_that_would_be_declined_is_not_suggested() {
    let (service, script) = declining("Winter", []);
    let id = service.manual().await;
    let summary = service.summary(id).await;
    let questions: Vec<&str> = summary.questions.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(questions, ["What does the document say about Motor Service?"]);
    assert_eq!(script.requests().len(), 0);
}

#[tokio::test]
async fn document_that_is_not_ingested_has_no_summary() {
    let (service, _) = quoting([]);
    let id = service.upload(&file(&PAGES)).await;
    assert!(matches!(service.summarized(&root(), id).await, Err(Error::SummaryNotFound)));
    let unknown = service.summarized(&root(), builders::id(99)).await;
    assert!(matches!(unknown, Err(Error::NotFound(_))));
    let (scope, grant) = (Scope::of(&root(), AccountRoles::default()), root().authorize().unwrap());
    let none = Scope::of(&Actor::of(&builders::user(7)).unwrap(), AccountRoles::default());
    assert!(summary::get(&service.app, &root(), grant, &none, id).await.is_err(), "{scope:?}");
}

#[tokio::test]
async fn deleted_document_and_its_summary_are_gone() {
    let (service, _) = quoting([]);
    let id = service.manual().await;
    service.summary(id).await;
    docent_app::documents::delete::delete(&service.app, &root(), id).await.unwrap();
    assert!(matches!(service.summarized(&root(), id).await, Err(Error::NotFound(_))));
    service.drain().await;
    assert_eq!(service.stored(id).await, None);
}

#[tokio::test]
async fn connected_model_writes_the_summary_with_checked_citations() {
    let usage = TokenUsage { prompt: 70, completion: 30 };
    let (service, script) = connected([Turn::new().text(WRITTEN).finished(Some(usage))]);
    let id = service.manual().await;
    let summary = service.summary(id).await;
    assert_eq!(texts(&summary), [("The motor needs service every year.", 2)]);
    assert_eq!(summary.description.as_ref().unwrap().text, "A manual of the pump P9.");
    assert_eq!((summary.model.as_deref(), summary.fallback), (Some("scripted"), None));
    let questions: Vec<&str> = summary.questions.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(questions[0], "How often does the motor need service?");
    assert_eq!(questions.len(), 3);
    assert_eq!(service.used_tokens().await, [usage]);
    let requests = script.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].messages[1].content().starts_with("[1] (page 1)\nPump manual"));
    assert_eq!(service.summary(id).await, summary);
    assert_eq!(script.requests().len(), 1, "the summary is stored");
}

#[tokio::test]
async fn faults_of_the_model_fall_back_to_sentences() {
    let long = "x ".repeat(20_000);
    for (turn, fallback) in [
        (Turn::refused(FaultKind::Unavailable), Fallback::ModelFailed),
        (Turn::refused(FaultKind::RateLimited), Fallback::ModelFailed),
        (Turn::new().text("Description: A").fault(FaultKind::Timeout), Fallback::ModelTimeout),
        (Turn::saying("I cannot do that."), Fallback::InvalidOutput),
        (Turn::saying("- Elephants are grey [1]\n- Frost [99]"), Fallback::InvalidOutput),
        (Turn::saying(&long), Fallback::InvalidOutput),
    ] {
        let (service, script) = connected([turn, Turn::saying(WRITTEN)]);
        let id = service.manual().await;
        let summary = service.summary(id).await;
        assert_eq!((summary.model.as_deref(), summary.fallback), (None, Some(fallback)));
        assert_eq!(summary.points.len(), 2);
        service.clock.advance(Duration::from_secs(14 * 60));
        assert_eq!(service.summary(id).await, summary);
        assert_eq!(script.requests().len(), 1, "the model is not asked again at once");
        service.clock.advance(Duration::from_secs(60));
        assert_eq!(service.summary(id).await.model.as_deref(), Some("scripted"));
    }
}

#[tokio::test(start_paused = true)]
async fn slow_model_falls_back_to_sentences() {
    let (service, script) = connected([Turn::new().text("- The motor").stall()]);
    let id = service.manual().await;
    assert_eq!(service.summary(id).await.fallback, Some(Fallback::ModelTimeout));
    assert_eq!(script.cut_short(), 1);
    let [used] = service.used_tokens().await.try_into().unwrap();
    assert!(used.prompt > 0 && used.completion > 0, "what the model read and wrote is counted");
}

#[tokio::test]
async fn long_documents_are_summarized_in_parts() {
    let notes =
        |n: usize| Turn::saying(&format!("- The motor of series {n} needs service [{n}]\n- Elephants [{n}]"));
    let (service, script) =
        connected([notes(1), notes(2), notes(3), notes(4), notes(5), Turn::saying(WRITTEN)]);
    let words = "The motor of every pump needs service by a workshop. ".repeat(4000);
    let pages: Vec<String> = (0..3).map(|n| format!("Part {n}. {words}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let id = service.upload(&file(&pages)).await;
    service.drain().await;
    let summary = service.summary(id).await;
    assert_eq!(summary.model.as_deref(), Some("scripted"));
    let requests = script.requests();
    assert_eq!(requests.len(), 6);
    let last = requests[5].messages[1].content();
    assert!(last.contains("- The motor of series 1 needs service [1]"), "{last}");
    assert!(!last.contains("Elephants"), "{last}");
    for request in &requests {
        let tokens: usize = request.messages.iter().map(|it| docent_app::tokens::count(it.content())).sum();
        assert!(tokens < 9000, "{tokens} tokens");
    }
}

#[tokio::test]
async fn concurrent_requests_ask_the_model_once() {
    let (service, script) = connected([Turn::saying(WRITTEN)]);
    let id = service.manual().await;
    let summaries = futures::future::join_all((0..4).map(|_| service.summary(id))).await;
    assert!(summaries.iter().all(|summary| summary.model.as_deref() == Some("scripted")));
    assert_eq!(script.requests().len(), 1);
}

#[tokio::test]
async fn account_without_tokens_gets_sentences() {
    let (service, script) = connected([Turn::saying(WRITTEN)]);
    let id = service.manual().await;
    let mut work = service.ports.store.begin().await.unwrap();
    let used = builders::usage(1, builders::user(1).id);
    let used = docent_domain::usage::UsageRecord { at: service.app.now(), ..used };
    work.usage().insert(&used).await.unwrap();
    work.commit().await.unwrap();
    let limits = AccountLimits { tokens_per_day: Some(1), ..AccountLimits::default() };
    let poor = Actor::of(&User { limits, ..builders::user(1) }).unwrap();
    let summary = service.summarized(&poor, id).await.unwrap().summary;
    assert_eq!((summary.fallback, script.requests().len()), (Some(Fallback::NotAllowed), 0));
    assert_eq!(
        service.summary(id).await.model.as_deref(),
        Some("scripted"),
        "another account may ask the model"
    );
}

#[tokio::test]
async fn faults_of_stores_are_reported_and_an_unstored_summary_is_returned() {
    let (service, _) = quoting([]);
    let id = service.manual().await;
    service.index_switch.fail_next(1, FaultKind::Unavailable);
    assert!(matches!(service.summarized(&root(), id).await, Err(Error::Fault(_))));
    service.store_switches.commit.fail_next(1, FaultKind::Unavailable);
    let summary = service.summary(id).await;
    assert_eq!((summary.points.len(), service.stored(id).await), (2, None));
    assert_eq!(service.summary(id).await, summary);
}

#[tokio::test]
async fn backup_keeps_summaries() {
    let (service, _) = quoting([]);
    let id = service.manual().await;
    let summary = service.summary(id).await;
    let archive = FakeArchive::default();
    let options = BackupOptions { program: "0.1.0".to_owned(), schema: "current".to_owned(), chunks: true };
    save(&service.app, options, archive.writer(), &NoProgress).await.unwrap();
    let (other, _) = quoting([]);
    restore(&other.app, &archive, &NoProgress).await.unwrap();
    assert_eq!(other.stored(id).await, Some(summary));
}

/// Asks with a script whose first turn calls the tool; returns the output of the tool and the sources of the answer.
async fn listed(
    service: &Service,
    script: &ScriptedChatModel,
    arguments: &str,
    selection: Selection,
) -> (String, Vec<ScoredChunk>) {
    script.push(Turn::new().tool_call("1", "list_documents", arguments).stop());
    script.push(Turn::saying("Done."));
    let actor = root();
    let grant = actor.authorize().unwrap();
    let messages = vec![Message::User("What is it about?".to_owned())];
    let request = AgentRequest { selection, ..AgentRequest::new(actor, messages) };
    let agent = service.app.agent("chat").unwrap();
    let answer = ask(&service.app, grant, agent, request).await.unwrap();
    let events: Vec<_> = answer.collect().await;
    let sources = match events.last() {
        Some(Ok(docent_app::agent::AnswerEvent::Sources(sources))) => sources.clone(),
        other => panic!("{other:?}"),
    };
    let requests = script.requests();
    let output = requests.last().unwrap().messages.iter().rev().find_map(|message| match message {
        Message::Tool(output) => Some(output.content.clone()),
        Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
    });
    (output.unwrap(), sources)
}

#[tokio::test]
async fn tool_returns_the_summary_of_the_only_or_named_document() {
    let (service, script) = quoting([]);
    let all = Selection::default();
    assert_eq!(listed(&service, &script, "{}", all.clone()).await.0, "");
    let id = service.manual().await;
    let (output, sources) = listed(&service, &script, r#"{"name": ""}"#, all.clone()).await;
    assert_eq!(
        output,
        "- a.pdf (3 pages)\n> 1 This manual describes the pump P9, which moves clean water in houses and gardens.\n> 2 The motor \
         of the pump needs service once a year in a workshop of the maker.\n> 3 Storage in winter: the pump must be \
         emptied, because frost destroys the housing."
    );
    assert_eq!(sources.len(), 1);
    assert_eq!((sources[0].document_id, sources[0].span.end.page), (id, 3));

    let other = service.upload(&file(&["Another text about valves and what they do in a pipe."])).await;
    service.drain().await;
    let both = "- a.pdf (1 page)\n- a.pdf (3 pages)";
    assert_eq!(listed(&service, &script, r#"{"name": ""}"#, all.clone()).await.0, both);
    assert_eq!(listed(&service, &script, "{}", all.clone()).await.0, both);
    assert_eq!(
        listed(&service, &script, r#"{"name": "zebra"}"#, all.clone()).await.0,
        "No document has this title."
    );
    let selected = Selection { documents: Some(vec![other]), ..Selection::default() };
    let (output, _) = listed(&service, &script, r#"{"name": ""}"#, selected.clone()).await;
    assert!(output.starts_with("- a.pdf (1 page)\n> 1 Another text"), "{output}");
    let unknown = Selection { documents: Some(vec![builders::id(99)]), ..Selection::default() };
    assert_eq!(
        listed(&service, &script, "{}", unknown).await.0,
        "- None of the selected documents is ready."
    );
}

#[tokio::test]
async fn tool_reports_a_store_that_is_down() {
    let (service, script) = quoting([]);
    let id = service.manual().await;
    let selected = Selection { documents: Some(vec![id]), ..Selection::default() };
    service.index_switch.fail_next(1, FaultKind::Unavailable);
    let error = "Error searching documents: the list of documents cannot be read.";
    let (output, sources) = listed(&service, &script, r#"{"name": ""}"#, selected.clone()).await;
    assert_eq!((output.as_str(), sources.len()), (error, 0));
    // The limits are checked first, then the roles and the list are read.
    service.store_switches.read.fail_after(1, 9, FaultKind::Unavailable);
    let (output, sources) = listed(&service, &script, "{}", selected).await;
    assert_eq!((output.as_str(), sources.len()), (error, 0));
    service.store_switches.read.clear();
    assert_eq!(service.document(id).await.version_id, VersionId::first(id));
}
