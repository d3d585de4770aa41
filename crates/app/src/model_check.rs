//! Checks whether the chat model can be used: its address, key and name, streaming, and tool calls.

mod advice;

#[cfg(test)]
mod tests;

use crate::App;
use crate::agent::search_docs;
use docent_domain::access::{Grant, ViewJobs};
use docent_domain::chat::{Message, ToolCall, ToolOutput};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest};
use futures::StreamExt;
use std::time::Duration;

/// Longest duration of a step. The model may be loaded for the first one.
const TIMEOUT: Duration = Duration::from_secs(180);
/// Reading stops after this many bytes of text, because some models do not end.
const TEXT_MAX: usize = 4000;
/// Maximum number of characters of text of the model in a message.
const SHOWN_CHARS: usize = 100;
/// Maximum number of model names in a message.
const SHOWN_MODELS: usize = 20;

/// How to connect a model to a service with the built-in answerer.
pub const HOW_TO_CONNECT: &str = "Set DOCENT_LLM_BASE_URL to the address of a chat-completions API, such as \
    http://127.0.0.1:11434/v1, DOCENT_LLM_MODEL to the name of a model, and DOCENT_LLM_API_KEY if the server needs a key; then restart \
    the service.";

const COUNT: &str = "Write the numbers from one to ten as words, separated by spaces. Write nothing else.";
const INSTRUCTIONS: &str =
    "Look for the answer with the tool search_docs before you answer. Answer in one sentence.";
const QUESTION: &str = "What do the documents say about the visitors of the museum?";
const PASSAGE: &str = "The docent shows the visitors around the museum every Sunday at three o'clock.";
const PROVENANCE: &str = "Where the passage above comes from: 1. Museum guide.pdf, page 1";

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCheck {
    /// Name of the model.
    pub model: String,
    /// Address of its back end; `None` for the built-in answerer, which needs no check.
    pub address: Option<String>,
    /// The steps in order. A step that others depend on is the last one if it failed.
    pub steps: Vec<CheckedStep>,
}

impl ModelCheck {
    /// Whether a model is connected and no step failed.
    pub fn is_usable(&self) -> bool {
        self.address.is_some() && self.steps.iter().all(|step| step.result != StepResult::Failed)
    }
}

/// A step of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Listing the models of the back end.
    Models,
    /// A streamed answer.
    Answer,
    /// A call of the search tool.
    ToolCall,
    /// An answer from the output of the tool.
    ToolOutput,
}

impl Step {
    /// What the step tries.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Models => "List of models",
            Self::Answer => "Streamed answer",
            Self::ToolCall => "Tool call",
            Self::ToolOutput => "Answer from a search result",
        }
    }

    /// Machine-readable name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Answer => "answer",
            Self::ToolCall => "tool_call",
            Self::ToolOutput => "tool_output",
        }
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// As expected.
    Passed,
    /// The model can be used nevertheless.
    Warning,
    /// Answers will fail or will not be from documents.
    Failed,
}

/// A step that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedStep {
    /// The step.
    pub step: Step,
    /// How it ended.
    pub result: StepResult,
    /// What happened.
    pub message: String,
    /// What to do about it, unless it passed.
    pub advice: Option<String>,
}

impl CheckedStep {
    fn passed(step: Step, message: impl Into<String>) -> Self {
        Self { step, result: StepResult::Passed, message: message.into(), advice: None }
    }

    fn warning(step: Step, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { step, result: StepResult::Warning, message: message.into(), advice: Some(advice.into()) }
    }

    fn failed(step: Step, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { step, result: StepResult::Failed, message: message.into(), advice: Some(advice.into()) }
    }
}

/// Name and address of the service's model, without a check.
pub fn connection(app: &App, _grant: &Grant<ViewJobs>) -> ModelCheck {
    unchecked(&*app.model)
}

/// Checks the service's model.
pub async fn check_service(app: &App, _grant: Grant<ViewJobs>) -> ModelCheck {
    check(&*app.model).await
}

/// Checks a model with four short requests.
pub async fn check(model: &dyn ChatModel) -> ModelCheck {
    let mut check = unchecked(model);
    if check.address.is_none() {
        return check;
    }
    let (models, listed) = check_models(model).await;
    let is_down = models.result == StepResult::Failed;
    check.steps.push(models);
    if is_down {
        return check;
    }
    let answer = check_answer(model, &listed).await;
    let has_answer = answer.result != StepResult::Failed;
    check.steps.push(answer);
    if has_answer {
        let (step, call) = check_tool_call(model).await;
        check.steps.push(step);
        if let Some(call) = call {
            check.steps.push(check_tool_output(model, call).await);
        }
    }
    check
}

fn unchecked(model: &dyn ChatModel) -> ModelCheck {
    ModelCheck { model: model.model().to_owned(), address: model.address(), steps: Vec::new() }
}

/// Returns the names of the models too; none if the back end has no list.
async fn check_models(model: &dyn ChatModel) -> (CheckedStep, Vec<String>) {
    let step = Step::Models;
    let listed = match in_time(model.models()).await {
        Ok(models) => models,
        Err(fault) if is_without_list(&fault) => {
            let message = format!("The server has no list of models ({}).", fault.report());
            return (CheckedStep::warning(step, message, advice::NO_LIST), Vec::new());
        }
        Err(fault) => {
            let advice = advice::of(&fault, model.address().as_deref(), &[]);
            return (CheckedStep::failed(step, fault.report(), advice), Vec::new());
        }
    };
    let name = model.model();
    // Ollama adds the tag to a name without one.
    let is_listed = listed.iter().any(|known| known == name || known.strip_suffix(":latest") == Some(name));
    let checked = if listed.is_empty() {
        CheckedStep::warning(step, "The server offers no models.", advice::NO_MODELS)
    } else if is_listed {
        CheckedStep::passed(step, format!("The server offers {name}."))
    } else {
        let message = format!("{name} is not in the list of the server.");
        CheckedStep::warning(step, message, advice::choose_from(&listed))
    };
    (checked, listed)
}

/// Whether the back end responds, but not with a list of models. Not every server has one.
fn is_without_list(fault: &Fault) -> bool {
    match fault.status() {
        Some(status) => matches!(status, 400 | 403 | 404 | 405 | 501),
        None => fault.kind() == FaultKind::InvalidResponse,
    }
}

async fn check_answer(model: &dyn ChatModel, listed: &[String]) -> CheckedStep {
    let step = Step::Answer;
    let request = ChatRequest { messages: vec![Message::User(COUNT.to_owned())], tools: Vec::new() };
    match in_time(read(model, request)).await {
        Err(fault) => {
            let advice = advice::of(&fault, model.address().as_deref(), listed);
            CheckedStep::failed(step, fault.report(), advice)
        }
        Ok(output) if output.text.trim().is_empty() => {
            CheckedStep::failed(step, "The model returned no text.", advice::NO_TEXT)
        }
        Ok(output) if output.pieces == 1 => {
            CheckedStep::warning(step, "The answer came in one piece.", advice::NOT_STREAMED)
        }
        Ok(output) => {
            CheckedStep::passed(step, format!("The answer was streamed in {} pieces.", output.pieces))
        }
    }
}

fn question() -> ChatRequest {
    let messages = vec![Message::System(INSTRUCTIONS.to_owned()), Message::User(QUESTION.to_owned())];
    ChatRequest { messages, tools: vec![search_docs::SPEC] }
}

/// Returns the call too, if it is valid.
async fn check_tool_call(model: &dyn ChatModel) -> (CheckedStep, Option<ToolCall>) {
    let step = Step::ToolCall;
    let output = match in_time(read(model, question())).await {
        Ok(output) => output,
        Err(fault) if fault.kind() == FaultKind::Rejected || fault.status() == Some(500) => {
            return (CheckedStep::failed(step, fault.report(), advice::TOOLS_REFUSED), None);
        }
        Err(fault) => {
            let advice = advice::of(&fault, model.address().as_deref(), &[]);
            return (CheckedStep::failed(step, fault.report(), advice), None);
        }
    };
    let Some(call) = output.calls.into_iter().next() else {
        let is_written = output.text.contains(search_docs::SPEC.name) && output.text.contains('{');
        let failed = if is_written {
            let message = format!("The model wrote the tool call as text: {}", shown(&output.text));
            CheckedStep::failed(step, message, advice::CALL_IN_TEXT)
        } else {
            CheckedStep::failed(step, "The model answered without a tool call.", advice::TOOLS_IGNORED)
        };
        return (failed, None);
    };
    match search_docs::query(&call) {
        Some(query) => {
            (CheckedStep::passed(step, format!("The model searched for “{}”.", shown(&query))), Some(call))
        }
        None => {
            let message = format!("The model called {} with {}", shown(&call.name), shown(&call.arguments));
            (CheckedStep::failed(step, message, advice::INVALID_CALL), None)
        }
    }
}

async fn check_tool_output(model: &dyn ChatModel, call: ToolCall) -> CheckedStep {
    let step = Step::ToolOutput;
    let mut request = question();
    let output =
        ToolOutput { call_id: call.id.clone(), content: PASSAGE.to_owned(), ..ToolOutput::default() };
    request.messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] });
    request.messages.push(Message::Tool(output));
    request.messages.push(Message::System(PROVENANCE.to_owned()));
    match in_time(read(model, request)).await {
        Err(fault) => CheckedStep::failed(step, fault.report(), advice::OUTPUT_REFUSED),
        Ok(output) if !output.text.trim().is_empty() => {
            CheckedStep::passed(step, format!("The model answered: {}", shown(&output.text)))
        }
        Ok(output) if !output.calls.is_empty() => CheckedStep::warning(
            step,
            "The model searched again instead of answering.",
            advice::SEARCHES_AGAIN,
        ),
        Ok(_) => CheckedStep::failed(step, "The model returned no text.", advice::NO_TEXT),
    }
}

/// The output of a model call.
#[derive(Default)]
struct Output {
    text: String,
    pieces: usize,
    calls: Vec<ToolCall>,
}

async fn read(model: &dyn ChatModel, request: ChatRequest) -> Result<Output, Fault> {
    let mut stream = model.stream(request).await?;
    let mut output = Output::default();
    while let Some(event) = stream.next().await {
        match event? {
            ChatEvent::Text(text) => {
                output.pieces += 1;
                output.text.push_str(&text);
            }
            ChatEvent::Reasoning(_) => {}
            ChatEvent::ToolCall(call) => output.calls.push(call),
            ChatEvent::Finished { .. } => break,
        }
        if output.text.len() > TEXT_MAX {
            break;
        }
    }
    Ok(output)
}

async fn in_time<T>(call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let late = || Fault::new(Component::ChatModel, FaultKind::Timeout, "the step took over 3 minutes");
    tokio::time::timeout(TIMEOUT, call).await.unwrap_or_else(|_| Err(late()))
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
