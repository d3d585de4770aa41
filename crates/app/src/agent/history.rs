//! Conversation history within the token budget.

use super::request::AgentRequest;
use crate::error::Result;
use crate::tokens::Counter;
use crate::{App, conversations};
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

/// Tokens that a model adds to each message, about.
const MESSAGE_TOKENS: usize = 4;

/// A question and its answer.
struct Exchange {
    question: String,
    answer: String,
}

/// What the model receives of a conversation.
#[derive(Debug, PartialEq)]
pub(super) struct Input {
    /// The messages of the first model call, without the agent's system prompt.
    pub(super) messages: Vec<Message>,
    /// Number of the client's messages that are left out.
    pub(super) left_out: usize,
}

/// The messages of the request, with the latest recorded exchanges that fit the token budget inserted before the
/// question. The client's instructions stay first.
///
/// A client that sends earlier messages itself has its own history, and nothing is added to it. Its oldest turns are left out if
/// they exceed the token budget.
pub(super) async fn input(app: &App, request: &AgentRequest) -> Result<Input> {
    let mut messages = request.messages.clone();
    let sent = messages.iter().filter(|message| !is_system(message)).count();
    if sent > 1 {
        return Ok(without_oldest(messages, app.settings.client_history_tokens).await?);
    }
    let budget = app.settings.conversation_history_tokens;
    if let (Some(conversation), 1, 1..) = (request.conversation, sent, budget) {
        let before = match request.replaces {
            Some(answer) => Some(conversations::replaced_question(app, conversation, answer).await?),
            None => None,
        };
        let earlier = latest_exchanges(app, conversation, before, budget).await?;
        let history = earlier.into_iter().flat_map(|Exchange { question, answer }| {
            [Message::User(question), Message::Assistant { content: answer, tool_calls: Vec::new() }]
        });
        let at = messages.iter().position(|message| matches!(message, Message::User(_))).unwrap_or(0);
        messages.splice(at..at, history);
    }
    Ok(Input { messages, left_out: 0 })
}

fn is_system(message: &Message) -> bool {
    matches!(message, Message::System(_))
}

/// Leaves out the oldest turns before the last question that exceed the token budget. Instructions are never left out, nor is what
/// follows the question: calls of the client's functions and their outputs.
async fn without_oldest(mut messages: Vec<Message>, budget: usize) -> Result<Input, Fault> {
    let before = messages.iter().rposition(|message| matches!(message, Message::User(_))).unwrap_or(0);
    let all = messages.len();
    let earlier = messages.iter().take(before).filter(|message| !is_system(message));
    // A token has at least one byte, so short conversations need not be counted.
    let most: usize = earlier.map(|message| message.content().len() + MESSAGE_TOKENS).sum();
    if most <= budget {
        return Ok(Input { messages, left_out: 0 });
    }
    // Counting tokens is CPU-bound.
    let counted = tokio::task::spawn_blocking(move || {
        let start = first_kept(messages.get(..before).unwrap_or_default(), budget);
        let mut at = 0..;
        messages.retain(|message| at.next().is_none_or(|at| at >= start) || is_system(message));
        messages
    });
    let messages = counted.await.map_err(|_| counting_panicked())?;
    Ok(Input { left_out: all - messages.len(), messages })
}

/// The position of the first turn that fits with all later ones. A turn begins with a message of the user.
fn first_kept(earlier: &[Message], budget: usize) -> usize {
    let counter = Counter::default();
    let (mut start, mut left) = (earlier.len(), budget);
    for (at, message) in earlier.iter().enumerate().rev() {
        if !is_system(message) {
            let text = message.content();
            let cannot_fit = text.len() as u64 / TOKEN_BYTES_MAX > left as u64;
            let tokens =
                if cannot_fit { usize::MAX } else { counter.count(text).saturating_add(MESSAGE_TOKENS) };
            let Some(rest) = left.checked_sub(tokens) else { return start };
            left = rest;
        }
        if matches!(message, Message::User(_)) {
            start = at;
        }
    }
    // Messages before the first of the user, such as a greeting.
    0
}

fn counting_panicked() -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "token counting panicked")
}

/// The latest exchanges before an ordinal that fit the token budget, oldest first.
async fn latest_exchanges(
    app: &App,
    conversation: ConversationId,
    before: Option<u32>,
    budget: usize,
) -> Result<Vec<Exchange>> {
    let mut view = app.store.read().await?;
    let count = PageRequest { offset: 0, limit: 1 };
    let total = view.conversations().message_sizes(conversation, count).await?.total;
    let mut end = before.map_or(total, |before| total.min(u64::from(before)));
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
        let (fitting, rest) = fitting.map_err(|_| counting_panicked())?;
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

/// Pairs each question with its answer. Questions without an answer are left out: they do not help the model. So are those that
/// were replaced.
fn exchanges(messages: Vec<ConversationMessage>) -> Vec<Exchange> {
    let (mut exchanges, mut pending) = (Vec::new(), None);
    for message in messages.into_iter().filter(|message| message.replaced_at.is_none()) {
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

    /// Messages by the first letter of their role.
    fn messages(roles: &str) -> Vec<Message> {
        let message = |role| match role {
            's' => Message::System("Be brief.".to_owned()),
            'u' => Message::User("hello world".to_owned()),
            _ => Message::Assistant { content: "hello world".to_owned(), tool_calls: Vec::new() },
        };
        roles.chars().map(message).collect()
    }

    #[tokio::test]
    async fn oldest_turns_over_the_budget_are_left_out_whole() {
        // Each message has 2 tokens and those of a message, so a turn of two has 12.
        for (roles, budget, kept, left_out) in [
            ("uauau", 24, "uauau", 0),
            ("uauau", 23, "uau", 2),
            ("uauau", 12, "uau", 2),
            ("uauau", 11, "u", 4),
            ("uauau", 0, "u", 4),
            ("suauau", 12, "suau", 2),
            ("suasuau", 0, "ssu", 4),
            ("auau", 18, "auau", 0),
            ("auau", 17, "uau", 1),
            ("uaau", 17, "u", 3),
            ("uuau", 12, "uau", 1),
        ] {
            let input = without_oldest(messages(roles), budget).await.unwrap();
            assert_eq!(input, Input { messages: messages(kept), left_out }, "{roles} {budget}");
        }
    }

    #[tokio::test]
    async fn message_that_cannot_fit_is_not_counted() {
        let mut all = messages("uau");
        all[0] = Message::User(" ".repeat(1 << 20));
        let input = without_oldest(all, 100).await.unwrap();
        assert_eq!(input, Input { messages: messages("u"), left_out: 2 });
    }

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
