//! The search tool: whether the model calls it, and answers from its output.

use super::call::{Caller, Output, shown};
use super::{CheckedStep, RecommendedSetting, Report, Step, StepResult, advice};
use crate::agent::prompt::GROUNDED;
use crate::agent::{first_search, tool};
use crate::search::search_docs;
use crate::settings::SearchMode;
use crate::settings::Settings;
use docent_domain::chat::{Message, ToolCall, ToolOutput};
use docent_domain::fault::{Fault, FaultCause, FaultKind};
use docent_ports::chat_model::ChatRequest;

const QUESTION: &str = "What do the documents say about the visitors of the museum?";
const PASSAGE: &str = "The docent shows the visitors around the museum every Sunday at three o'clock.";
const PROVENANCE: &str = "Where the passages above come from: 1. Museum guide.pdf, page 1";

/// Who searches, as far as the model and its server allow.
enum Search {
    /// The model, with this call.
    ByModel(ToolCall),
    /// The service, before the model is called.
    First {
        /// Whether requests can offer tools.
        offers_tools: bool,
    },
}

pub(super) async fn check(report: &mut Report<'_>, caller: &mut Caller<'_>, settings: &Settings) {
    let search = match caller.call(question(settings)).await {
        Ok(output) => of_output(report, output),
        Err(fault) => of_fault(report, caller, &fault),
    };
    let Some(search) = search else { return };
    if matches!(search, Search::First { .. }) && settings.agent_search != SearchMode::First {
        report.recommend([RecommendedSetting::new("DOCENT_AGENT_SEARCH", "first")]);
    }
    report.add(check_tool_output(caller, settings, search).await);
}

/// A question about documents, with the system prompt of the service.
fn question(settings: &Settings) -> ChatRequest {
    let prompt = settings.system_prompt.clone().unwrap_or_else(|| GROUNDED.to_owned());
    let messages = vec![Message::System(prompt), Message::User(QUESTION.to_owned())];
    ChatRequest { messages, tools: vec![search_docs::SPEC], ..ChatRequest::default() }
}

/// Adds the steps about the model's reply.
fn of_output(report: &mut Report<'_>, output: Output) -> Option<Search> {
    let step = Step::ToolCall;
    let first = Some(Search::First { offers_tools: true });
    if output.is_reasoning_only() {
        let message = "The model wrote only its reasoning, and did not search.";
        report.add(CheckedStep::warning(step, message, advice::LONG_REASONING));
        return first;
    }
    let Some(call) = output.calls.into_iter().next() else {
        let is_written = output.text.contains(search_docs::SPEC.name) && output.text.contains('{');
        report.add(if is_written {
            let message = format!("The model wrote the tool call as text: {}", shown(&output.text));
            CheckedStep::not_supported(step, message, advice::CALL_IN_TEXT)
        } else {
            let message = "The model answered without a search.";
            CheckedStep::not_supported(step, message, advice::TOOLS_IGNORED)
        });
        return first;
    };
    if call.name != search_docs::SPEC.name {
        let message = format!("The model called {}, which there is not.", shown(&call.name));
        report.add(CheckedStep::not_supported(step, message, advice::INVALID_CALL));
        return first;
    }
    report.add(CheckedStep::passed(step, "The model called the search tool."));
    let step = Step::ToolArguments;
    let ToolCall { id, name, arguments } = call;
    let call = ToolCall { id, name, arguments: tool::normalized(arguments) };
    match search_docs::query(&call) {
        Some(query) => {
            report.add(CheckedStep::passed(step, format!("They are JSON: “{}”.", shown(&query))));
            Some(Search::ByModel(call))
        }
        None => {
            let message = format!("They are not JSON with a query: {}", shown(&call.arguments));
            report.add(CheckedStep::not_supported(step, message, advice::INVALID_CALL));
            first
        }
    }
}

/// Adds the step about a request that failed.
fn of_fault(report: &mut Report<'_>, caller: &Caller<'_>, fault: &Fault) -> Option<Search> {
    let step = Step::ToolCall;
    if fault.known_cause() == Some(FaultCause::ToolsUnsupported) {
        let advice = advice::TOOLS_UNSUPPORTED;
        report.add(CheckedStep::of_fault(step, StepResult::NotSupported, fault, advice));
        return Some(Search::First { offers_tools: false });
    }
    let is_refused = fault.kind() == FaultKind::Rejected || fault.status() == Some(500);
    let advice = match (is_refused, fault.known_cause()) {
        (true, None | Some(FaultCause::ServerError)) => advice::TOOLS_REFUSED.to_owned(),
        _ => advice::for_fault(fault, caller.model.address().as_deref(), &[]),
    };
    report.add(CheckedStep::of_fault(step, StepResult::Failed, fault, advice));
    None
}

async fn check_tool_output(caller: &mut Caller<'_>, settings: &Settings, search: Search) -> CheckedStep {
    let step = Step::ToolOutput;
    match caller.call(searched(settings, search)).await {
        Err(fault) => {
            let advice = match fault.is_transient() {
                true => advice::for_fault(&fault, caller.model.address().as_deref(), &[]),
                false => advice::OUTPUT_REFUSED.to_owned(),
            };
            CheckedStep::of_fault(step, StepResult::Failed, &fault, advice)
        }
        Ok(output) if !output.text.trim().is_empty() => {
            CheckedStep::passed(step, format!("The model answered: {}", shown(&output.text)))
        }
        Ok(output) if !output.calls.is_empty() => CheckedStep::warning(
            step,
            "The model searched again instead of answering.",
            advice::SEARCHES_AGAIN,
        ),
        Ok(output) if output.is_reasoning_only() => {
            CheckedStep::warning(step, "The model wrote only its reasoning.", advice::LONG_REASONING)
        }
        Ok(_) => CheckedStep::failed(step, "The model returned no text.", advice::NO_TEXT),
    }
}

/// The question with a search result, in the form in which the service sends it.
fn searched(settings: &Settings, search: Search) -> ChatRequest {
    let mut request = question(settings);
    let (call, offers_tools) = match search {
        Search::ByModel(call) => (call, true),
        Search::First { offers_tools } => (first_search::call(QUESTION), offers_tools),
    };
    let output =
        ToolOutput { call_id: call.id.clone(), content: PASSAGE.to_owned(), ..ToolOutput::default() };
    if offers_tools {
        request.messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] });
        request.messages.push(Message::Tool(output));
        request.messages.push(Message::System(PROVENANCE.to_owned()));
    } else {
        first_search::add_to_question(&mut request.messages, &output, &[]);
        request.tools.clear();
    }
    request
}
