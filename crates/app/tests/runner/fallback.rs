//! Answers that quote documents because the chat model fails, and the reasoning of models.

use crate::service::Service;
use async_trait::async_trait;
use docent_app::agent::answer::ask;
use docent_app::agent::registry::Agent;
use docent_app::agent::{AgentRequest, AnswerEvent, AnswerMetadata, EndReason};
use docent_app::{App, Error};
use docent_domain::access::Actor;
use docent_domain::chat::{AgentName, Message};
use docent_domain::conversation::MessageRole;
use docent_domain::fallback::FallbackCause;
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind};
use docent_domain::id::ConversationId;
use docent_domain::listing::PageRequest;
use docent_domain::usage::TokenUsage;
use docent_domain::user::User;
use docent_ports::chat_model::{ChatModel, ChatRequest, ChatStream};
use docent_testkit::builders;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::fakes::recorder::Noted;
use futures::StreamExt;
use std::sync::Arc;

/// A model that searches for the question and quotes.
struct Quoting;

#[async_trait]
impl ChatModel for Quoting {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream, Fault> {
        let turn = match &request.messages[..] {
            [.., Message::User(question)] => Turn::searching(question),
            _ => Turn::saying("A quote."),
        };
        assert_eq!(request.tools.len(), 2, "it can list documents too");
        ScriptedChatModel::new([turn]).stream(request).await
    }

    fn model(&self) -> &'static str {
        "quoting"
    }

    fn reads_records(&self) -> bool {
        true
    }
}

/// A service with a document, a model with this script, and one that quotes.
async fn service(turns: impl IntoIterator<Item = Turn>) -> Service {
    let model = Arc::new(ScriptedChatModel::new(turns));
    let service = Service::new().changed(|ports| {
        ports.model = model;
        ports.fallback_model = Some(Arc::new(Quoting));
    });
    service.upload("Zebras live in Africa.").await;
    service.drain().await;
    service
}

fn request() -> AgentRequest {
    let actor = Actor::of(&User { is_superuser: true, ..builders::user(1) }).unwrap();
    let messages = vec![Message::User("zebras".to_owned())];
    AgentRequest { quotes_as_fallback: true, ..AgentRequest::new(actor, messages) }
}

async fn answer(app: &Arc<App>, request: AgentRequest) -> Result<Vec<AnswerEvent>, Error> {
    let agent = app.agent("chat").unwrap();
    let grant = request.actor.authorize().unwrap();
    let stream = ask(app, grant, agent, request).await?;
    Ok(stream.map(|event| event.unwrap()).collect().await)
}

/// Checks that these events are a fallback with this cause, with a search and a source of its own.
fn assert_quotes(events: &[AnswerEvent], expected: FallbackCause) {
    let [AnswerEvent::Metadata(AnswerMetadata::Fallback { cause }), rest @ ..] = events else {
        panic!("{events:?}")
    };
    assert_eq!(*cause, expected);
    let searched = AnswerMetadata::Searched { query: "zebras".to_owned() };
    let text = |text: &str| AnswerEvent::Text(text.to_owned());
    let [before @ .., AnswerEvent::Sources(sources)] = rest else { panic!("{rest:?}") };
    assert_eq!(before, [searched.into(), text("A "), text("quote.")]);
    assert_eq!(sources.len(), 1);
}

// Invariant: Quotes replace an answer of the model only before its first token, only for clients that ask for
// them, and with a label that is stored.
#[tokio::test]
async fn every_fault_before_the_first_text_is_answered_with_quotes() {
    let kinds = FaultKind::ALL.into_iter().flat_map(|kind| {
        let cause = match kind {
            FaultKind::InUse => FallbackCause::Unreachable,
            FaultKind::Timeout => FallbackCause::Timeout,
            FaultKind::Unavailable | FaultKind::RateLimited | FaultKind::Full => FallbackCause::Overloaded,
            FaultKind::Rejected | FaultKind::Unconfigured => FallbackCause::Rejected,
            FaultKind::InvalidResponse | FaultKind::Internal => FallbackCause::Failed,
        };
        // The model's server breaks off its response.
        let broken_off = if kind == FaultKind::Unavailable { FallbackCause::Failed } else { cause };
        [
            (Turn::refused(kind), kind, cause),
            (Turn::new().fault(kind), kind, broken_off),
            (Turn::new().reasoning("Hm.").fault(kind), kind, broken_off),
        ]
    });
    let causes = [
        (FaultKind::Rejected, FaultCause::ContextLength, FallbackCause::ContextLength),
        (FaultKind::Unavailable, FaultCause::OutOfMemory, FallbackCause::Overloaded),
        (FaultKind::Unavailable, FaultCause::Loading, FallbackCause::Loading),
        (FaultKind::Unavailable, FaultCause::Overloaded, FallbackCause::Overloaded),
        (FaultKind::Rejected, FaultCause::UnknownModel, FallbackCause::Rejected),
        (FaultKind::Rejected, FaultCause::InvalidKey, FallbackCause::Rejected),
        (FaultKind::Rejected, FaultCause::QuotaExceeded, FallbackCause::QuotaExceeded),
        (FaultKind::Unavailable, FaultCause::ServerError, FallbackCause::Failed),
    ];
    let causes = causes.map(|(kind, cause, expected)| (Turn::refused_because(kind, cause), kind, expected));
    let unreachable = [(Turn::unreachable(), FaultKind::Unavailable, FallbackCause::Unreachable)];
    for (turn, kind, expected) in kinds.chain(causes).chain(unreachable) {
        let service = service([turn]).await;
        let events = answer(&service.app, request()).await.unwrap();
        assert_quotes(&events, expected);
        let name = AgentName::parse("chat").unwrap();
        let noted = service.recorder.noted();
        assert!(noted.contains(&Noted::Fault(Component::ChatModel, kind)), "{kind:?}: {noted:?}");
        assert!(noted.contains(&Noted::AnsweredByFallback(name, expected)), "{kind:?}: {noted:?}");
    }
}

#[tokio::test]
async fn fault_is_returned_without_the_option_or_a_search_and_after_a_content_filter() {
    let filter = || Turn::refused_because(FaultKind::Rejected, FaultCause::ContentFilter);
    let unreachable = Turn::unreachable;
    let without_option = AgentRequest { quotes_as_fallback: false, ..request() };
    for (turn, request) in [(unreachable(), without_option), (filter(), request())] {
        let service = service([turn]).await;
        let Err(Error::Fault(fault)) = answer(&service.app, request).await else { panic!() };
        assert_eq!(fault.component(), Component::ChatModel);
    }
    let service = service([unreachable()]).await;
    let agent = Agent {
        name: AgentName::parse("chat").unwrap(),
        system_prompt: None,
        tools: Vec::new(),
        max_iterations: 10,
    };
    let app = App::new(service.ports.clone(), service.app.settings().clone()).with_agent(agent);
    let Err(Error::Fault(_)) = answer(&Arc::new(app), request()).await else { panic!() };
}

// Invariant: Quotes replace an answer of the model only before its first token, only for clients that ask for
// them, and with a label that is stored.
#[tokio::test]
async fn fault_after_the_first_text_ends_the_answer() {
    for text in ["Zebras", " "] {
        let service = service([Turn::new().text(text).fault(FaultKind::Timeout)]).await;
        let agent = service.app.agent("chat").unwrap();
        let request = request();
        let stream = ask(&service.app, request.actor.authorize().unwrap(), agent, request).await.unwrap();
        let events: Vec<_> = stream.collect().await;
        let [Ok(AnswerEvent::Text(first)), .., Ok(AnswerEvent::Metadata(metadata)), Err(fault)] = &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!((first.as_str(), fault.kind()), (text, FaultKind::Timeout));
        assert_eq!(*metadata, AnswerMetadata::Incomplete { reason: EndReason::Failed });
        let is_fallback = |event: &Result<AnswerEvent, Fault>| {
            matches!(event, Ok(AnswerEvent::Metadata(AnswerMetadata::Fallback { .. })))
        };
        assert!(!events.iter().any(is_fallback), "{events:?}");
    }
}

#[tokio::test]
async fn quotes_after_searches_of_the_model_have_only_their_own_sources_and_tokens() {
    let usage = TokenUsage { prompt: 70, completion: 30 };
    let search = Turn::new().tool_call("1", "search_docs", r#"{"query":"Africa"}"#).finished(Some(usage));
    let service = service([search, Turn::refused(FaultKind::Timeout)]).await;
    let id: ConversationId = "01900000-0000-7000-8000-000000000001".parse().unwrap();
    let request = AgentRequest { conversation: Some(id), ..request() };
    assert_quotes(&answer(&service.app, request).await.unwrap(), FallbackCause::Timeout);

    let page = PageRequest { offset: 0, limit: 10 };
    let mut view = service.ports.store.read().await.unwrap();
    let messages = view.conversations().messages(id, page).await.unwrap().records;
    let MessageRole::Agent { fallback, is_complete: true, sources, .. } = &messages[1].role else {
        panic!("{messages:?}")
    };
    assert_eq!((*fallback, sources.len()), (Some(FallbackCause::Timeout), 1));
    assert_eq!(messages[1].content, "A quote.");

    assert!(service.app.finish_tasks(std::time::Duration::from_secs(60)).await);
    let used = service.recorder.noted().into_iter().filter_map(|noted| match noted {
        Noted::TokensUsed(_, model, tokens) => Some((model, tokens.completion)),
        _ => None,
    });
    let used: Vec<_> = used.collect();
    let [(first, 30), (second, 1..20)] = &used[..] else { panic!("{used:?}") };
    assert_eq!((first.as_str(), second.as_str()), ("scripted", "quoting"));
}

/// The reasoning and the text among events.
fn written(events: &[AnswerEvent]) -> (String, String) {
    let (mut reasoning, mut answer) = (String::new(), String::new());
    for event in events {
        match event {
            AnswerEvent::Text(text) => answer.push_str(text),
            AnswerEvent::Reasoning(text) => reasoning.push_str(text),
            AnswerEvent::Metadata(_)
            | AnswerEvent::Sources(_)
            | AnswerEvent::Found(_)
            | AnswerEvent::FunctionCalls(_) => {}
        }
    }
    (reasoning, answer)
}

#[tokio::test]
async fn reasoning_is_sent_only_on_request_and_up_to_its_maximum_size() {
    let call = |turn: Turn| turn.tool_call("1", "search_docs", r#"{"query":"zebras"}"#).stop();
    let long = "ä".repeat(3000);
    let thinking = |turn, count| (0..count).fold(turn, |turn: Turn, _| turn.reasoning(&long));
    for (turns, expected) in [
        (vec![call(Turn::new().reasoning("Let me ").reasoning("search."))], "Let me search.\n\nSure.".len()),
        (vec![call(thinking(Turn::new(), 8))], 32 * 1024),
        (vec![call(thinking(Turn::new(), 5)), call(thinking(Turn::new(), 1))], 32 * 1024),
    ] {
        let last = Turn::new().reasoning("Sure.").text("In Africa.").stop();
        let turns: Vec<Turn> = turns.into_iter().chain([last]).collect();
        for includes_reasoning in [true, false] {
            let service = service(turns.clone()).await;
            let request = AgentRequest { includes_reasoning, ..request() };
            let (reasoning, text) = written(&answer(&service.app, request).await.unwrap());
            assert_eq!(reasoning.len(), if includes_reasoning { expected } else { 0 });
            assert_eq!(text, "In Africa.");
        }
    }
}

#[tokio::test]
async fn quotes_can_follow_reasoning_that_was_sent() {
    let service = service([Turn::new().reasoning("Hm.").fault(FaultKind::Timeout)]).await;
    let agent = service.app.agent("chat").unwrap();
    let request = AgentRequest { includes_reasoning: true, ..request() };
    let stream = ask(&service.app, request.actor.authorize().unwrap(), agent, request).await.unwrap();
    let events: Vec<_> = stream.map(|event| event.unwrap()).collect().await;
    // The fault is known before the reasoning is read, or after it.
    let quotes = match &events[..] {
        [AnswerEvent::Reasoning(_), rest @ ..] => rest,
        all => all,
    };
    assert_quotes(quotes, FallbackCause::Timeout);
}
