//! Conversation history within the token budget.

use super::request::AgentRequest;
use crate::App;
use crate::error::Result;
use crate::tokens::Counter;
use docent_domain::chat::Message;
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::ConversationId;
use docent_domain::listing::PageRequest;
use docent_ports::conversations::MessageSize;

/// Recorded messages whose sizes one query reads, newest first.
const STEP: u64 = 16;
/// Maximum size of the messages that one query reads in bytes, except for a single exchange.
const STEP_BYTES: u64 = 1 << 20;
/// No token of the vocabulary has more bytes.
const TOKEN_BYTES_MAX: u64 = 128;

/// A question and its answer.
struct Exchange {
    question: String,
    answer: String,
}

/// The messages of the request, with the latest recorded exchanges that fit the token budget inserted before the
/// question. The client's instructions stay first.
///
/// A client that sends earlier messages itself has its own history, and nothing is added to it.
pub(super) async fn with_history(app: &App, request: &AgentRequest) -> Result<Vec<Message>> {
    let mut messages = request.messages.clone();
    let sent = messages.iter().filter(|message| !matches!(message, Message::System(_))).count();
    let budget = app.settings.conversation_history_tokens;
    if let (Some(conversation), 1, 1..) = (request.conversation, sent, budget) {
        let earlier = latest_exchanges(app, conversation, budget).await?;
        let history = earlier.into_iter().flat_map(|Exchange { question, answer }| {
            [Message::User(question), Message::Assistant { content: answer, tool_calls: Vec::new() }]
        });
        let at = messages.iter().position(|message| matches!(message, Message::User(_))).unwrap_or(0);
        messages.splice(at..at, history);
    }
    Ok(messages)
}

/// The latest exchanges that fit the token budget, oldest first.
async fn latest_exchanges(app: &App, conversation: ConversationId, budget: usize) -> Result<Vec<Exchange>> {
    let mut view = app.store.read().await?;
    let count = PageRequest { offset: 0, limit: 1 };
    let mut end = view.conversations().message_sizes(conversation, count).await?.total;
    let (mut latest, mut left) = (Vec::new(), budget);
    while end > 0 {
        // Exchanges are recorded as pairs, so an even offset is between two of them.
        let start = end.saturating_sub(STEP) / 2 * 2;
        let page = PageRequest { offset: start, limit: end - start };
        let sizes = view.conversations().message_sizes(conversation, page).await?.records;
        let limit = readable(&sizes, left);
        if limit == 0 {
            break;
        }
        let start = end.saturating_sub(limit);
        let page = PageRequest { offset: start, limit };
        let read = exchanges(view.conversations().messages(conversation, page).await?.records);
        // Counting tokens is CPU-bound.
        let fitting = tokio::task::spawn_blocking(move || fit(read, left)).await;
        let (fitting, rest) = fitting
            .map_err(|_| Fault::new(Component::Service, FaultKind::Internal, "token counting panicked"))?;
        latest.extend(fitting);
        let Some(rest) = rest else { break };
        (left, end) = (rest, start);
    }
    latest.reverse();
    Ok(latest)
}

/// How many of the last messages to read: whole exchanges, newest first, that can fit the token budget. None if the
/// last exchange is certainly too long.
fn readable(sizes: &[MessageSize], budget: usize) -> u64 {
    let text_max = (budget as u64).saturating_mul(TOKEN_BYTES_MAX);
    let (mut text, mut bytes, mut count) = (0, 0, 0);
    for exchange in sizes.rchunks(2) {
        text += exchange.iter().map(|size| size.text).sum::<u64>();
        bytes += exchange.iter().copied().map(MessageSize::total).sum::<u64>();
        if text > text_max || (count > 0 && bytes > STEP_BYTES) {
            break;
        }
        count += exchange.len() as u64;
    }
    count
}

/// The exchanges that fit, newest first, and the remaining budget if all of them fit.
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

/// Pairs each question with its answer. Questions without an answer are left out: they do not help the model.
fn exchanges(messages: Vec<ConversationMessage>) -> Vec<Exchange> {
    let (mut exchanges, mut pending) = (Vec::new(), None);
    for message in messages {
        match (message.role, pending.take()) {
            (MessageRole::User, _) => pending = Some(message.content),
            (MessageRole::Agent { .. }, Some(question)) if !message.content.trim().is_empty() => {
                exchanges.push(Exchange { question, answer: message.content });
            }
            (MessageRole::Agent { .. }, _) => {}
        }
    }
    exchanges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_that_cannot_fit_are_not_read() {
        let text = |text| MessageSize { text, sources: 0 };
        let small = [text(10), text(20)];
        let large = [text(10), text(4 << 20)];
        assert_eq!(readable(&[small, small].concat(), 4000), 4);
        assert_eq!(readable(&[large, small].concat(), 4000), 2);
        assert_eq!(readable(&[small, large].concat(), 4000), 0);
        assert_eq!(readable(&[], 4000), 0);
        let sourced = [text(10), MessageSize { text: 10, sources: STEP_BYTES }];
        assert_eq!(readable(&[small, sourced].concat(), 4000), 2, "sources do not count as text");
        assert_eq!(readable(&[sourced, small].concat(), 4000), 2, "one query reads few bytes");
    }
}
