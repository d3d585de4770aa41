//! The spans of traces that the use cases make, all in one place.
//!
//! A span says what was done, of which kind, how long it took and whether it worked. It never holds what
//! people wrote or what a document says: no question, answer, passage, title, file name, address or token.
//! Names and fields follow the semantic conventions of OpenTelemetry where they have any.

use crate::App;
use docent_domain::{
    chat::AgentName, id::ConversationId, job::Job, metrics::Stage, trace::TraceParent, usage::TokenUsage,
};
use tracing::{Span, field::Empty};

/// The header of a request's place in a trace.
const TRACEPARENT: &str = "traceparent";

impl App {
    /// Whether requests and jobs belong to traces.
    pub fn is_traced(&self) -> bool {
        self.traces.is_some()
    }

    /// Makes the span of a request part of the trace that its headers name, and returns the span's place in it.
    /// `header` returns the value of a header by its name in lower case.
    pub fn join_trace<'a>(
        &self,
        span: &Span,
        header: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Option<TraceParent> {
        let traces = self.traces.as_ref()?;
        traces.extract(span, header);
        let mut place = None;
        traces.inject(span, &mut |name, value| {
            if name == TRACEPARENT {
                place = TraceParent::parse(value);
            }
        });
        place
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

/// Adds what an answer cost.
pub(crate) fn record_tokens(span: &Span, tokens: TokenUsage) {
    span.record("gen_ai.usage.input_tokens", tokens.prompt);
    span.record("gen_ai.usage.output_tokens", tokens.completion);
}

/// One run of a tool that is offered; never the name that a model made up.
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

/// One try at a job. At the level of errors, so that whatever is logged within tells which document it is
/// about, by the fields whose names have no dot.
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

/// Writing down what became of a job.
pub(crate) fn settle() -> Span {
    tracing::info_span!("settle", otel.status_code = Empty, error.type = Empty)
}

/// Marks a span's work as failed; `kind` is one of a few words for programs.
pub(crate) fn fail(span: &Span, kind: &'static str) {
    span.record("otel.status_code", "ERROR");
    span.record("error.type", kind);
}
