//! What depends on the language of a text.

use frostem::{Algorithm, Stemmer};

/// A language whose words can be reduced to stems.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Language {
    /// English, which is also what texts in other languages are taken for: their words pass
    /// through mostly unchanged, and alike in passages and queries.
    #[default]
    English,
}

impl Language {
    /// Whether a lower-case word says too little to be searched for.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        match self {
            Self::English => ENGLISH.binary_search(&word).is_ok(),
        }
    }

    /// The stem of a lower-case word.
    pub(super) fn stem(self, word: &str) -> String {
        match self {
            Self::English => Stemmer::new(Algorithm::English).stem(word).into_owned(),
        }
    }
}

/// In byte order, for the binary search.
const ENGLISH: [&str; 157] = [
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "aren",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "couldn",
    "did",
    "didn",
    "do",
    "does",
    "doesn",
    "doing",
    "don",
    "down",
    "during",
    "each",
    "either",
    "else",
    "ever",
    "few",
    "for",
    "from",
    "further",
    "had",
    "hadn",
    "has",
    "hasn",
    "have",
    "haven",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "isn",
    "it",
    "its",
    "itself",
    "just",
    "let",
    "may",
    "me",
    "might",
    "more",
    "most",
    "must",
    "my",
    "myself",
    "neither",
    "no",
    "nor",
    "not",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "ourselves",
    "out",
    "over",
    "own",
    "same",
    "shall",
    "she",
    "should",
    "shouldn",
    "so",
    "some",
    "such",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "thus",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "very",
    "was",
    "wasn",
    "we",
    "were",
    "weren",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "wouldn",
    "yet",
    "you",
    "your",
    "yours",
    "yourself",
    "yourselves",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_in_order_and_lower_case() {
        assert!(ENGLISH.is_sorted());
        assert!(ENGLISH.iter().all(|word| word.chars().all(|c| c.is_ascii_lowercase())));
    }
}
