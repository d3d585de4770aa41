//! What was said earlier in a question's conversation, as far as the model is to read it.

use super::answer::Question;
use crate::{App, error::Result, tokens::Counter};
use docent_domain::{
    chat::Message,
    conversation::{ConversationMessage, MessageRole},
    fault::{Component, Fault, FaultKind},
    id::ConversationId,
    listing::PageRequest,
};

/// Messages that are read from the record at a time, from its end on.
const STEP: u64 = 16;

/// A question and the answer to it.
struct Exchange {
    question: String,
    answer: String,
}

/// The messages that the model reads: those that were sent, and before them the earlier exchanges of the record, as
/// many of the latest as the budget has room for. Instructions of the client stay first.
///
/// A client that sends earlier turns itself has its own record, and nothing is added to it.
pub(super) async fn with_record(app: &App, question: &Question) -> Result<Vec<Message>> {
    let mut messages = question.messages.clone();
    let said = messages.iter().filter(|message| !matches!(message, Message::System(_))).count();
    let budget = app.settings.conversation_history_tokens;
    if let (Some(conversation), 1, 1..) = (question.conversation, said, budget) {
        let earlier = earlier(app, conversation, budget).await?;
        let turns = earlier.into_iter().flat_map(|Exchange { question, answer }| {
            [Message::User(question), Message::Assistant { content: answer, tool_calls: Vec::new() }]
        });
        let place = messages.iter().position(|message| matches!(message, Message::User(_))).unwrap_or(0);
        messages.splice(place..place, turns);
    }
    Ok(messages)
}

/// The latest exchanges whose tokens together are at most `budget`, the earliest first.
async fn earlier(app: &App, conversation: ConversationId, budget: usize) -> Result<Vec<Exchange>> {
    let mut view = app.store.read().await?;
    let count = PageRequest { offset: 0, limit: 1 };
    let mut end = view.conversations().messages(conversation, count).await?.total;
    let (mut latest, mut left) = (Vec::new(), budget);
    while end > 0 {
        // Exchanges are written down whole, so that an even place is between two of them.
        let start = end.saturating_sub(STEP) / 2 * 2;
        let page = PageRequest { offset: start, limit: end - start };
        let read = exchanges(view.conversations().messages(conversation, page).await?.records);
        // Counting is work for the processor.
        let fitting = tokio::task::spawn_blocking(move || fit(read, left)).await;
        let (fitting, rest) = fitting
            .map_err(|_| Fault::new(Component::Service, FaultKind::Internal, "tokens were not counted"))?;
        latest.extend(fitting);
        let Some(rest) = rest else { break };
        (left, end) = (rest, start);
    }
    latest.reverse();
    Ok(latest)
}

/// The exchanges that fit, the latest first, and what is left of the budget when all of them do.
fn fit(exchanges: Vec<Exchange>, budget: usize) -> (Vec<Exchange>, Option<usize>) {
    let counter = Counter::default();
    let (mut fitting, mut left) = (Vec::new(), budget);
    for exchange in exchanges.into_iter().rev() {
        let tokens = counter.count(&exchange.question) + counter.count(&exchange.answer);
        let Some(rest) = left.checked_sub(tokens) else { return (fitting, None) };
        left = rest;
        fitting.push(exchange);
    }
    (fitting, Some(left))
}

/// Questions with what was answered; what was not answered at all tells a model nothing.
fn exchanges(messages: Vec<ConversationMessage>) -> Vec<Exchange> {
    let (mut exchanges, mut asked) = (Vec::new(), None);
    for message in messages {
        match (message.role, asked.take()) {
            (MessageRole::User, _) => asked = Some(message.content),
            (MessageRole::Agent { .. }, Some(question)) if !message.content.trim().is_empty() => {
                exchanges.push(Exchange { question, answer: message.content });
            }
            (MessageRole::Agent { .. }, _) => {}
        }
    }
    exchanges
}
