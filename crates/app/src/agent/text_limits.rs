//! Limits of the text of an answer that a client sets.

use crate::tokens;
use std::mem;

/// Limits of the text of an answer. They apply to what the client receives, after citations were checked.
#[derive(Clone, Debug, Default)]
pub struct TextLimits {
    /// Maximum number of tokens.
    pub max_tokens: Option<usize>,
    /// The text ends before the first of these strings, none of which is empty.
    pub stop: Vec<String>,
}

impl TextLimits {
    /// Loads what is needed to apply the limits, off the async threads: the first count of tokens loads the vocabulary.
    pub(super) async fn prepare(&self) {
        if self.max_tokens.is_some() {
            // It is loaded later if loading panics here.
            let _ = tokio::task::spawn_blocking(|| tokens::count("a")).await;
        }
    }
}

/// Why a text ended before the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEnd {
    /// It has the maximum number of tokens.
    Tokens,
    /// A stop string follows.
    StopString,
}

/// Applies [`TextLimits`] to a text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct LimitedText {
    limits: TextLimits,
    /// Text that may be the beginning of a stop string.
    held: String,
    /// Number of tokens of the text before `tail`.
    tokens: usize,
    /// The end of the text that was returned, from a word boundary on.
    tail: String,
    end: Option<TextEnd>,
}

impl LimitedText {
    pub(super) fn new(limits: TextLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Why the text ended, if it did.
    pub(super) const fn end(&self) -> Option<TextEnd> {
        self.end
    }

    /// Whether text besides white space waits for what follows it.
    pub(super) fn holds_text(&self) -> bool {
        !self.held.trim().is_empty()
    }

    /// Adds text. Returns the text for the client, which may be empty.
    pub(super) fn push(&mut self, text: String) -> String {
        if self.end.is_some() {
            return String::new();
        }
        if self.limits.stop.is_empty() {
            return self.within_tokens(text);
        }
        self.held.push_str(&text);
        let mut text = mem::take(&mut self.held);
        let stop = self.limits.stop.iter().filter_map(|stop| text.find(stop.as_str())).min();
        match stop {
            Some(at) => {
                text.truncate(at);
                self.end = Some(TextEnd::StopString);
            }
            None => self.held = text.split_off(text.len() - self.may_begin(&text)),
        }
        self.within_tokens(text)
    }

    /// Returns the rest for the client at the end of the text.
    pub(super) fn finish(&mut self) -> String {
        let held = mem::take(&mut self.held);
        if self.end.is_some() { String::new() } else { self.within_tokens(held) }
    }

    /// Length in bytes of the longest end of the text that a stop string begins with.
    fn may_begin(&self, text: &str) -> usize {
        let longest = |stop: &String| {
            let mut lengths = (1..stop.len().min(text.len() + 1)).rev();
            lengths.find(|length| text.as_bytes().ends_with(&stop.as_bytes()[..*length]))
        };
        self.limits.stop.iter().filter_map(longest).max().unwrap_or(0)
    }

    /// Returns as much of the text as the maximum number of tokens allows.
    fn within_tokens(&mut self, mut text: String) -> String {
        let Some(max) = self.limits.max_tokens else { return text };
        let before = self.tail.len();
        self.tail.push_str(&text);
        let left = max.saturating_sub(self.tokens);
        // A token has at least one byte.
        if self.tail.len() > left && tokens::count(&self.tail) > left {
            let fitting = tokens::beginning(&self.tail, left).len();
            text.truncate(fitting.saturating_sub(before));
            self.end = Some(TextEnd::Tokens);
        } else if let Some(at) = last_boundary(&self.tail) {
            let tail = self.tail.split_off(at);
            self.tokens += tokens::count(&mem::replace(&mut self.tail, tail));
        }
        text
    }
}

/// The last position, not the first, before which tokens end: a space after another character than white space.
fn last_boundary(text: &str) -> Option<usize> {
    text.rmatch_indices(' ').map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        before.is_some_and(|before| !before.is_whitespace())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text for the client when the text of the model arrives in pieces of this many characters, and its end.
    fn limited(
        text: &str,
        max_tokens: Option<usize>,
        stop: &[&str],
        size: usize,
    ) -> (String, Option<TextEnd>) {
        let stop = stop.iter().map(|stop| (*stop).to_owned()).collect();
        let mut limited = LimitedText::new(TextLimits { max_tokens, stop });
        let chars: Vec<char> = text.chars().collect();
        let mut out: String = chars.chunks(size).map(|piece| limited.push(piece.iter().collect())).collect();
        out += &limited.finish();
        (out, limited.end())
    }

    #[test]
    fn text_ends_before_the_first_stop_string() {
        let text = "One ÄÄÖ. Two. END";
        for size in [1, 3, 100] {
            for (stop, expected, end) in [
                (&["Two"][..], "One ÄÄÖ. ", Some(TextEnd::StopString)),
                (&["END", "ÄÖ"], "One Ä", Some(TextEnd::StopString)),
                (&["One"], "", Some(TextEnd::StopString)),
                (&["END."], text, None),
                (&["none"], text, None),
                (&[], text, None),
            ] {
                assert_eq!(limited(text, None, stop, size), (expected.to_owned(), end), "{stop:?} by {size}");
            }
        }
    }

    #[test]
    fn text_has_at_most_the_maximum_number_of_tokens() {
        let text = "A sentence with some words, 😀 and  another\n\none (Terms.pdf, page 4).";
        let all = tokens::count(text);
        for max in 1..all + 2 {
            for size in [1, 5, 100] {
                let (out, end) = limited(text, Some(max), &[], size);
                assert!(text.starts_with(&out) && tokens::count(&out) <= max, "{out} for {max}");
                let ends = |max| (max < all).then_some(TextEnd::Tokens);
                if size == 100 {
                    assert_eq!(end, ends(max), "{out} for {max}");
                    assert!(end.is_none() || tokens::count(&out) + 4 > max, "{out} for {max}");
                }
                assert_eq!(end.is_none(), out == text);
            }
        }
    }

    #[test]
    fn whichever_limit_comes_first_ends_the_text() {
        assert_eq!(limited("one two three", Some(2), &["three"], 1).1, Some(TextEnd::Tokens));
        assert_eq!(
            limited("one two three", Some(2), &["two"], 1),
            ("one ".to_owned(), Some(TextEnd::StopString))
        );
    }

    #[test]
    fn only_the_possible_beginning_of_a_stop_string_is_held_back() {
        let limits = TextLimits { max_tokens: None, stop: vec!["###".to_owned(), "\nUser:".to_owned()] };
        let mut limited = LimitedText::new(limits);
        let mut push = |text: &str| limited.push(text.to_owned());
        assert_eq!(push("One #"), "One ");
        assert_eq!(push("#"), "");
        assert_eq!(push(" two\nUs"), "## two");
        assert_eq!(push("e"), "");
        assert_eq!(limited.finish(), "\nUse");
    }

    #[test]
    fn long_text_is_counted_from_the_last_boundary() {
        let mut limited = LimitedText::new(TextLimits { max_tokens: Some(100_000), stop: Vec::new() });
        for _ in 0..10_000 {
            assert_eq!(limited.push("word after word ".to_owned()), "word after word ");
        }
        assert!(limited.tail.len() < 20, "{}", limited.tail);
    }
}
