//! Tests with a scripted model.

use super::StepResult::{Failed, Passed, Warning};
use super::*;
use docent_testkit::fakes::chat_model::{ScriptedChatModel, Turn};
use docent_testkit::faults::{FaultSwitch, Faulty};
use std::sync::Arc;

/// A model of a back end that offers these models.
fn model(models: &[&str], turns: impl IntoIterator<Item = Turn>) -> ScriptedChatModel {
    let model = ScriptedChatModel::new(turns);
    model.offer(models);
    model
}

fn count() -> Turn {
    Turn::saying("one two three")
}

/// The results of the steps, by code.
fn results(check: &ModelCheck) -> Vec<(&'static str, StepResult)> {
    check.steps.iter().map(|step| (step.step.code(), step.result)).collect()
}

fn last(check: &ModelCheck) -> String {
    let step = check.steps.last().unwrap();
    format!("{} {}", step.message, step.advice.as_deref().unwrap_or_default())
}

#[tokio::test]
async fn working_model_passes_every_step() {
    let model = model(
        &["other", "scripted"],
        [count(), Turn::searching("visitors"), Turn::saying("On Sundays [1].")],
    );
    let check = check(&model).await;
    assert_eq!((check.model.as_str(), check.address.as_deref()), ("scripted", Some("http://127.0.0.1:1/v1")));
    let passed = ["models", "answer", "tool_call", "tool_output"].map(|code| (code, Passed));
    assert_eq!(results(&check), passed);
    assert!(check.is_usable() && check.steps.iter().all(|step| step.advice.is_none()));
    assert_eq!(check.steps[2].message, "The model searched for “visitors”.");
    let requests = model.requests();
    assert!(requests[0].tools.is_empty() && requests[1].tools == [search_docs::SPEC]);
    assert!(requests[2].messages.starts_with(&requests[1].messages), "{requests:?}");
    assert!(matches!(&requests[2].messages[3..], [Message::Tool(_), Message::System(_)]));
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
    let check = super::check(&refused).await;
    assert_eq!(results(&check), [("models", Warning), ("answer", Failed)]);
    assert!(!check.is_usable() && last(&check).contains("DOCENT_LLM_MODEL to one of: m0, m1,"), "{check:?}");
    assert!(last(&check).ends_with("m19 and others."), "{check:?}");
    let none = super::check(&model(&[], [count(), Turn::searching("x"), Turn::saying("Yes.")])).await;
    assert_eq!(none.steps[0].result, Warning);
    assert!(none.is_usable(), "a server may have no list");
    let tagged = model(&["scripted:latest"], [Turn::refused(FaultKind::Timeout)]);
    assert_eq!(results(&super::check(&tagged).await), [("models", Passed), ("answer", Failed)]);
}

#[tokio::test]
async fn each_problem_of_a_model_has_its_advice() {
    let written = r#"{"name": "search_docs", "arguments": {"query": "visitors"}}"#;
    for (turns, step, result, words) in [
        (vec![Turn::new().text("one two").stop()], Step::Answer, Warning, "in one piece"),
        (vec![Turn::new().stop()], Step::Answer, Failed, "no text"),
        (vec![count(), Turn::saying("I do not know.")], Step::ToolCall, Failed, "without a tool call"),
        (vec![count(), Turn::saying(written)], Step::ToolCall, Failed, "as text: {\"name\""),
        (
            vec![count(), Turn::refused(FaultKind::Rejected)],
            Step::ToolCall,
            Failed,
            "--enable-auto-tool-choice",
        ),
        (vec![count(), Turn::refused(FaultKind::RateLimited)], Step::ToolCall, Failed, "rate"),
        (
            vec![count(), Turn::new().tool_call("a", "find", "{}").stop()],
            Step::ToolCall,
            Failed,
            "called find with {}",
        ),
        (vec![count(), Turn::searching("x"), Turn::new().stop()], Step::ToolOutput, Failed, "no text"),
        (
            vec![count(), Turn::searching("x"), Turn::searching("y")],
            Step::ToolOutput,
            Warning,
            "searched again",
        ),
        (
            vec![count(), Turn::searching("x"), Turn::refused(FaultKind::Rejected)],
            Step::ToolOutput,
            Failed,
            "tool results",
        ),
    ] {
        let model = model(&["scripted"], turns);
        let check = check(&model).await;
        let found = check.steps.iter().find(|checked| checked.step == step).unwrap();
        let text = format!("{} {}", found.message, found.advice.as_deref().unwrap_or_default());
        assert!(found.result == result && text.contains(words), "{words}: {check:?}");
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
        assert!(last(&check).contains(words), "{check:?}");
    }
}

#[tokio::test]
async fn server_without_a_list_of_models_is_checked_further() {
    let switch = FaultSwitch::new(Component::ChatModel);
    let turns = [count(), Turn::searching("x"), Turn::saying("Yes.")];
    let inner: Arc<dyn ChatModel> = Arc::new(model(&["scripted"], turns));
    switch.fail_next(1, FaultKind::InvalidResponse);
    let check = check(&Faulty::new(inner, &switch)).await;
    assert_eq!(results(&check)[..2], [("models", Warning), ("answer", Passed)]);
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
        let text = advice::of(&fault, Some("http://h/v1"), listed);
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[tokio::test]
async fn endless_answer_is_not_read_to_its_end() {
    let endless = Turn::new().text(&"word ".repeat(400)).text(&"word ".repeat(401)).stall();
    let model = model(&["scripted"], [endless, Turn::searching("x"), Turn::saying("Yes.")]);
    assert!(check(&model).await.is_usable());
    assert_eq!(model.cut_short(), 1);
}
