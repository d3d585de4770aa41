//! Counts tokens with the vocabulary of chat models (`cl100k_base`).
//!
//! The first count loads the vocabulary, which takes about 0.2 seconds and 30 MiB. Counting is CPU-bound: count large
//! texts off the async threads.

mod words;

use std::cell::RefCell;
use std::collections::HashMap;

/// Longer runs without a word boundary, such as encoded data, are split before they are counted: the time to encode a
/// run grows faster than its length.
const MAX_RUN: usize = 256;

/// Maximum number of words in the cache of a counter, which limits its memory to a few MiB.
const MAX_CACHED: usize = 1 << 15;

/// The number of tokens of a text. It is off by a few for runs of more than [`MAX_RUN`] bytes.
pub fn count(text: &str) -> usize {
    Counter::default().count(text)
}

/// Counts the tokens of many texts with common words, such as the chunks of one document: each word is encoded once.
#[derive(Debug, Default)]
pub struct Counter {
    words: RefCell<HashMap<Box<str>, usize>>,
}

impl Counter {
    /// The number of tokens of a text; see [`count`].
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
        if words.len() == MAX_CACHED {
            words.clear();
        }
        words.insert(word.into(), tokens);
        tokens
    }
}

/// The longest beginning of a text with at most `max` tokens.
pub fn beginning(text: &str, max: usize) -> &str {
    let (mut left, mut end) = (max, 0);
    for piece in pieces(text) {
        let vocabulary = tiktoken_rs::cl100k_base_singleton();
        let tokens = vocabulary.encode_ordinary(piece);
        if tokens.len() <= left {
            (left, end) = (left - tokens.len(), end + piece.len());
            continue;
        }
        // Tokens that were just encoded are known. The last one can end within a character.
        end += vocabulary.decode_bytes(&tokens[..left]).map_or(0, |bytes| bytes.len());
        break;
    }
    text.get(..text.floor_char_boundary(end)).unwrap_or(text)
}

/// The texts that lists of tokens stand for; the number of the first list with a token that is not in the vocabulary otherwise.
/// Bytes that are no character, as at the edges of a text that was cut between tokens, are replaced.
///
/// # Errors
/// See above.
pub async fn decode(lists: Vec<Vec<u32>>) -> Result<Vec<String>, usize> {
    let decode = move || {
        let text = |(number, tokens): (usize, &Vec<u32>)| {
            let bytes = tiktoken_rs::cl100k_base_singleton().decode_bytes(tokens).map_err(|_| number)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        lists.iter().enumerate().map(text).collect()
    };
    tokio::task::spawn_blocking(decode).await.unwrap_or(Err(0))
}

fn encode(text: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton().encode_ordinary(text).len()
}

/// Splits long runs of a text; the pieces concatenated are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, remaining) = rest.split_at(first_end(rest));
        rest = remaining;
        Some(piece)
    })
}

/// The end of the first piece.
fn first_end(text: &str) -> usize {
    let (mut start, mut was_space) = (0, None);
    for (at, c) in text.char_indices() {
        if was_space != Some(c.is_whitespace()) {
            (start, was_space) = (at, Some(c.is_whitespace()));
        } else if at - start >= MAX_RUN {
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
        fn any_text_is_counted_as_encoded(
            // Several characters of each kind, and the ones that the pattern treats specially.
            text in "[a-cdlmrstvLMSTE019 ²½'’.,$(—\\n\\r\\t\u{a0}\u{3000}éßжאあ漢한ﬁſ\u{301}\u{93f}ⓐ😀]{0,60}",
        ) {
            let counter = Counter::default();
            prop_assert_eq!(counter.count(&text), encode(&text));
            prop_assert_eq!(counter.count(&text), encode(&text), "from the cache");
        }
    }

    #[test]
    fn beginning_has_at_most_the_given_tokens() {
        let text = "One sentence, then 😀 another one with Größen.";
        let all = count(text);
        for max in 0..all {
            let part = beginning(text, max);
            assert!(text.starts_with(part) && count(part) <= max && part.len() < text.len(), "{max}: {part}");
        }
        assert_eq!((beginning(text, all), beginning(text, 2)), (text, "One sentence"));
        let long = "a".repeat(10 * MAX_RUN);
        assert_eq!(beginning(&long, count(&long)), long);
    }

    #[tokio::test]
    async fn tokens_are_decoded_to_their_text() {
        let text = "The zebra 😀 lives.";
        let tokens = tiktoken_rs::cl100k_base_singleton().encode_ordinary(text);
        assert_eq!(decode(vec![tokens, vec![9906]]).await, Ok(vec![text.to_owned(), "Hello".to_owned()]));
        assert_eq!(decode(vec![vec![1], vec![4_000_000]]).await, Err(1));
    }

    #[test]
    fn prose_is_counted_as_encoded() {
        let text = concat!(include_str!("ingest.rs"), include_str!("../../../README.md"));
        let cut: usize = pieces(text).map(encode).sum();
        assert_eq!(count(text), cut);
        assert!(words::words(text).is_some());
    }

    #[test]
    fn counter_cache_is_bounded() {
        let counter = Counter::default();
        let text: String = (0..MAX_CACHED + 10).map(|n| format!("{} ", letters(n))).collect();
        assert_eq!(counter.count(&text), encode(&text));
        assert!(counter.words.borrow().len() < MAX_CACHED);
    }

    fn letters(n: usize) -> String {
        [n / 17_576, n / 676 % 26, n / 26 % 26, n % 26].map(|n| char::from(b'a' + n as u8)).iter().collect()
    }

    #[test]
    fn ordinary_text_is_not_split() {
        let text = "An ordinary sentence, with words. ".repeat(1000);
        assert_eq!(pieces(&text).count(), 1);
    }

    #[test]
    fn long_runs_are_split_without_loss() {
        for run in ["a".repeat(10_000), " ".repeat(10_000), "語".repeat(5_000)] {
            let text = format!("before {run} after");
            assert!(pieces(&text).all(|piece| piece.len() <= 2 * MAX_RUN + 16));
            assert_eq!(pieces(&text).collect::<String>(), text);
        }
    }
}
