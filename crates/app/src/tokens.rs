//! Counting tokens the way chat models do (`cl100k_base`).
//!
//! The first count loads the vocabulary: about a fifth of a second and 30 MiB. Counting is work for
//! the processor; keep large texts off the async threads.

mod words;

use std::{cell::RefCell, collections::HashMap};

/// Longer stretches without a word's end, such as encoded data, are cut before they are counted: the
/// time to merge one stretch grows faster than its length.
const STRETCH: usize = 256;

/// Words that a counter remembers, which bounds its memory to a few MiB.
const REMEMBERED: usize = 1 << 15;

/// How many tokens a text has. Within stretches of over [`STRETCH`] bytes it is off by a few.
pub fn count(text: &str) -> usize {
    Counter::default().count(text)
}

/// Counts the tokens of many texts that have words in common, such as the parts of one document: each word is
/// encoded once.
#[derive(Debug, Default)]
pub struct Counter {
    words: RefCell<HashMap<Box<str>, usize>>,
}

impl Counter {
    /// See [`count`].
    pub fn count(&self, text: &str) -> usize {
        let by_words = |piece| words::words(piece).map(|words| words.map(|word| self.word(word)).sum());
        pieces(text).map(|piece| by_words(piece).unwrap_or_else(|| encode(piece))).sum()
    }

    fn word(&self, word: &str) -> usize {
        if let Some(tokens) = self.words.borrow().get(word) {
            return *tokens;
        }
        let tokens = encode(word);
        let mut words = self.words.borrow_mut();
        if words.len() == REMEMBERED {
            words.clear();
        }
        words.insert(word.into(), tokens);
        tokens
    }
}

fn encode(text: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton().encode_ordinary(text).len()
}

/// The text in pieces that join to it again, cut only inside of long stretches.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(first_cut(rest));
        rest = behind;
        Some(piece)
    })
}

/// Where the first piece ends.
fn first_cut(text: &str) -> usize {
    let (mut start, mut was_space) = (0, None);
    for (at, c) in text.char_indices() {
        if was_space != Some(c.is_whitespace()) {
            (start, was_space) = (at, Some(c.is_whitespace()));
        } else if at - start >= STRETCH {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_like_the_reference_vocabulary() {
        assert_eq!(count("hello world"), 2);
        assert_eq!(count(""), 0);
    }

    proptest! {
        #[test]
        fn any_text_has_the_tokens_that_the_vocabulary_makes_of_it(
            // Of each kind of character several, and those that have a meaning of their own.
            text in "[a-cdlmrstvLMSTE019 ²½'’.,$(—\\n\\r\\t\u{a0}\u{3000}éßжאあ漢한ﬁſ\u{301}\u{93f}ⓐ😀]{0,60}",
        ) {
            let counter = Counter::default();
            prop_assert_eq!(counter.count(&text), encode(&text));
            prop_assert_eq!(counter.count(&text), encode(&text), "with what it remembers");
        }
    }

    #[test]
    fn prose_has_the_tokens_that_the_vocabulary_makes_of_it() {
        let text = concat!(include_str!("ingest.rs"), include_str!("../../../README.md"));
        let cut: usize = pieces(text).map(encode).sum();
        assert_eq!(count(text), cut);
        assert!(words::words(text).is_some());
    }

    #[test]
    fn what_a_counter_remembers_is_bounded() {
        let counter = Counter::default();
        let text: String = (0..REMEMBERED + 10).map(|n| format!("{} ", letters(n))).collect();
        assert_eq!(counter.count(&text), encode(&text));
        assert!(counter.words.borrow().len() < REMEMBERED);
    }

    fn letters(n: usize) -> String {
        [n / 17_576, n / 676 % 26, n / 26 % 26, n % 26].map(|n| char::from(b'a' + n as u8)).iter().collect()
    }

    #[test]
    fn ordinary_text_is_counted_whole() {
        let text = "An ordinary sentence, with words. ".repeat(1000);
        assert_eq!(pieces(&text).count(), 1);
    }

    #[test]
    fn long_stretches_are_cut_and_nothing_is_lost() {
        for stretch in ["a".repeat(10_000), " ".repeat(10_000), "語".repeat(5_000)] {
            let text = format!("before {stretch} after");
            assert!(pieces(&text).all(|piece| piece.len() <= 2 * STRETCH + 16));
            assert_eq!(pieces(&text).collect::<String>(), text);
        }
    }
}
