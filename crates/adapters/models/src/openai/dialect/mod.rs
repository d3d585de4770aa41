//! Reads what models write into their text although the wire format has fields for it: reasoning, tool calls
//! and special tokens.
//!
//! Servers without a parser for their model pass its raw output through. The forms ("dialects") are in one
//! table, [`MARKERS`]; everything else is common to all of them. Text is scanned as it arrives and held back
//! only while it can still become a marker or a call. After a backtick nothing is a marker, so that an answer
//! can quote one.

mod calls;
mod markers;

#[cfg(test)]
mod tests;

pub(super) use calls::WrittenCall;
use markers::{MARKERS, Marker, Meaning, Place};
use std::mem;

/// Maximum size in bytes of text that is held back because it can be a tool call. Longer text is no call.
const HELD_MAX: usize = 16 * 1024;
/// Maximum size in bytes of text that is held back because it is assumed to be reasoning.
const ASSUMED_MAX: usize = 128 * 1024;
/// Longest special token in bytes, such as `<|end_of_role|>`.
const TOKEN_MAX: usize = 40;

/// A part of a model's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text of the answer; never empty.
    Text(String),
    /// Text that the model wrote for itself; never empty.
    Reasoning(String),
    /// A tool call.
    Call(WrittenCall),
}

/// Splits the text of one response into its parts.
#[derive(Debug)]
pub(super) struct OutputReader {
    /// Names of the tools that can be called.
    tools: Vec<String>,
    state: State,
    /// Text that has not been assigned yet.
    held: String,
    /// Whether any text of the answer that is no white space was returned.
    has_text: bool,
    /// The last character of the answer's text.
    last: Option<char>,
    /// Whether the last line of the answer's text has more than white space.
    is_in_line: bool,
    /// Whether the response has reasoning.
    has_reasoning: bool,
    /// Whether the response has tool calls.
    has_calls: bool,
    /// Whether the end of reasoning was found that had no beginning.
    began_in_reasoning: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Answer,
    /// The response is assumed to begin with reasoning; its first bytes were searched for the end of it.
    AssumedReasoning {
        searched: usize,
    },
    Reasoning {
        ends: &'static [&'static str],
    },
    Call {
        ends: &'static [&'static str],
    },
    /// The header of a message of the harmony format, which says what the message is.
    Header,
}

impl OutputReader {
    /// Creates a reader of the response to a request with these tools. With `in_reasoning`, the response is
    /// assumed to begin with reasoning, whose beginning is part of the prompt: its text is held back until
    /// the reasoning ends. If it does not end, the text is the answer.
    pub(super) fn new(tools: impl IntoIterator<Item = String>, in_reasoning: bool) -> Self {
        let state = if in_reasoning { State::AssumedReasoning { searched: 0 } } else { State::Answer };
        Self {
            tools: tools.into_iter().collect(),
            state,
            held: String::new(),
            has_text: false,
            last: None,
            is_in_line: false,
            has_reasoning: false,
            has_calls: false,
            began_in_reasoning: false,
        }
    }

    /// Reads the next piece of text.
    pub(super) fn push(&mut self, text: &str) -> Vec<Part> {
        self.held.push_str(text);
        let mut parts = Vec::new();
        while self.step(&mut parts) {}
        parts
    }

    /// Handles the end of the response: what is held back gets its meaning. `is_cut` if the response reached
    /// a token limit.
    pub(super) fn finish(&mut self, is_cut: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        if matches!(self.state, State::AssumedReasoning { .. }) && !is_cut {
            self.state = State::Answer;
        }
        while self.step(&mut parts) {}
        let rest = mem::take(&mut self.held);
        match self.state {
            State::Answer => self.end_answer(rest, &mut parts),
            State::Reasoning { .. } | State::AssumedReasoning { .. } => self.push_reasoning(rest, &mut parts),
            State::Call { .. } => {
                let calls = calls::written_calls(&rest, &self.tools);
                self.push_calls(calls, &mut parts);
            }
            State::Header => {}
        }
        self.state = State::Answer;
        parts
    }

    /// Whether the response began with reasoning that had no beginning of its own, as those of models do
    /// whose prompt contains it. `None` if the response has no text that would show it.
    pub(super) fn began_in_reasoning(&self) -> Option<bool> {
        (self.began_in_reasoning || self.has_text).then_some(self.began_in_reasoning)
    }

    /// Assigns the beginning of the held text. Returns whether there is more to do.
    fn step(&mut self, parts: &mut Vec<Part>) -> bool {
        match self.state {
            State::Answer => self.step_answer(parts),
            State::AssumedReasoning { searched } => self.step_assumed(searched, parts),
            State::Reasoning { ends } => self.step_reasoning(ends, parts),
            State::Call { ends } => self.step_call(ends, parts),
            State::Header => self.step_header(),
        }
    }

    fn step_answer(&mut self, parts: &mut Vec<Part>) -> bool {
        let (at, found) = self.find();
        let rest = self.held.split_off(at);
        let text = mem::replace(&mut self.held, rest);
        if let Found::Marker(Marker { meaning: Meaning::EndOfReasoning, .. }) = found {
            // Its beginning is part of the prompt, so what was before it is reasoning.
            self.began_in_reasoning |= !self.has_reasoning;
            self.push_reasoning(text, parts);
        } else {
            self.push_text(text, parts);
        }
        match found {
            Found::Nothing => return false,
            Found::Maybe if self.held.len() <= HELD_MAX => return false,
            Found::Maybe => {
                let text = mem::take(&mut self.held);
                self.push_text(text, parts);
            }
            Found::Token(length) => drop(self.held.drain(..length)),
            Found::Calls(calls, length) => {
                self.held.drain(..length);
                self.push_calls(calls, parts);
            }
            Found::Marker(marker) => {
                self.held.drain(..marker.text.len());
                self.state = match marker.meaning {
                    Meaning::Reasoning(ends) => State::Reasoning { ends },
                    Meaning::Call(ends) => State::Call { ends },
                    Meaning::Header => State::Header,
                    Meaning::EndOfReasoning | Meaning::Nothing => State::Answer,
                };
            }
        }
        true
    }

    fn step_assumed(&mut self, searched: usize, parts: &mut Vec<Part>) -> bool {
        let unsearched = self.held.get(searched..).unwrap_or_default();
        let ends = markers::THINK_ENDS.iter().filter_map(|end| Some((unsearched.find(end)?, end.len())));
        if let Some((at, length)) = ends.min() {
            let rest = self.held.split_off(searched + at);
            let text = mem::replace(&mut self.held, rest);
            self.push_reasoning(text, parts);
            self.began_in_reasoning = true;
            self.held.drain(..length);
            self.state = State::Answer;
            return true;
        }
        if self.held.len() > ASSUMED_MAX {
            // Answers are shorter.
            self.state = State::Reasoning { ends: markers::THINK_ENDS };
            return true;
        }
        let searched = self.held.len() - partial_suffix(&self.held, markers::THINK_ENDS.iter().copied());
        self.state = State::AssumedReasoning { searched };
        false
    }

    fn step_reasoning(&mut self, ends: &'static [&'static str], parts: &mut Vec<Part>) -> bool {
        let end = ends.iter().filter_map(|end| Some((self.held.find(end)?, *end))).min_by_key(|(at, _)| *at);
        let Some((at, end)) = end else {
            let keep = partial_suffix(&self.held, ends.iter().copied());
            let rest = self.held.split_off(self.held.len() - keep);
            let text = mem::replace(&mut self.held, rest);
            self.push_reasoning(text, parts);
            return false;
        };
        let rest = self.held.split_off(at);
        let text = mem::replace(&mut self.held, rest);
        self.push_reasoning(text, parts);
        // Tokens that begin the next message belong to it.
        if !markers::BEGINNINGS.contains(&end) {
            self.held.drain(..end.len());
        }
        self.state = State::Answer;
        true
    }

    fn step_call(&mut self, ends: &'static [&'static str], parts: &mut Vec<Part>) -> bool {
        let end = ends.iter().filter_map(|end| Some((self.held.find(end)?, end.len()))).min();
        let Some((at, length)) = end else {
            if self.held.len() > HELD_MAX {
                // No call is that long: the rest of the response is dropped as it arrives.
                let keep = partial_suffix(&self.held, ends.iter().copied());
                self.held.drain(..self.held.len() - keep);
            }
            return false;
        };
        let rest = self.held.split_off(at + length);
        let body = mem::replace(&mut self.held, rest);
        self.state = State::Answer;
        let calls = calls::written_calls(body.get(..at).unwrap_or_default(), &self.tools);
        self.push_calls(calls, parts);
        true
    }

    fn step_header(&mut self) -> bool {
        let Some(at) = self.held.find(markers::MESSAGE) else {
            if self.held.len() > HELD_MAX {
                self.held.clear();
            }
            return false;
        };
        let rest = self.held.split_off(at + markers::MESSAGE.len());
        let header = mem::replace(&mut self.held, rest);
        let recipient = header.split("to=").nth(1).and_then(|to| to.split(['<', ' ', '\n']).next());
        self.state = if let Some(recipient) = recipient {
            // The recipient of the message is the tool, and its text the arguments.
            self.held.insert_str(0, &format!("{recipient} "));
            State::Call { ends: markers::MESSAGE_ENDS }
        } else if header.contains("final") || !header.contains("analysis") && !header.contains("commentary") {
            State::Answer
        } else {
            State::Reasoning { ends: markers::MESSAGE_ENDS }
        };
        true
    }

    fn push_calls(&mut self, calls: Vec<WrittenCall>, parts: &mut Vec<Part>) {
        self.has_calls |= !calls.is_empty();
        parts.extend(calls.into_iter().map(Part::Call));
    }

    /// Handles text at the end of the response, where an incomplete marker is text and a token of the end is
    /// not.
    fn end_answer(&mut self, mut text: String, parts: &mut Vec<Part>) {
        if calls::possible_call(&text, &self.tools) == calls::Possible::Maybe {
            let calls = calls::written_calls(&text, &self.tools);
            if !calls.is_empty() {
                return self.push_calls(calls, parts);
            }
        }
        while let Some(end) = markers::LAST_TOKENS.iter().find(|end| text.trim_end().ends_with(**end)) {
            text.truncate(text.trim_end().len() - end.len());
        }
        self.push_text(text, parts);
    }

    fn push_text(&mut self, mut text: String, parts: &mut Vec<Part>) {
        if (self.has_reasoning || self.has_calls) && !self.has_text {
            // Models separate the answer from their reasoning and calls with empty lines.
            text.drain(..text.len() - text.trim_start().len());
        }
        let Some(last) = text.chars().next_back() else { return };
        self.last = Some(last);
        self.has_text |= !text.trim().is_empty();
        let (line, is_same) = text.rsplit_once('\n').map_or((text.as_str(), true), |(_, line)| (line, false));
        self.is_in_line = is_same && self.is_in_line || !line.trim().is_empty();
        match parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(&text),
            _ => parts.push(Part::Text(text)),
        }
    }

    fn push_reasoning(&mut self, text: String, parts: &mut Vec<Part>) {
        self.has_reasoning = true;
        if text.is_empty() {
            return;
        }
        match parts.last_mut() {
            Some(Part::Reasoning(before)) => before.push_str(&text),
            _ => parts.push(Part::Reasoning(text)),
        }
    }

    /// Finds the first place in the held text of the answer that is, or can become, something else than text.
    fn find(&self) -> (usize, Found) {
        let mut before = self.last;
        for (at, character) in self.held.char_indices() {
            if markers::FIRST_CHARACTERS.contains(character) && before != Some('`') {
                match self.found_at(at) {
                    Found::Nothing => {}
                    found => return (at, found),
                }
            }
            before = Some(character);
        }
        (self.held.len(), Found::Nothing)
    }

    fn found_at(&self, at: usize) -> Found {
        let (rest, is_line_start) = (&self.held[at..], self.is_line_start(at));
        let mut markers = MARKERS.iter().filter(|marker| marker.place == Place::Anywhere || is_line_start);
        if let Some(marker) = markers.clone().find(|marker| rest.starts_with(marker.text)) {
            return Found::Marker(marker);
        }
        if markers.any(|marker| marker.text.starts_with(rest)) || is_end(rest) {
            return Found::Maybe;
        }
        match calls::possible_call(rest, &self.tools) {
            calls::Possible::Maybe if is_line_start => Found::Maybe,
            calls::Possible::Call(calls, length) if is_line_start => Found::Calls(calls, length),
            _ => special_token(rest),
        }
    }

    /// Whether only white space is before this position on its line.
    fn is_line_start(&self, at: usize) -> bool {
        match self.held[..at].rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => !self.is_in_line && self.held[..at].trim().is_empty(),
        }
    }
}

/// What is at a place of the text.
enum Found {
    Nothing,
    /// It can still become something.
    Maybe,
    Marker(&'static Marker),
    /// Tool calls without a marker, and their length in bytes.
    Calls(Vec<WrittenCall>, usize),
    /// A special token without a meaning, and its length in bytes.
    Token(usize),
}

/// Whether text consists of tokens that end a response, the last of them possibly incomplete.
fn is_end(mut rest: &str) -> bool {
    while let Some(token) = markers::LAST_TOKENS.iter().find(|token| rest.starts_with(**token)) {
        rest = rest[token.len()..].trim_start();
    }
    markers::LAST_TOKENS.iter().any(|token| token.starts_with(rest))
}

/// A special token of a chat template, such as `<|im_end|>` or `<｜end▁of▁sentence｜>`, or the beginning of
/// one.
fn special_token(rest: &str) -> Found {
    let Some(inner) = rest.strip_prefix("<|").or_else(|| rest.strip_prefix("<｜")) else {
        return if rest == "<" { Found::Maybe } else { Found::Nothing };
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '-' | '▁');
    let end = inner.trim_start_matches(is_name);
    let name = inner.len() - end.len();
    if name > TOKEN_MAX {
        return Found::Nothing;
    }
    for close in ["|>", "｜>"] {
        if end.starts_with(close) && name > 0 {
            return Found::Token(rest.len() - end.len() + close.len());
        }
        if close.starts_with(end) {
            return Found::Maybe;
        }
    }
    Found::Nothing
}

/// Length of the longest end of `text` with which one of `markers` begins.
fn partial_suffix<'m>(text: &str, markers: impl Iterator<Item = &'m str> + Clone) -> usize {
    let longest = markers.clone().map(str::len).max().unwrap_or_default();
    let starts = text.char_indices().map(|(at, _)| at).filter(|at| text.len() - at < longest);
    let mut ends = starts.filter(|at| markers.clone().any(|marker| marker.starts_with(&text[*at..])));
    ends.next().map_or(0, |at| text.len() - at)
}
