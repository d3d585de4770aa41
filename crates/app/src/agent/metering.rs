//! Counting what an answer costs, and writing it down.

use super::answer::Question;
use crate::{App, Error, spans, tokens, usage};
use docent_domain::{
    chat::{AgentName, Message, ToolCall},
    id::UsageId,
    usage::{TokenUsage, UsageRecord},
};
use tracing::Span;

/// Counts the model calls of one answer. Calls that the back end reports no usage for are counted here.
#[derive(Debug, Default)]
pub(super) struct Meter {
    reported: TokenUsage,
    read: Vec<String>,
    written: Vec<String>,
}

impl Meter {
    /// Counts one model call.
    pub(super) fn add(
        &mut self,
        reported: Option<TokenUsage>,
        messages: &[Message],
        text: &str,
        calls: &[ToolCall],
    ) {
        match reported {
            Some(usage) => self.reported += usage,
            None => {
                self.read.extend(messages.iter().map(|message| content(message).to_owned()));
                self.written.push(text.to_owned());
                self.written.extend(calls.iter().map(|call| call.arguments.clone()));
            }
        }
    }

    /// The sum. Nothing, should counting fail: the answer has been given.
    pub(super) async fn sum(self) -> TokenUsage {
        // Counting is work for the processor, and the first time loads the vocabulary.
        let count = tokio::task::spawn_blocking(move || {
            let sum = |texts: &[String]| texts.iter().map(|text| tokens::count(text) as u64).sum::<u64>();
            let mut total = self.reported;
            total += TokenUsage { prompt: sum(&self.read), completion: sum(&self.written) };
            total
        });
        count.await.unwrap_or_default()
    }
}

/// Writes what an answer cost into the ledger. A fault is logged: the answer has been given.
pub(super) async fn record(
    app: &App,
    question: &Question,
    agent: AgentName,
    tokens: TokenUsage,
    span: &Span,
) {
    spans::record_tokens(span, tokens);
    app.recorder.tokens_used(&agent, app.model.model(), tokens);
    let record = UsageRecord {
        id: app.new_id(UsageId::generate),
        user: question.actor.user(),
        api_key: question.actor.api_key(),
        conversation: question.conversation,
        agent,
        model: app.model.model().to_owned(),
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

fn content(message: &Message) -> &str {
    match message {
        Message::System(text) | Message::User(text) | Message::Assistant { content: text, .. } => text,
        Message::Tool(output) => &output.content,
    }
}
