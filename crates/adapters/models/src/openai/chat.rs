//! Chat models with an OpenAI-compatible completions endpoint.

mod context;
mod form;
mod models;
mod reader;
mod request;
mod retry;

#[cfg(test)]
mod tests;

use super::backend::{BackendSettings, Endpoint, InvalidBackend};
use super::dialect::OutputReader;
use super::fault::{BackendError, CallError, record_fault};
use async_trait::async_trait;
use docent_domain::chat::{FinishReason, Message};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream, OptionalPart};
use docent_ports::clock::Clock;
use form::SupportedForm;
use futures::{StreamExt, stream};
use reader::{CompletionReader, ReadLimits};
use request::ChatRequestBody;
use reqwest::Response;
use retry::Retries;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// The shortest limit of the time for a whole response.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// How many times as long as the timeout a whole response may take.
const ANSWER_TIMEOUTS: u32 = 15;

/// A chat model behind `POST {base_url}/chat/completions`.
///
/// Requests streamed responses, but also accepts a single JSON object. The time without output and the time for the
/// whole response are limited; dropping the stream closes the connection.
pub struct OpenAiChatModel {
    endpoint: Arc<Endpoint>,
    /// The list of models.
    models: Endpoint,
    address: String,
    model: String,
    timeout: Duration,
    answer_timeout: Duration,
    form: SupportedForm,
    /// Whether the latest response began with reasoning, whose beginning is part of the model's prompt.
    begins_in_reasoning: Arc<AtomicBool>,
    attempts: u32,
}

impl OpenAiChatModel {
    /// Creates the model without connecting.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(settings: &BackendSettings, clock: Arc<dyn Clock>) -> Result<Self, InvalidBackend> {
        let endpoint =
            |path: &[&str]| Endpoint::new(Component::ChatModel, settings, path, Arc::clone(&clock));
        let chat = endpoint(&["chat", "completions"])?;
        Ok(Self {
            models: endpoint(&models::PATH)?,
            address: chat.display_url().trim_end_matches("/chat/completions").to_owned(),
            endpoint: Arc::new(chat),
            model: settings.model.clone(),
            timeout: settings.timeout,
            answer_timeout: ANSWER_TIMEOUT.max(settings.timeout.saturating_mul(ANSWER_TIMEOUTS)),
            form: SupportedForm::default(),
            begins_in_reasoning: Arc::default(),
            attempts: retry::ATTEMPTS,
        })
    }

    /// Limits the time that the back end takes for a whole response.
    #[must_use]
    pub fn with_answer_timeout(self, answer_timeout: Duration) -> Self {
        Self { answer_timeout, ..self }
    }

    /// Limits the number of attempts of a call whose errors are tried again; at least one is made.
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    fn span(&self) -> Span {
        let (host, port) = self.endpoint.address();
        tracing::info_span!(
            "chat",
            otel.name = format_args!("chat {}", self.model),
            otel.kind = "client",
            otel.status_code = Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = "openai",
            gen_ai.request.model = self.model,
            gen_ai.response.id = Empty,
            gen_ai.response.model = Empty,
            gen_ai.response.finish_reasons = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            server.address = host,
            server.port = port,
            error.type = Empty,
        )
    }

    /// Sends a request and returns the response with its first event. Errors before it are tried again within
    /// the timeout.
    async fn begin(&self, request: ChatRequest, span: &Span) -> Result<(ChatEvent, CompletionStream)> {
        let redactor = Arc::new(Redactor { endpoint: Arc::clone(&self.endpoint), request });
        let mut retries = Retries::new(self.endpoint.clock(), self.timeout, self.attempts);
        loop {
            let fault = match self.begin_once(&redactor, span).await {
                Ok(begun) => return Ok(begun),
                Err(fault) => fault,
            };
            let Some(pause) = retries.pause_after(&fault) else { return Err(fault) };
            tracing::info!(fault = %fault, ?pause, "the call of the chat model is repeated");
            self.endpoint.clock().sleep(pause).await;
        }
    }

    async fn begin_once(
        &self,
        redactor: &Arc<Redactor>,
        span: &Span,
    ) -> Result<(ChatEvent, CompletionStream)> {
        let response = self.send(&redactor.request).await.map_err(|error| redactor.redact(error));
        let response = response.inspect_err(|fault| record_fault(span, fault))?;
        let limits = ReadLimits { output: self.timeout, response: self.answer_timeout };
        let output = self.output_reader(&redactor.request);
        let reader = CompletionReader::new(response, redactor.request.messages.len(), output, limits);
        let mut completion = CompletionStream {
            reader,
            redactor: Arc::clone(redactor),
            begins_in_reasoning: Arc::clone(&self.begins_in_reasoning),
            span: span.clone(),
        };
        // The port returns a fault before the first event as the error of this call.
        match completion.next().await {
            Some(Ok(first)) => Ok((first, completion)),
            Some(Err(fault)) => Err(fault),
            None => Err(Fault::new(Component::ChatModel, FaultKind::Internal, "the response has no events")),
        }
    }

    async fn send(&self, request: &ChatRequest) -> Result<Response, CallError> {
        let post = |form: request::RequestForm| async move {
            let body = ChatRequestBody::new(&self.model, request, form)?;
            // A response that is not streamed begins when it is complete.
            let limit = if form.is_streamed { self.timeout } else { self.answer_timeout };
            self.endpoint.post(&body, limit).await
        };
        self.form.send(request, post).await
    }

    /// Creates a reader of the response. Without offered tools, calls of the tools that were used before are
    /// recognized too, so that they are not shown as text.
    fn output_reader(&self, request: &ChatRequest) -> OutputReader {
        let mut tools: BTreeSet<&str> = request.tools.iter().map(|tool| tool.name).collect();
        for message in &request.messages {
            if let Message::Assistant { tool_calls, .. } = message {
                tools.extend(tool_calls.iter().map(|call| call.name.as_str()));
            }
        }
        let in_reasoning = self.begins_in_reasoning.load(Ordering::Relaxed);
        OutputReader::new(tools.into_iter().map(str::to_owned), in_reasoning)
    }
}

#[async_trait]
impl ChatModel for OpenAiChatModel {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let span = self.span();
        let begin = self.begin(request, &span);
        let (first, completion) = begin.instrument(span.clone()).await?;
        // Not within the span: entering it for each token costs more than reading the token.
        let rest = stream::unfold(completion, |mut completion| async move {
            let event = completion.next().await?;
            Some((event, completion))
        });
        Ok(stream::iter([Ok(first)]).chain(rest).boxed())
    }

    fn model(&self) -> &str {
        &self.model
    }

    fn address(&self) -> Option<String> {
        Some(self.address.clone())
    }

    async fn models(&self) -> Result<Vec<String>> {
        models::list(&self.models, self.timeout).await
    }

    async fn context_length(&self) -> Option<u64> {
        context::length(&self.models, &self.model, self.timeout).await
    }

    fn refused_parts(&self) -> Vec<OptionalPart> {
        self.form.refused_parts()
    }
}

/// Removes the key and the conversation from error messages.
struct Redactor {
    endpoint: Arc<Endpoint>,
    request: ChatRequest,
}

impl Redactor {
    fn redact(&self, error: CallError) -> Fault {
        match error {
            CallError::Backend(error) => self.redact_message(error),
            CallError::Fault(fault) => fault,
        }
    }

    fn redact_message(&self, error: BackendError) -> Fault {
        let texts = self.request.messages.iter().flat_map(|message| match message {
            Message::System(text) | Message::User(text) => vec![text.as_str()],
            Message::Tool(output) => vec![output.content.as_str()],
            Message::Assistant { content, tool_calls } => {
                let arguments = tool_calls.iter().map(|call| call.arguments.as_str());
                arguments.chain([content.as_str()]).collect()
            }
        });
        error.into_fault(Component::ChatModel, self.endpoint.key(), texts)
    }
}

/// A response that is being received.
struct CompletionStream {
    reader: CompletionReader,
    redactor: Arc<Redactor>,
    begins_in_reasoning: Arc<AtomicBool>,
    span: Span,
}

impl CompletionStream {
    async fn next(&mut self) -> Option<Result<ChatEvent>> {
        loop {
            match self.reader.next().await? {
                // The caller cannot run it.
                Ok(ChatEvent::ToolCall(_)) if self.redactor.request.tools.is_empty() => {}
                Ok(ChatEvent::Finished { reason, usage }) => return Some(Ok(self.finished(reason, usage))),
                Ok(event) => return Some(Ok(event)),
                Err(error) => {
                    let fault = self.redactor.redact(error);
                    record_fault(&self.span, &fault);
                    return Some(Err(fault));
                }
            }
        }
    }

    fn finished(&self, reason: FinishReason, usage: Option<TokenUsage>) -> ChatEvent {
        if let Some(began_in_reasoning) = self.reader.began_in_reasoning() {
            self.begins_in_reasoning.store(began_in_reasoning, Ordering::Relaxed);
        }
        self.record_end(reason, usage);
        let is_call = reason == FinishReason::ToolCalls && self.redactor.request.tools.is_empty();
        ChatEvent::Finished { reason: if is_call { FinishReason::Other } else { reason }, usage }
    }

    fn record_end(&self, reason: FinishReason, usage: Option<TokenUsage>) {
        let metadata = self.reader.metadata();
        self.span.record("gen_ai.response.id", metadata.id.as_deref());
        self.span.record("gen_ai.response.model", metadata.model.as_deref());
        let name = match reason {
            FinishReason::Stop | FinishReason::Declined => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::ContentFilter => "content_filter",
            FinishReason::Other => "other",
        };
        self.span.record("gen_ai.response.finish_reasons", name);
        if let Some(usage) = usage {
            self.span.record("gen_ai.usage.input_tokens", usage.prompt);
            self.span.record("gen_ai.usage.output_tokens", usage.completion);
        }
    }
}
