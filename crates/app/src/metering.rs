//! Counts and records the tokens that an answer uses.

use crate::{App, Error, spans, tokens, usage};
use docent_domain::access::Actor;
use docent_domain::chat::{AgentName, Message, ToolCall};
use docent_domain::id::{ApiKeyId, ConversationId, UsageId, UserId};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_ports::chat_model::ChatModel;
use tracing::Span;

/// Sums the token usage of the model calls of one answer. Usage that the back end does not report is counted here.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    reported: TokenUsage,
    input: Vec<String>,
    output: Vec<String>,
}

impl Meter {
    /// Adds one model call.
    pub(crate) fn add(
        &mut self,
        reported: Option<TokenUsage>,
        messages: &[Message],
        text: &str,
        calls: &[ToolCall],
    ) {
        match reported {
            Some(usage) => self.reported += usage,
            None => {
                self.input.extend(messages.iter().map(|message| message.content().to_owned()));
                self.output.push(text.to_owned());
                self.output.extend(calls.iter().map(|call| call.arguments.clone()));
            }
        }
    }

    /// The total usage. Zero if counting panics: the answer has already been sent.
    pub(crate) async fn total(self) -> TokenUsage {
        // Counting is CPU-bound, and the first count loads the vocabulary.
        let count = tokio::task::spawn_blocking(move || {
            let sum = |texts: &[String]| texts.iter().map(|text| tokens::count(text) as u64).sum::<u64>();
            let mut total = self.reported;
            total += TokenUsage { prompt: sum(&self.input), completion: sum(&self.output) };
            total
        });
        count.await.unwrap_or_default()
    }
}

/// The account whose usage is recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payer {
    pub(crate) user: UserId,
    pub(crate) api_key: Option<ApiKeyId>,
}

impl Payer {
    /// The account and the API key of this actor.
    pub(crate) fn of(actor: &Actor) -> Self {
        Self { user: actor.user(), api_key: actor.api_key() }
    }
}

/// Records the tokens that a model used for an account, in a conversation if it belongs to one. A fault is only logged: the answer has already been sent.
pub(crate) async fn record(
    app: &App,
    payer: Payer,
    conversation: Option<ConversationId>,
    agent: AgentName,
    model: &dyn ChatModel,
    tokens: TokenUsage,
    span: &Span,
) {
    spans::record_tokens(span, tokens);
    app.recorder.tokens_used(&agent, model.model(), tokens);
    let record = UsageRecord {
        id: app.new_id(UsageId::generate),
        user: payer.user,
        api_key: payer.api_key,
        conversation,
        agent,
        model: model.model().to_owned(),
        tokens,
        at: app.now(),
    };
    if let Err(error) = usage::record(app, &record).await {
        tracing::error!(error = %docent_domain::fault::report(&error), "usage could not be recorded");
        if let Error::Fault(fault) = &error {
            app.note(fault);
        }
    }
}
