//! Counting tokens the way chat models do (`cl100k_base`).
//!
//! The first count loads the vocabulary: about a fifth of a second and 30 MiB. Counting is work for
//! the processor; keep large texts off the async threads.

/// Longer stretches without a word's end, such as encoded data, are cut before they are counted: the
/// time to merge one stretch grows faster than its length.
const STRETCH: usize = 256;

/// How many tokens a text has. Within stretches of over [`STRETCH`] bytes it is off by a few.
pub fn count(text: &str) -> usize {
    let vocabulary = tiktoken_rs::cl100k_base_singleton();
    pieces(text).map(|piece| vocabulary.encode_ordinary(piece).len()).sum()
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

    #[test]
    fn counts_like_the_reference_vocabulary() {
        assert_eq!(count("hello world"), 2);
        assert_eq!(count(""), 0);
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
