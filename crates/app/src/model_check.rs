//! Checks whether the chat model can be used, and which settings it needs: its address, key and name,
//! streaming, later system messages, tool calls, and the length of its context.

mod advice;
mod answers;
mod call;
mod context;
pub mod embeddings;
pub mod pictures;
mod tools;

#[cfg(test)]
mod tests;

use crate::App;
use crate::settings::Settings;
use call::Caller;
use docent_domain::access::{Grant, ViewJobs};
use docent_domain::fault::{Fault, FaultKind};
use docent_ports::chat_model::ChatModel;
use std::time::Duration;

/// Longest duration of a check, unless it is set. The model may be loaded for the first request.
pub const TIMEOUT: Duration = Duration::from_secs(5 * 60);
/// Maximum number of model names in a message.
const SHOWN_MODELS: usize = 20;

/// How to connect a model to a service with the built-in answerer.
pub const HOW_TO_CONNECT: &str = "Set DOCENT_LLM_BASE_URL to the address of a chat-completions API, such as \
    http://127.0.0.1:11434/v1, DOCENT_LLM_MODEL to the name of a model, and DOCENT_LLM_API_KEY if the server needs a key; then restart \
    the service.";

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCheck {
    /// Name of the model.
    pub model: String,
    /// Address of its back end; `None` for the built-in answerer, which needs no check.
    pub address: Option<String>,
    /// The steps in order. A step that others depend on is the last one if it failed.
    pub steps: Vec<CheckedStep>,
    /// What to set. With these settings the model can be used, if no step failed.
    pub settings: Vec<RecommendedSetting>,
}

impl ModelCheck {
    /// Whether something was checked and can be used with the recommended settings.
    pub fn is_usable(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|step| step.result != StepResult::Failed)
    }
}

/// A setting that should have another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecommendedSetting {
    /// Name of its environment variable.
    pub name: &'static str,
    /// The value.
    pub value: String,
}

impl RecommendedSetting {
    fn new(name: &'static str, value: impl ToString) -> Self {
        Self { name, value: value.to_string() }
    }
}

/// A step of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Listing the models of the back end.
    Models,
    /// A streamed answer.
    Answer,
    /// A conversation with a second system message.
    SystemMessages,
    /// A call of the search tool.
    ToolCall,
    /// The arguments of the call.
    ToolArguments,
    /// An answer from the output of the tool.
    ToolOutput,
    /// The length of the context, compared with what the service sends.
    ContextLength,
    /// Vectors of the embedding back end.
    Embeddings,
    /// A picture.
    Pictures,
}

impl Step {
    /// All steps.
    pub const ALL: [Self; 9] = [
        Self::Models,
        Self::Answer,
        Self::SystemMessages,
        Self::ToolCall,
        Self::ToolArguments,
        Self::ToolOutput,
        Self::ContextLength,
        Self::Embeddings,
        Self::Pictures,
    ];

    /// What the step tries.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Models => "List of models",
            Self::Answer => "Streamed answer",
            Self::SystemMessages => "Second system message",
            Self::ToolCall => "Tool call",
            Self::ToolArguments => "Arguments of the call",
            Self::ToolOutput => "Answer from a search result",
            Self::ContextLength => "Context length",
            Self::Embeddings => "Embeddings",
            Self::Pictures => "Pictures",
        }
    }

    /// Machine-readable name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Answer => "answer",
            Self::SystemMessages => "system_messages",
            Self::ToolCall => "tool_call",
            Self::ToolArguments => "tool_arguments",
            Self::ToolOutput => "tool_output",
            Self::ContextLength => "context_length",
            Self::Embeddings => "embeddings",
            Self::Pictures => "pictures",
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
    /// The model or its server cannot do this, and the service can be used without it, with the recommended
    /// settings.
    NotSupported,
    /// Answers will fail or will not be from documents.
    Failed,
}

impl StepResult {
    /// All results.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Warning, Self::NotSupported, Self::Failed];

    /// Machine-readable name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Warning => "warning",
            Self::NotSupported => "not_supported",
            Self::Failed => "failed",
        }
    }

    /// The result in words.
    pub const fn label(self) -> &'static str {
        match self {
            Self::NotSupported => "not supported",
            Self::Passed | Self::Warning | Self::Failed => self.code(),
        }
    }
}

/// A step that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedStep {
    /// The step.
    pub step: Step,
    /// How it ended.
    pub result: StepResult,
    /// Machine-readable name of the cause, or else of the kind, of the fault that the step ended with.
    pub cause: Option<&'static str>,
    /// What happened.
    pub message: String,
    /// What to do about it, unless it passed.
    pub advice: Option<String>,
}

impl CheckedStep {
    fn passed(step: Step, message: impl Into<String>) -> Self {
        let (result, message) = (StepResult::Passed, message.into());
        Self { step, result, cause: None, message, advice: None }
    }

    fn with_advice(
        step: Step,
        result: StepResult,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { advice: Some(advice.into()), result, ..Self::passed(step, message) }
    }

    fn warning(step: Step, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::with_advice(step, StepResult::Warning, message, advice)
    }

    fn not_supported(step: Step, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::with_advice(step, StepResult::NotSupported, message, advice)
    }

    fn failed(step: Step, message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::with_advice(step, StepResult::Failed, message, advice)
    }

    /// Adds the fault that the step ended with: its cause, and what the server says.
    fn of_fault(step: Step, result: StepResult, fault: &Fault, advice: impl Into<String>) -> Self {
        let cause = fault.known_cause().map_or(fault.kind().code(), |cause| cause.code());
        let report = fault.report();
        let told = report.strip_prefix(fault.component().name()).unwrap_or(&report);
        let mut message = fault.public_message();
        if let Some(first) = message.get(..1).map(str::to_uppercase) {
            message.replace_range(..1, &first);
        }
        let message = format!("{message} ({cause}){told}");
        Self { cause: Some(cause), ..Self::with_advice(step, result, message, advice) }
    }
}

/// Name and address of the service's model, without a check.
pub fn connection(app: &App, _grant: &Grant<ViewJobs>) -> ModelCheck {
    unchecked(&*app.model)
}

/// Checks the service's chat model, and its vision model if it has one.
pub async fn check_service(app: &App, _grant: Grant<ViewJobs>) -> ModelCheck {
    let limits = CheckLimits::default();
    let mut check = check(&*app.model, &app.settings, limits, &mut |_| {}).await;
    if let Some(model) = &app.vision_model {
        check.steps.push(pictures::check(&**model, limits.timeout / 2).await);
    }
    check
}

/// How long a check may take.
#[derive(Clone, Copy, Debug)]
pub struct CheckLimits {
    /// Longest duration of the check. A step takes at most half of it.
    pub timeout: Duration,
    /// How long the service waits for the model's next output, if the checked model waits for longer: the
    /// check then measures whether that is enough.
    pub service_timeout: Option<Duration>,
}

impl Default for CheckLimits {
    fn default() -> Self {
        Self { timeout: TIMEOUT, service_timeout: None }
    }
}

/// Checks a model with a few requests, whose answers are limited in tokens and time. `on_step` receives each
/// step when it has ended.
pub async fn check(
    model: &dyn ChatModel,
    settings: &Settings,
    limits: CheckLimits,
    on_step: &mut (dyn FnMut(&CheckedStep) + Send),
) -> ModelCheck {
    let mut report = Report { check: unchecked(model), on_step };
    if report.check.address.is_none() {
        return report.check;
    }
    let mut caller = Caller::new(model, limits.timeout);
    check_steps(&mut report, &mut caller, settings).await;
    let mut check = report.check;
    check.settings.extend(limits.service_timeout.and_then(|timeout| caller.longer_than(timeout)));
    check
}

/// A check that is being made.
struct Report<'l> {
    check: ModelCheck,
    on_step: &'l mut (dyn FnMut(&CheckedStep) + Send),
}

impl Report<'_> {
    fn add(&mut self, step: CheckedStep) {
        (self.on_step)(&step);
        self.check.steps.push(step);
    }

    fn recommend(&mut self, settings: impl IntoIterator<Item = RecommendedSetting>) {
        self.check.settings.extend(settings);
    }
}

async fn check_steps(report: &mut Report<'_>, caller: &mut Caller<'_>, settings: &Settings) {
    let (models, listed) = check_models(caller).await;
    let is_down = models.result == StepResult::Failed;
    report.add(models);
    if is_down {
        return;
    }
    let answer = answers::check_answer(caller, &listed).await;
    let has_failed = answer.result == StepResult::Failed;
    report.add(answer);
    if has_failed {
        return;
    }
    report.add(answers::check_system_messages(caller).await);
    tools::check(report, caller, settings).await;
    if report.check.is_usable() {
        context::check(report, caller, settings).await;
    }
}

/// Name and address of a model, without a check.
pub fn unchecked(model: &dyn ChatModel) -> ModelCheck {
    let (name, address) = (model.model().to_owned(), model.address());
    ModelCheck { model: name, address, steps: Vec::new(), settings: Vec::new() }
}

/// Returns the names of the models too; none if the back end has no list.
async fn check_models(caller: &Caller<'_>) -> (CheckedStep, Vec<String>) {
    let (step, model) = (Step::Models, caller.model);
    let listed = match caller.in_time(model.models()).await {
        Ok(models) => models,
        Err(fault) if is_without_list(&fault) => {
            let checked = CheckedStep::of_fault(step, StepResult::NotSupported, &fault, advice::NO_LIST);
            return (checked, Vec::new());
        }
        Err(fault) => {
            let advice = advice::for_fault(&fault, model.address().as_deref(), &[]);
            return (CheckedStep::of_fault(step, StepResult::Failed, &fault, advice), Vec::new());
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
