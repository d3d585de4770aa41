//! Opposite words: what is said of the “Up” button does not answer a question about the “Down” button.

use docent_text::sentences::Sentence;
use std::collections::HashSet;

/// Words and their opposites. Search leaves some of them out, since all texts have them.
const OPPOSITES: [[&str; 2]; 20] = [
    ["down", "up"],
    ["left", "right"],
    ["front", "rear"],
    ["upper", "lower"],
    ["inner", "outer"],
    ["input", "output"],
    ["internal", "external"],
    ["minimum", "maximum"],
    ["gross", "net"],
    ["highest", "lowest"],
    ["largest", "smallest"],
    ["enable", "disable"],
    ["import", "export"],
    ["domestic", "international"],
    ["male", "female"],
    ["links", "rechts"],
    ["oben", "unten"],
    ["vorn", "hinten"],
    ["brutto", "netto"],
    ["höchste", "niedrigste"],
];

/// What a question asks for the opposite of.
#[derive(Default)]
pub(super) struct Opposites(Vec<[&'static str; 2]>);

impl Opposites {
    /// The opposites of a question's words, without those that it has too.
    pub(super) fn of(question: &str) -> Self {
        let words = words(question);
        let both = OPPOSITES.into_iter().flat_map(|[one, other]| [[one, other], [other, one]]);
        Self(both.filter(|[asked, other]| words.contains(*asked) && !words.contains(*other)).collect())
    }

    /// Whether a sentence, or a row with its table, has an opposite and not the word of the question.
    pub(super) fn are_in(&self, sentence: &Sentence) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let above = sentence.row.iter().flat_map(|row| [&*row.caption, &*row.section]);
        let words: HashSet<String> = above.chain([sentence.text.as_str()]).flat_map(words).collect();
        self.0.iter().any(|[asked, other]| words.contains(*other) && !words.contains(*asked))
    }
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_text::sentences::split;

    fn is_opposite(question: &str, text: &str) -> bool {
        split(text).iter().any(|sentence| Opposites::of(question).are_in(sentence))
    }

    #[test]
    fn opposites_are_found_in_sentences_and_above_rows() {
        assert!(is_opposite("What does the Down button do?", "Press the Up button."));
        assert!(!is_opposite("What does the Down button do?", "Press the Up or Down button."));
        assert!(!is_opposite("What do the Up and Down buttons do?", "Press the Up button."));
        assert!(!is_opposite("What does the button do?", "Press the Up button."));
        let table = "Up button\n\n| Operation | Function |\n|---|---|\n| Press | Power on |\n";
        assert!(is_opposite("What does the Down button do?", table));
    }
}
