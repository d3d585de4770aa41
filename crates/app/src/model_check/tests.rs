//! Tests with a scripted model.

use super::StepResult::{Failed, NotSupported, Passed, Warning};
use super::context::Budget;
use super::*;
use crate::search::search_docs;
use crate::settings::SearchMode;
use docent_domain::chat::{FinishReason, Message};
use docent_domain::fault::{Component, FaultCause};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::OptionalPart;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::faults::{FaultSwitch, Faulty};
use std::sync::Arc;

const ALL: [&str; 7] =
    ["models", "answer", "system_messages", "tool_call", "tool_arguments", "tool_output", "context_length"];
/// More than the service sends.
const LONG: u64 = 131_072;

/// A model of a back end that offers these models and has a long context.
fn model(models: &[&str], turns: impl IntoIterator<Item = Turn>) -> ScriptedChatModel {
    let model = ScriptedChatModel::new(turns);
    model.offer(models);
    model.set_context_length(LONG);
    model
}

fn count() -> Turn {
    Turn::saying("one two three")
}

/// The turns before the tool call.
fn opening() -> [Turn; 2] {
    [count(), Turn::saying("A house.")]
}

fn working() -> Vec<Turn> {
    opening().into_iter().chain([Turn::searching("visitors"), Turn::saying("On Sundays [1].")]).collect()
}

async fn check(model: &dyn ChatModel) -> ModelCheck {
    check_with(model, &Settings::default(), CheckLimits::default()).await
}

async fn check_with(model: &dyn ChatModel, settings: &Settings, limits: CheckLimits) -> ModelCheck {
    let mut told = Vec::new();
    let check = super::check(model, settings, limits, &mut |step| told.push(step.clone())).await;
    assert_eq!(check.steps, told);
    check
}

/// The results of the steps, by code.
fn results(check: &ModelCheck) -> Vec<(&'static str, StepResult)> {
    check.steps.iter().map(|step| (step.step.code(), step.result)).collect()
}

fn settings(check: &ModelCheck) -> Vec<String> {
    check.settings.iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect()
}

fn found(check: &ModelCheck, step: Step) -> (StepResult, String) {
    let found = check.steps.iter().find(|checked| checked.step == step).unwrap();
    (found.result, format!("{} {}", found.message, found.advice.as_deref().unwrap_or_default()))
}

fn last(check: &ModelCheck) -> String {
    found(check, check.steps.last().unwrap().step).1
}

#[tokio::test]
async fn working_model_passes_every_step() {
    let model = model(&["other", "scripted"], working());
    let check = check(&model).await;
    assert_eq!((check.model.as_str(), check.address.as_deref()), ("scripted", Some("http://127.0.0.1:1/v1")));
    assert_eq!(results(&check), ALL.map(|code| (code, Passed)));
    assert!(check.is_usable() && check.steps.iter().all(|step| step.advice.is_none()));
    assert_eq!(check.steps[4].message, "They are JSON: “visitors”.");
    assert!(check.settings.is_empty(), "{check:?}");
    let requests = model.requests();
    assert!(requests.iter().all(|request| request.max_tokens.is_some()), "{requests:?}");
    assert!(requests[0].tools.is_empty() && requests[2].tools == [search_docs::SPEC]);
    assert!(matches!(
        &requests[1].messages[..],
        [Message::System(_), .., Message::System(_), Message::User(_)]
    ));
    assert!(requests[3].messages.starts_with(&requests[2].messages), "{requests:?}");
    assert!(matches!(&requests[3].messages[3..], [Message::Tool(_), Message::System(_)]));
}

#[tokio::test]
async fn builtin_answerer_is_not_checked() {
    let model = ScriptedChatModel::default();
    let check = check(&model).await;
    assert!(check.address.is_none() && check.steps.is_empty() && !check.is_usable());
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn unknown_model_is_reported_with_the_list() {
    let many: Vec<String> = (0..30).map(|n| format!("m{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let refused = model(&many, [Turn::refused(FaultKind::Rejected)]);
    let checked = check(&refused).await;
    assert_eq!(results(&checked), [("models", Warning), ("answer", Failed)]);
    assert!(
        !checked.is_usable() && last(&checked).contains("DOCENT_LLM_MODEL to one of: m0, m1,"),
        "{checked:?}"
    );
    assert!(last(&checked).ends_with("m19 and others."), "{checked:?}");
    let none = check(&model(&[], working())).await;
    assert_eq!(none.steps[0].result, Warning);
    assert!(none.is_usable(), "a server may have no list");
    let tagged = model(&["scripted:latest"], [Turn::refused(FaultKind::Timeout)]);
    assert_eq!(results(&check(&tagged).await), [("models", Passed), ("answer", Failed)]);
}

#[tokio::test]
async fn each_problem_of_a_model_has_its_advice() {
    let written = r#"{"name": "search_docs", "arguments": {"query": "visitors"}}"#;
    let after_opening =
        |turns: &[Turn]| opening().into_iter().chain(turns.iter().cloned()).collect::<Vec<_>>();
    let reasoning = || Turn::new().reasoning("Hm.").ending(FinishReason::Length);
    let memory = Turn::refused_because(FaultKind::Unavailable, FaultCause::OutOfMemory);
    for (turns, step, result, words) in [
        (vec![Turn::new().text("one two").stop()], Step::Answer, Warning, "in one piece"),
        (vec![Turn::new().stop()], Step::Answer, Failed, "no text"),
        (vec![reasoning()], Step::Answer, Warning, "only its reasoning"),
        (
            vec![memory],
            Step::Answer,
            Failed,
            "is out of memory (out_of_memory): a scripted fault Give the server",
        ),
        (
            vec![count(), Turn::refused(FaultKind::Rejected)],
            Step::SystemMessages,
            Failed,
            "in such a message",
        ),
        (vec![count(), Turn::refused(FaultKind::RateLimited)], Step::SystemMessages, Failed, "rate"),
        (
            after_opening(&[Turn::refused(FaultKind::Rejected)]),
            Step::ToolCall,
            Failed,
            "--enable-auto-tool-choice",
        ),
        (after_opening(&[Turn::refused(FaultKind::RateLimited)]), Step::ToolCall, Failed, "rate"),
        (after_opening(&[Turn::searching("x"), Turn::new().stop()]), Step::ToolOutput, Failed, "no text"),
        (
            after_opening(&[Turn::searching("x"), Turn::searching("y")]),
            Step::ToolOutput,
            Warning,
            "searched again",
        ),
        (
            after_opening(&[Turn::searching("x"), reasoning()]),
            Step::ToolOutput,
            Warning,
            "only its reasoning",
        ),
        (
            after_opening(&[Turn::searching("x"), Turn::refused(FaultKind::Rejected)]),
            Step::ToolOutput,
            Failed,
            "tool results",
        ),
        (after_opening(&[Turn::saying("I do not know.")]), Step::ToolCall, NotSupported, "without a search"),
        (after_opening(&[Turn::saying(written)]), Step::ToolCall, NotSupported, "as text: {\"name\""),
        (
            after_opening(&[Turn::new().tool_call("a", "find", "{}").stop()]),
            Step::ToolCall,
            NotSupported,
            "called find,",
        ),
        (
            after_opening(&[Turn::new().tool_call("a", "search_docs", "museum").stop()]),
            Step::ToolArguments,
            NotSupported,
            "not JSON with a query: museum",
        ),
        (after_opening(&[reasoning()]), Step::ToolCall, Warning, "did not search"),
    ] {
        let check = check(&model(&["scripted"], turns)).await;
        let (found, text) = found(&check, step);
        assert!(found == result && text.contains(words), "{words}: {check:?}");
    }
}

#[tokio::test]
async fn model_that_does_not_search_needs_a_search_before_it_is_called() {
    let unsupported = Turn::refused_because(FaultKind::Rejected, FaultCause::ToolsUnsupported);
    for (reply, roles) in [
        (Turn::saying("I do not know."), "suats"),
        (Turn::new().tool_call("a", "search_docs", "museum").stop(), "suats"),
        (unsupported, "su"),
    ] {
        let turns = || opening().into_iter().chain([reply.clone(), Turn::saying("On Sundays.")]);
        let refusing = model(&["scripted"], turns());
        let checked = check(&refusing).await;
        assert!(checked.is_usable(), "{checked:?}");
        assert_eq!(settings(&checked), ["DOCENT_AGENT_SEARCH=first"]);
        assert_eq!(found(&checked, Step::ToolOutput).0, Passed, "{checked:?}");
        let request = refusing.requests().pop().unwrap();
        let role = |message: &Message| match message {
            Message::System(_) => 's',
            Message::User(_) => 'u',
            Message::Assistant { .. } => 'a',
            Message::Tool(_) => 't',
        };
        assert_eq!(request.messages.iter().map(role).collect::<String>(), roles);
        assert_eq!(request.tools.is_empty(), roles == "su", "{request:?}");

        let first = Settings { agent_search: SearchMode::First, ..Settings::default() };
        let model = model(&["scripted"], turns());
        let checked = check_with(&model, &first, CheckLimits::default()).await;
        assert!(checked.is_usable() && checked.settings.is_empty(), "{checked:?}");
    }
}

#[tokio::test]
async fn parts_that_the_server_refuses_are_not_supported() {
    for (part, step) in
        [(OptionalPart::Streaming, Step::Answer), (OptionalPart::LaterSystemMessages, Step::SystemMessages)]
    {
        let model = model(&["scripted"], working());
        model.refuse(part);
        let check = check(&model).await;
        assert!(check.is_usable() && check.settings.is_empty(), "{check:?}");
        assert_eq!(found(&check, step).0, NotSupported, "{check:?}");
    }
}

#[tokio::test]
async fn unreachable_back_end_ends_the_check() {
    for (kind, words) in [
        (FaultKind::Unavailable, "DOCENT_LLM_BASE_URL, http://127.0.0.1:1/v1, is its address"),
        (FaultKind::Timeout, "DOCENT_LLM_TIMEOUT"),
    ] {
        let switch = FaultSwitch::new(Component::ChatModel);
        let inner: Arc<dyn ChatModel> = Arc::new(model(&["scripted"], []));
        switch.fail_next(1, kind);
        let check = check(&Faulty::new(inner, &switch)).await;
        assert_eq!(results(&check), [("models", Failed)]);
        assert_eq!(check.steps[0].cause, Some(kind.code()));
        assert!(last(&check).contains(words), "{check:?}");
    }
}

#[tokio::test]
async fn server_without_a_list_of_models_is_checked_further() {
    let switch = FaultSwitch::new(Component::ChatModel);
    let inner: Arc<dyn ChatModel> = Arc::new(model(&["scripted"], working()));
    switch.fail_next(1, FaultKind::InvalidResponse);
    let check = check(&Faulty::new(inner, &switch)).await;
    assert_eq!(results(&check)[..2], [("models", NotSupported), ("answer", Passed)]);
    assert!(check.is_usable());
}

#[test]
fn advice_follows_the_status() {
    let fault = |status, kind| Fault::new(Component::ChatModel, kind, "refused").with_status(status);
    let listed = ["a".to_owned()];
    for (fault, listed, words) in [
        (fault(401, FaultKind::Rejected), &[][..], "DOCENT_LLM_API_KEY"),
        (fault(403, FaultKind::Rejected), &[], "DOCENT_LLM_API_KEY"),
        (fault(404, FaultKind::Rejected), &[], "usually ends in /v1"),
        (fault(404, FaultKind::Rejected), &listed, "one of: a."),
        (fault(429, FaultKind::Rejected), &[], "no credit"),
        (fault(429, FaultKind::RateLimited), &[], "limits the rate"),
        (fault(503, FaultKind::Unavailable), &[], "see its log"),
        (fault(400, FaultKind::Rejected), &[], "refuses the request"),
    ] {
        let text = advice::for_fault(&fault, Some("http://h/v1"), listed);
        assert!(text.contains(words), "{words}: {text}");
    }
    let embedder = Fault::new(Component::Embedder, FaultKind::Rejected, "refused").with_status(401);
    assert!(advice::for_fault(&embedder, None, &[]).contains("DOCENT_EMBEDDING_API_KEY"));
}

#[tokio::test]
async fn endless_answer_is_not_read_to_its_end() {
    let piece = "word ".repeat(2000);
    let endless = Turn::new().text(&piece).text(&piece).stall();
    let model = model(&["scripted"], [endless].into_iter().chain(working().split_off(1)));
    assert!(check(&model).await.is_usable());
    assert_eq!(model.cut_short(), 1);
}

#[tokio::test]
async fn endless_reasoning_is_not_read_to_its_end() {
    let piece = "Hm. ".repeat(3000);
    let endless = Turn::new().reasoning(&piece).reasoning(&piece).stall();
    let model = ScriptedChatModel::always(endless);
    model.offer(&["scripted"]);
    model.set_context_length(LONG);
    let check = check(&model).await;
    assert!(check.is_usable(), "{check:?}");
    assert_eq!(settings(&check), ["DOCENT_AGENT_SEARCH=first"]);
    assert_eq!(model.cut_short(), 4);
}

#[tokio::test(start_paused = true)]
async fn silent_model_ends_with_the_time_of_the_check() {
    for (turn, words) in [
        (Turn::new().stall(), "it had written nothing after 5 s"),
        (Turn::new().reasoning("Hm.").stall(), "still writing its reasoning after 5 s"),
        (Turn::new().text("one").stall(), "its answer had no end after 5 s"),
    ] {
        let limits = CheckLimits { timeout: Duration::from_secs(10), service_timeout: None };
        let model = model(&["scripted"], [turn]);
        let check = check_with(&model, &Settings::default(), limits).await;
        assert_eq!(results(&check), [("models", Passed), ("answer", Failed)]);
        assert_eq!(check.steps[1].cause, Some("timeout"));
        assert!(last(&check).contains(words), "{check:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_end_with_the_whole_check() {
    let stalls = [count(), Turn::new().stall(), Turn::new().stall(), count()];
    let limits = CheckLimits { timeout: Duration::from_secs(10), service_timeout: None };
    let check = check_with(&model(&["scripted"], stalls), &Settings::default(), limits).await;
    let expected =
        [("models", Passed), ("answer", Passed), ("system_messages", Failed), ("tool_call", Failed)];
    assert_eq!(results(&check), expected);
}

/// A fault that names the context.
fn too_long(tokens: Option<u64>) -> Turn {
    let fault = Fault::new(Component::ChatModel, FaultKind::Rejected, "too long");
    let fault = fault.with_status(400).with_known_cause(FaultCause::ContextLength);
    Turn::failing(match tokens {
        Some(tokens) => fault.with_max_tokens(tokens),
        None => fault,
    })
}

/// An answer to a request of so many tokens.
fn ready(prompt: u64) -> Turn {
    let usage = Some(TokenUsage { prompt, completion: 1 });
    Turn::new().text("ready").finished(usage)
}

#[tokio::test]
async fn context_is_compared_with_what_is_sent() {
    let history = ["DOCENT_HISTORY_TOKENS"];
    let fewer = ["DOCENT_SEARCH_LIMIT", "DOCENT_HISTORY_TOKENS"];
    for (said, turns, result, names) in [
        (Some(LONG), vec![], Passed, &[][..]),
        (Some(16_384), vec![], Warning, &history),
        (Some(8192), vec![], Warning, &fewer),
        (Some(2048), vec![], Failed, &[]),
        (None, vec![ready(9000)], Passed, &[]),
        (None, vec![Turn::saying("ready")], Passed, &[]),
        (None, vec![ready(4096)], Warning, &fewer),
        (None, vec![too_long(Some(16_384))], Warning, &history),
        (None, vec![too_long(None), Turn::saying("ready")], Warning, &fewer),
        (None, vec![too_long(None), too_long(None), too_long(None)], Failed, &[]),
        (None, vec![Turn::refused(FaultKind::Timeout)], Warning, &[]),
        (None, vec![Turn::refused(FaultKind::Unavailable)], Failed, &[]),
    ] {
        let model = ScriptedChatModel::new(working().into_iter().chain(turns));
        model.offer(&["scripted"]);
        if let Some(said) = said {
            model.set_context_length(said);
        }
        let check = check(&model).await;
        assert_eq!(found(&check, Step::ContextLength).0, result, "{check:?}");
        let found: Vec<&str> = check.settings.iter().map(|setting| setting.name).collect();
        assert_eq!(found, names, "{check:?}");
        assert!(model.is_done() && check.is_usable() == (result != Failed), "{check:?}");
    }
}

#[test]
fn recommended_limits_fit_the_context() {
    for context in [4096, 5000, 8192, 16_384, 32_768, 65_536] {
        let (settings, fixed) = (Settings::default(), 300 + 1024);
        let recommended = Budget::of(&settings).fit(context).unwrap();
        let value = |name: &str, set: usize| {
            let found = recommended.iter().find(|setting| setting.name == name);
            found.map_or(set as u64, |setting| setting.value.parse().unwrap())
        };
        let passages = value("DOCENT_SEARCH_LIMIT", settings.search_limit);
        let set = settings.conversation_history_tokens.max(settings.client_history_tokens);
        let history = value("DOCENT_HISTORY_TOKENS", set);
        assert!(passages >= 1 && history >= 500, "{context}: {recommended:?}");
        assert!(fixed + 2 * passages * 552 + history <= context, "{context}: {recommended:?}");
    }
    assert!(Budget::of(&Settings::default()).fit(2048).is_none());
}

#[tokio::test(start_paused = true)]
async fn timeout_is_at_least_twice_the_longest_wait() {
    let model = model(&["scripted"], []);
    let mut caller = Caller::new(&model, TIMEOUT);
    let needed = |caller: &Caller<'_>, seconds| caller.longer_than(Duration::from_secs(seconds));
    assert_eq!(needed(&caller, 60), None);
    caller.note_wait(Duration::from_secs(31));
    let longer = RecommendedSetting::new("DOCENT_LLM_TIMEOUT", "90s");
    assert_eq!((needed(&caller, 60), needed(&caller, 62)), (Some(longer), None));
}
