//! Determines the next action from the conversation.

use super::SEARCH_TOOL;
use crate::builtin::lexical::{beginning, query_terms};
use docent_domain::chat::{Message, ToolOutput};
use docent_domain::retrieval::ScoredChunk;
use docent_ports::chat_model::ChatRequest;

/// Prefix of the output of a failed search.
const SEARCH_ERROR: &str = "Error searching documents:";
/// Longer questions are cut before the search.
const QUESTION_CHARS: usize = 2000;
/// Maximum number of earlier questions that a follow-up question includes.
const MAX_EARLIER_QUESTIONS: usize = 3;

/// The next action.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Call the search tool.
    Search {
        /// The search query.
        query: String,
        /// The ID of the call.
        call_id: String,
    },
    /// Answer from passages.
    Quote {
        /// The question, including earlier questions that it refers to.
        question: String,
        /// The search results, best first.
        passages: Vec<ScoredChunk>,
        /// The results of a second search for names, if there was one.
        name_results: Option<Vec<ScoredChunk>>,
        /// The ID of a further call; `None` without a search tool.
        call_id: Option<String>,
    },
    /// Report that the search failed.
    ReportFailure,
    /// Report that there is no search tool.
    RefuseWithoutSearch,
    /// Return a greeting.
    Greet,
    /// Explain what can be asked.
    Introduce,
}

pub(super) fn next_action(request: &ChatRequest) -> Action {
    let messages = &request.messages;
    let Some(asked_at) = messages.iter().rposition(|message| matches!(message, Message::User(_))) else {
        return Action::Introduce;
    };
    let (before, after) = messages.split_at(asked_at + 1);
    let outputs: Vec<&ToolOutput> = after.iter().filter_map(tool_output).collect();
    let asked: Vec<&str> = before.iter().filter_map(user_text).collect();
    let question = question(&asked);
    let can_search = request.tools.iter().any(|tool| tool.name == SEARCH_TOOL);
    let call_id = || format!("search_{asked_at}_{}", outputs.len() + 1);
    if !outputs.is_empty() {
        return from_outputs(&outputs, question, can_search.then(call_id));
    }
    let last = asked.last().copied().unwrap_or_default();
    if is_greeting(last) {
        Action::Greet
    } else if query_terms(&question).is_empty() {
        Action::Introduce
    } else if can_search {
        Action::Search { query: question, call_id: call_id() }
    } else {
        Action::RefuseWithoutSearch
    }
}

fn from_outputs(outputs: &[&ToolOutput], question: String, call_id: Option<String>) -> Action {
    if outputs.iter().any(|output| output.content.starts_with(SEARCH_ERROR)) {
        return Action::ReportFailure;
    }
    let passages = |output: &&ToolOutput| output.passages.clone();
    let first = outputs.first().map(passages).unwrap_or_default();
    Action::Quote { question, passages: first, name_results: outputs.get(1).map(passages), call_id }
}

fn tool_output(message: &Message) -> Option<&ToolOutput> {
    match message {
        Message::Tool(output) => Some(output),
        Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
    }
}

fn user_text(message: &Message) -> Option<&str> {
    match message {
        Message::User(text) => Some(text),
        Message::System(_) | Message::Assistant { .. } | Message::Tool(_) => None,
    }
}

/// Returns the last question, preceded by the earlier ones that it refers to.
fn question(asked: &[&str]) -> String {
    let mut included = Vec::new();
    for text in asked.iter().rev().take(MAX_EARLIER_QUESTIONS + 1) {
        included.push(beginning(text.trim(), QUESTION_CHARS));
        if !is_follow_up(text) {
            break;
        }
    }
    included.reverse();
    included.join(" ")
}

/// Openings of follow-up questions.
const CONTINUATIONS: [&str; 8] =
    ["and", "or", "what about", "how about", "also", "same for", "the same for", "why is that"];
/// Pronouns that refer to an earlier question.
const PRONOUNS: [&str; 10] =
    ["it", "its", "they", "them", "their", "this", "that", "these", "those", "there"];
/// Questions with more words are not follow-ups because of a pronoun.
const MAX_FOLLOW_UP_WORDS: usize = 8;

/// Whether a question refers to the previous one: it begins like a follow-up, or is short and contains a pronoun.
fn is_follow_up(question: &str) -> bool {
    let words = plain_words(question);
    let begins = |opening: &str| {
        let mut words = words.iter();
        opening.split(' ').all(|expected| words.next().is_some_and(|word| word == expected))
    };
    let pronoun = words.iter().any(|word| PRONOUNS.contains(&word.as_str()));
    CONTINUATIONS.iter().any(|opening| begins(opening)) || (words.len() <= MAX_FOLLOW_UP_WORDS && pronoun)
}

const GREETINGS: [&str; 14] = [
    "hello",
    "hi",
    "hey",
    "greetings",
    "good",
    "morning",
    "afternoon",
    "evening",
    "day",
    "there",
    "thanks",
    "thank",
    "you",
    "docent",
];

fn is_greeting(text: &str) -> bool {
    let words = plain_words(text);
    let greets = words
        .first()
        .is_some_and(|word| matches!(word.as_str(), "hello" | "hi" | "hey" | "greetings" | "good"));
    greets && words.iter().all(|word| GREETINGS.contains(&word.as_str()))
}

fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follow_up_includes_earlier_questions() {
        assert_eq!(question(&["What is the head of a pump?"]), "What is the head of a pump?");
        assert_eq!(
            question(&["Service interval for valves?", "And for pumps?"]),
            "Service interval for valves? And for pumps?"
        );
        assert_eq!(
            question(&["Who makes pumps?", "Where are they made?"]),
            "Who makes pumps? Where are they made?"
        );
        assert_eq!(question(&["a?", "b?", "and c?", "and d?"]), "b? and c? and d?");
        assert_eq!(
            question(&["Who makes pumps?", "What is the warranty of the crane model X?"]),
            "What is the warranty of the crane model X?"
        );
    }

    #[test]
    fn greeting_contains_nothing_else() {
        assert!(is_greeting("Hello!") && is_greeting("hi there") && is_greeting("Good morning"));
        assert!(!is_greeting("Hello, what is a pump?") && !is_greeting("") && !is_greeting("good pumps"));
    }
}
