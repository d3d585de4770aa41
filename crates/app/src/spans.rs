//! The trace spans of the use cases, and their propagation.
//!
//! A span holds the operation, its duration and its result. It never holds user or document content: no question,
//! answer, passage, title, file name, address or token. Names and fields follow the semantic conventions of
//! OpenTelemetry where there are any.

use crate::App;
use docent_domain::chat::AgentName;
use docent_domain::id::ConversationId;
use docent_domain::job::Job;
use docent_domain::metrics::Stage;
use docent_domain::trace::TraceParent;
use docent_domain::usage::TokenUsage;
use tracing::Span;
use tracing::field::Empty;

/// The header of the trace context.
const TRACEPARENT: &str = "traceparent";

impl App {
    /// Whether requests and jobs belong to traces.
    pub fn is_traced(&self) -> bool {
        self.traces.is_some()
    }

    /// Makes the span of a request part of the trace in its headers, and returns the trace context of the span.
    /// `header` returns the value of a header by its name in lower case.
    pub fn join_trace<'a>(
        &self,
        span: &Span,
        header: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Option<TraceParent> {
        let traces = self.traces.as_ref()?;
        traces.extract(span, header);
        let mut context = None;
        traces.inject(span, &mut |name, value| {
            if name == TRACEPARENT {
                context = TraceParent::parse(value);
            }
        });
        context
    }

    /// Makes the span of a job part of the trace of its upload.
    pub(crate) fn continue_trace(&self, span: &Span, trace: &TraceParent) {
        if let Some(traces) = &self.traces {
            traces.extract(span, &|name| (name == TRACEPARENT).then(|| trace.as_str()));
        }
    }
}

/// One answer of an agent.
pub(crate) fn invoke_agent(agent: &AgentName, model: &str, conversation: Option<ConversationId>) -> Span {
    tracing::info_span!(
        "invoke_agent",
        otel.name = format_args!("invoke_agent {agent}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.provider.name = "docent",
        gen_ai.agent.name = agent.as_str(),
        gen_ai.request.model = model,
        gen_ai.conversation.id = conversation.map(tracing::field::display),
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        error.type = Empty,
    )
}

/// Adds the tokens that an answer used.
pub(crate) fn record_tokens(span: &Span, tokens: TokenUsage) {
    span.record("gen_ai.usage.input_tokens", tokens.prompt);
    span.record("gen_ai.usage.output_tokens", tokens.completion);
}

/// One run of an offered tool; never a name that the model invented.
pub(crate) fn execute_tool(tool: &'static str) -> Span {
    tracing::info_span!(
        "execute_tool",
        otel.name = format_args!("execute_tool {tool}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        gen_ai.tool.type = "function",
        docent.search.results = Empty,
        error.type = Empty,
    )
}

/// One attempt at a job. At error level, so that every log line within it names the document, in the fields without
/// a dot in their name.
pub(crate) fn job(job: &Job) -> Span {
    let attempt = job.attempts + 1;
    tracing::error_span!(
        "job",
        job = %job.id,
        document = %job.document,
        attempt,
        otel.name = job.kind.as_str(),
        otel.kind = "consumer",
        otel.status_code = Empty,
        docent.job.id = %job.id,
        docent.job.attempt = attempt,
        docent.job.outcome = Empty,
        docent.document.id = %job.document,
        error.type = Empty,
    )
}

/// A step of an ingestion. The embedding of a large document has several, one for each batch.
pub(crate) fn stage(stage: Stage, chunks: Option<usize>) -> Span {
    tracing::info_span!(
        "stage",
        otel.name = stage.code(),
        otel.status_code = Empty,
        docent.chunks = chunks,
        error.type = Empty,
    )
}

/// Recording the outcome of a job.
pub(crate) fn settle() -> Span {
    tracing::info_span!("settle", otel.status_code = Empty, error.type = Empty)
}

/// Marks a span as failed; `kind` is one of a few machine-readable words.
pub(crate) fn fail(span: &Span, kind: &'static str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}
