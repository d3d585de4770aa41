//! Words that begin a reason.

use super::kinds::has_any;

/// Beginnings of reasons.
const REASONS: [&str; 10] = [
    "due to",
    "driven by",
    "primarily",
    "because",
    "reflect",
    "attributable",
    "as a result",
    "weil",
    "aufgrund",
    "wegen",
];

/// Whether a text gives a reason.
pub(super) fn gives_reason(text: &str) -> bool {
    has_any(text, &REASONS)
}

/// Whether a word belongs to the beginning of a reason.
pub(super) fn begins_reason(word: &str) -> bool {
    let word = word.to_lowercase();
    word.len() > 2
        && REASONS.iter().any(|phrase| phrase.split(' ').any(|part| part.len() > 2 && word.starts_with(part)))
}
