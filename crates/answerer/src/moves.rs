//! Decides what the answerer does next: a turn of the conversation without a search, a call of a tool, or an answer.

use crate::question::{complete, is_follow_up};
use crate::words::{Move, Words, plain};
use crate::{LIST_TOOL, SEARCH_TOOL};
use docent_domain::chat::{Message, ToolOutput};
use docent_ports::chat_model::ChatRequest;
use docent_text::lexical::beginning;

/// Longer questions are cut.
const QUESTION_CHARS: usize = 4000;
/// A follow-up is completed with at most this many questions before it.
const EARLIER: usize = 3;

/// A conversation, read from the messages of a request.
pub(crate) struct Conversation<'a> {
    /// The last question as it was asked.
    pub(crate) asked: &'a str,
    /// The words of its language. A choice is a title, so its language is that of the question back.
    pub(crate) words: &'static Words,
    /// The question that is answered: completed, or the one before.
    pub(crate) question: String,
    /// Which move the last question is.
    pub(crate) kind: Option<Move>,
    /// The document that a question about a whole document names; empty if it names none.
    pub(crate) name: String,
    /// The answer before.
    pub(crate) previous: Option<&'a str>,
    /// How often “more” was asked for since the last question.
    pub(crate) repeated: usize,
    /// The output of the search, and of the tool that lists documents.
    pub(crate) found: Option<&'a ToolOutput>,
    pub(crate) listed: Option<&'a ToolOutput>,
    can_search: bool,
    can_list: bool,
}

impl<'a> Conversation<'a> {
    /// Reads the messages of a request; `None` without a question.
    pub(crate) fn read(request: &'a ChatRequest) -> Option<Self> {
        let messages = &request.messages;
        let at = messages.iter().rposition(|message| matches!(message, Message::User(_)))?;
        let (before, after) = messages.split_at(at + 1);
        let questions: Vec<&str> = before
            .iter()
            .filter_map(|message| match message {
                Message::User(text) => Some(beginning(text.trim(), QUESTION_CHARS)),
                Message::System(_) | Message::Assistant { .. } | Message::Tool(_) => None,
            })
            .collect();
        let (asked, earlier) = questions.split_last()?;
        let previous = before.iter().rev().find_map(|message| match message {
            Message::Assistant { content, .. } if !content.is_empty() => Some(content.as_str()),
            Message::Assistant { .. } | Message::System(_) | Message::User(_) | Message::Tool(_) => None,
        });
        let mut found_move = move_of(asked);
        let repeats = |kind: Move| matches!(kind, Move::Where | Move::Sure | Move::More);
        // The answer to a question back names a document.
        let asks_back =
            |words: &&Words| previous.is_some_and(|answer| answer.starts_with(&words.phrases.which));
        let mut words = Words::of(asked);
        if let (Some(asked_in), None) = (Words::all().iter().find(asks_back), &found_move) {
            words = asked_in;
            found_move = Some((Move::About, plain(asked)));
        }
        let kind = found_move.as_ref().map(|(kind, _)| *kind);
        let subject: Vec<&str> = earlier
            .iter()
            .copied()
            .filter(|text| move_of(text).is_none_or(|(kind, _)| kind == Move::Author))
            .collect();
        let question = match kind {
            Some(kind) if repeats(kind) && !subject.is_empty() => completed(&subject),
            _ => completed(&subject.iter().copied().chain([*asked]).collect::<Vec<_>>()),
        };
        let is_more = |text: &&&str| move_of(text).is_some_and(|(kind, _)| kind == Move::More);
        let output = |tool: &str| outputs(after).find(|(name, _)| *name == tool).map(|(_, output)| output);
        let has = |tool: &str| request.tools.iter().any(|offered| offered.name == tool);
        Some(Self {
            asked,
            words,
            question,
            kind: match kind {
                // There is nothing that could be meant.
                Some(kind) if repeats(kind) && subject.is_empty() => Some(Move::Ask),
                kind => kind.filter(|kind| !repeats(*kind) || previous.is_some()),
            },
            name: found_move.map(|(_, name)| name).unwrap_or_default(),
            previous,
            repeated: questions.iter().rev().take_while(is_more).count(),
            found: output(SEARCH_TOOL),
            listed: output(LIST_TOOL),
            can_search: has(SEARCH_TOOL),
            can_list: has(LIST_TOOL),
        })
    }

    /// The tool that the last question needs first.
    pub(crate) fn first_tool(&self) -> Tool {
        match self.kind {
            Some(Move::Greet | Move::Welcome | Move::Ask | Move::Introduce) => Tool::None,
            Some(Move::List | Move::Extreme | Move::Pages | Move::About | Move::Author) if self.can_list => {
                Tool::List
            }
            _ if self.can_search => Tool::Search,
            _ => Tool::Missing,
        }
    }

    /// Whether the documents that were not searched can still be listed.
    pub(crate) fn can_list(&self) -> bool {
        self.can_list && self.listed.is_none()
    }

    /// Whether documents can be searched.
    pub(crate) fn can_search(&self) -> bool {
        self.can_search
    }
}

/// A tool that is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    None,
    Search,
    List,
    /// One that is not offered.
    Missing,
}

/// The outputs of tools with the names of the tools.
fn outputs(messages: &[Message]) -> impl Iterator<Item = (&str, &ToolOutput)> {
    let calls = messages.iter().flat_map(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        Message::System(_) | Message::User(_) | Message::Tool(_) => &[],
    });
    let calls: Vec<_> = calls.collect();
    messages.iter().filter_map(move |message| match message {
        Message::Tool(output) => {
            let call = calls.iter().find(|call| call.id == output.call_id)?;
            Some((call.name.as_str(), output))
        }
        Message::System(_) | Message::User(_) | Message::Assistant { .. } => None,
    })
}

/// The last of these questions, completed by those that it refers to.
fn completed(questions: &[&str]) -> String {
    let mut included = Vec::new();
    for text in questions.iter().rev().take(EARLIER + 1) {
        included.push(*text);
        if !is_follow_up(text) {
            break;
        }
    }
    let mut included = included.into_iter().rev();
    let first = included.next().unwrap_or_default().to_owned();
    included.fold(first, |before, follow_up| complete(&before, follow_up))
}

/// The move that a text is, and the name of a document in it.
fn move_of(text: &str) -> Option<(Move, String)> {
    let words = Words::of(text);
    let spoken = plain(text);
    words.moves.iter().find_map(|it| {
        let found = it.pattern.captures(&spoken)?;
        let name = ["a", "b"].iter().find_map(|group| found.name(group)).map_or("", |name| name.as_str());
        let own = name.split(' ').filter(|word| !words.generic.contains(*word));
        Some((it.kind, own.collect::<Vec<_>>().join(" ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_recognised_in_both_languages() {
        for (text, kind) in [
            ("Hello!", Some(Move::Greet)),
            ("Guten Morgen", Some(Move::Greet)),
            ("Great, thank you very much", Some(Move::Welcome)),
            ("Vielen Dank!", Some(Move::Welcome)),
            ("ok", Some(Move::Ask)),
            ("what can you do?", Some(Move::Introduce)),
            ("Where does it say that?", Some(Move::Where)),
            ("Wo steht das?", Some(Move::Where)),
            ("Are you sure?", Some(Move::Sure)),
            ("show all", Some(Move::More)),
            ("Which documents do you have?", Some(Move::List)),
            ("Welche Dokumente gibt es?", Some(Move::List)),
            ("which document is the longest", Some(Move::Extreme)),
            ("How many pages does the pump manual have?", Some(Move::Pages)),
            ("Who wrote this report?", Some(Move::Author)),
            ("What is this document about?", Some(Move::About)),
            ("Worum geht es?", Some(Move::About)),
            ("Hello, what is a pump?", None),
            ("Thanks, and the pump?", None),
            ("Which documents mention pumps?", None),
            ("What is the longest river?", None),
            ("Where does the pump stand?", None),
            ("", None),
        ] {
            assert_eq!(move_of(text).map(|(kind, _)| kind), kind, "{text}");
        }
        assert_eq!(move_of("Summarise the Pump manual").unwrap().1, "pump");
        assert_eq!(move_of("What is Pump_manual.pdf about?").unwrap().1, "pump");
    }
}
