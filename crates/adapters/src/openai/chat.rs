//! Chat models with an OpenAI-compatible completions endpoint.

mod models;
mod reader;
mod request;

#[cfg(test)]
mod tests;

use super::backend::{BackendSettings, Endpoint, InvalidBackend};
use super::fault::{BackendError, CallError, record_fault};
use super::optional::OptionalField;
use async_trait::async_trait;
use docent_domain::chat::{FinishReason, Message};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream};
use docent_ports::clock::Clock;
use futures::{StreamExt, stream};
use reader::{CompletionReader, ReadLimits};
use request::{ChatRequestBody, RequestForm, has_later_system_message};
use reqwest::Response;
use std::sync::Arc;
use std::time::Duration;
use tracing::field::Empty;
use tracing::{Instrument, Span};

/// The time for a whole response, unless it is set.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15 * 60);

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
    usage: OptionalField,
    later_system_messages: OptionalField,
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
            models: endpoint(&["models"])?,
            address: chat.display_url().trim_end_matches("/chat/completions").to_owned(),
            endpoint: Arc::new(chat),
            model: settings.model.clone(),
            timeout: settings.timeout,
            answer_timeout: ANSWER_TIMEOUT,
            usage: OptionalField::default(),
            later_system_messages: OptionalField::default(),
        })
    }

    /// Limits the time that the back end takes for a whole response.
    #[must_use]
    pub fn with_answer_timeout(self, answer_timeout: Duration) -> Self {
        Self { answer_timeout, ..self }
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

    /// Sends a request in the form that the back end supports: without `stream_options`, or with one system message at the
    /// beginning, which chat templates of some models require.
    async fn send(&self, request: &ChatRequest) -> Result<Response, CallError> {
        if !has_later_system_message(&request.messages) {
            return self.send_in_order(request, true).await;
        }
        let post = |in_order| self.send_in_order(request, in_order);
        let unsupported = "the chat back end accepts system messages only at the beginning; its prompt cache applies less often";
        self.later_system_messages.call(post, unsupported).await
    }

    async fn send_in_order(&self, request: &ChatRequest, in_order: bool) -> Result<Response, CallError> {
        let post = |wants_usage| async move {
            let form = RequestForm { wants_usage, moves_system_messages: !in_order };
            let body = ChatRequestBody::new(&self.model, request, form)?;
            self.endpoint.post(&body, self.timeout).await
        };
        let unsupported = "the chat back end does not support stream_options; tokens are counted locally";
        self.usage.call(post, unsupported).await
    }
}

#[async_trait]
impl ChatModel for OpenAiChatModel {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let span = self.span();
        let begin = async {
            let redactor = Redactor { endpoint: Arc::clone(&self.endpoint), request };
            let response = self.send(&redactor.request).await.map_err(|error| redactor.redact(error));
            let response = response.inspect_err(|fault| record_fault(&span, fault))?;
            let limits = ReadLimits { output: self.timeout, response: self.answer_timeout };
            let reader = CompletionReader::new(response, redactor.request.messages.len(), limits);
            let mut completion = CompletionStream { reader, redactor, span: span.clone() };
            // The port returns a fault before the first event as the error of this call.
            match completion.next().await {
                Some(Ok(first)) => Ok((first, completion)),
                Some(Err(fault)) => Err(fault),
                None => {
                    Err(Fault::new(Component::ChatModel, FaultKind::Internal, "the response has no events"))
                }
            }
        };
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
    redactor: Redactor,
    span: Span,
}

impl CompletionStream {
    async fn next(&mut self) -> Option<Result<ChatEvent>> {
        match self.reader.next().await? {
            Ok(event) => {
                if let ChatEvent::Finished { reason, usage } = &event {
                    self.record_end(*reason, *usage);
                }
                Some(Ok(event))
            }
            Err(error) => {
                let fault = self.redactor.redact(error);
                record_fault(&self.span, &fault);
                Some(Err(fault))
            }
        }
    }

    fn record_end(&self, reason: FinishReason, usage: Option<TokenUsage>) {
        let metadata = self.reader.metadata();
        self.span.record("gen_ai.response.id", metadata.id.as_deref());
        self.span.record("gen_ai.response.model", metadata.model.as_deref());
        let name = match reason {
            FinishReason::Stop | FinishReason::Declined => "stop",
            FinishReason::ToolCalls => "tool_calls",
            FinishReason::Length => "length",
            FinishReason::Other => "other",
        };
        self.span.record("gen_ai.response.finish_reasons", name);
        if let Some(usage) = usage {
            self.span.record("gen_ai.usage.input_tokens", usage.prompt);
            self.span.record("gen_ai.usage.output_tokens", usage.completion);
        }
    }
}
