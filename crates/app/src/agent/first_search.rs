//! The search before the first model call.

use super::prompt;
use crate::search::search_docs::SPEC;
use docent_domain::chat::{Message, ToolCall, ToolOutput};
use docent_domain::retrieval::ScoredChunk;

/// Maximum number of characters of the previous question that is searched for with a follow-up.
const PREVIOUS_CHARS: usize = 300;

/// What to search for: the question, with the previous one, because a follow-up has no meaning without it.
pub(super) fn query(messages: &[Message]) -> Option<String> {
    let mut questions = messages.iter().rev().filter_map(|message| match message {
        Message::User(text) => Some(text.trim()),
        Message::System(_) | Message::Assistant { .. } | Message::Tool(_) => None,
    });
    let question = questions.next().filter(|question| !question.is_empty())?;
    Some(match questions.next() {
        Some(previous) => {
            let previous: String = previous.chars().take(PREVIOUS_CHARS).collect();
            format!("{question}\n{previous}")
        }
        None => question.to_owned(),
    })
}

/// The call of the tool that the model did not make.
pub(crate) fn call(query: &str) -> ToolCall {
    numbered_call(0, query)
}

/// One of several such calls.
pub(super) fn numbered_call(n: usize, query: &str) -> ToolCall {
    let arguments = serde_json::json!({ "query": query }).to_string();
    // IDs that adapters generate do not begin with 0.
    ToolCall { id: format!("call_0_{n}"), name: SPEC.name.to_owned(), arguments }
}

/// Adds the output of the search to the question, for a model that knows no tools.
pub(crate) fn add_to_question(
    messages: &mut [Message],
    output: &ToolOutput,
    found: &[(usize, &ScoredChunk)],
) {
    let question = messages.iter_mut().rev().find_map(|message| match message {
        Message::User(text) => Some(text),
        Message::System(_) | Message::Assistant { .. } | Message::Tool(_) => None,
    });
    if let Some(question) = question {
        let places = prompt::provenance(found);
        let places = places.as_ref().map(Message::content).unwrap_or_default();
        *question =
            format!("{question}\n\nsearch_docs gave for this question:\n\n{}\n\n{places}", output.content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Message {
        Message::User(text.to_owned())
    }

    #[test]
    fn follow_up_is_searched_for_with_the_previous_question() {
        assert_eq!(query(&[user("How long?")]).as_deref(), Some("How long?"));
        let answer = Message::Assistant { content: "Five years.".to_owned(), tool_calls: Vec::new() };
        let messages = [user("How long is the warranty?"), answer, user("And of the pump?")];
        assert_eq!(query(&messages).as_deref(), Some("And of the pump?\nHow long is the warranty?"));
        assert_eq!(query(&[user(" ")]), None);
    }
}
