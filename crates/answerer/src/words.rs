//! What depends on the language of a question: its words, patterns and sentences, read from a file for each language.

use docent_text::lexical::is_german;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The words and patterns of a language.
#[derive(Debug, Deserialize)]
pub(crate) struct Words {
    /// Words without a meaning of their own.
    #[serde(deserialize_with = "words")]
    pub(crate) function_words: HashSet<String>,
    /// Words that say how a question is asked, not what about.
    #[serde(deserialize_with = "words")]
    pub(crate) asking_words: HashSet<String>,
    /// Words that ask how much of something there is, such as “how long”.
    #[serde(deserialize_with = "pattern")]
    pub(crate) extent: Regex,
    /// Words that negate or exclude.
    #[serde(deserialize_with = "words")]
    pub(crate) negations: HashSet<String>,
    /// What links a follow-up to the question before.
    #[serde(deserialize_with = "pattern")]
    pub(crate) link: Regex,
    /// What a question that lacks its subject has.
    #[serde(deserialize_with = "pattern")]
    pub(crate) follow_up: Regex,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) moves: Vec<MovePattern>,
    /// Words for a document that do not name it.
    #[serde(deserialize_with = "words")]
    pub(crate) generic: HashSet<String>,
    /// The words of a question for the document that has most or least of something.
    pub(crate) extremes: HashMap<Extreme, String>,
    pub(crate) phrases: Phrases,
}

/// A kind of answer, and how questions ask for it and texts give it.
#[derive(Debug, Deserialize)]
pub(crate) struct Kind {
    #[cfg_attr(not(test), expect(dead_code, reason = "names the entry for readers of the file"))]
    pub(crate) kind: String,
    /// Whether it is a part of a sentence, which is shown in bold, and without which a unit is no answer.
    #[serde(default)]
    pub(crate) is_value: bool,
    #[serde(deserialize_with = "pattern")]
    pub(crate) question: Regex,
    #[serde(deserialize_with = "pattern")]
    pub(crate) evidence: Regex,
}

/// A turn of a conversation that is no question about the contents of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Move {
    Greet,
    Welcome,
    Ask,
    Introduce,
    /// Where does it say that?
    Where,
    /// Are you sure?
    Sure,
    /// Show more.
    More,
    /// Which documents are there?
    List,
    /// Which document is the newest?
    Extreme,
    /// How many pages does it have?
    Pages,
    /// Who wrote it?
    Author,
    /// What is the document about?
    About,
}

/// What a document may have most or least of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Extreme {
    Newest,
    Oldest,
    Longest,
    Shortest,
}

/// How a move is said, in small letters without punctuation.
#[derive(Debug, Deserialize)]
pub(crate) struct MovePattern {
    #[serde(rename = "move")]
    pub(crate) kind: Move,
    #[serde(deserialize_with = "pattern")]
    pub(crate) pattern: Regex,
}

/// The sentences of answers that are not quotes.
#[derive(Debug, Deserialize)]
pub(crate) struct Phrases {
    pub(crate) hello: String,
    pub(crate) ability: String,
    pub(crate) ask: String,
    pub(crate) welcome: String,
    pub(crate) no_search: String,
    pub(crate) no_documents: String,
    pub(crate) listed: String,
    pub(crate) which: String,
    pub(crate) sections: String,
    pub(crate) declined: String,
    /// Follows it if the documents are in another language. Empty for the language of questions in unknown languages.
    pub(crate) other_language: String,
    pub(crate) closest: String,
    pub(crate) may_help: String,
    pub(crate) nothing_new: String,
    pub(crate) again: String,
    pub(crate) stands: String,
    pub(crate) further: String,
    pub(crate) differ: String,
    pub(crate) failed: String,
    pub(crate) pending: String,
    pub(crate) pictures: String,
    pub(crate) not_found: String,
    /// With `{shown}` and `{all}`.
    pub(crate) cut: String,
    /// With `{question}`.
    pub(crate) understood: String,
    /// With `{written}` and `{meant}`.
    pub(crate) read_as: String,
    pub(crate) page: String,
    pub(crate) pages_one: String,
    pub(crate) pages_many: String,
    /// The quotation marks around words.
    pub(crate) open: String,
    pub(crate) close: String,
    pub(crate) or: String,
    pub(crate) and: String,
    pub(crate) others: String,
    pub(crate) search_failed: String,
}

fn words<'de, D: Deserializer<'de>>(from: D) -> Result<HashSet<String>, D::Error> {
    Ok(String::deserialize(from)?.split(' ').map(str::to_owned).collect())
}

fn pattern<'de, D: Deserializer<'de>>(from: D) -> Result<Regex, D::Error> {
    let pattern = String::deserialize(from)?;
    // Names begin with capital letters.
    let ignores_case = !pattern.contains("\\p{Lu}");
    RegexBuilder::new(&pattern).case_insensitive(ignores_case).build().map_err(serde::de::Error::custom)
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and a test reads them")]
static ALL: LazyLock<[Words; 2]> = LazyLock::new(|| {
    [include_str!("../data/en.json"), include_str!("../data/de.json")]
        .map(|file| serde_json::from_str(file).expect("a valid language file"))
});

impl Words {
    /// Those of a question's language; English if it is not known.
    pub(crate) fn of(question: &str) -> &'static Self {
        let [english, german] = &*ALL;
        let text = plain(question);
        let is_move = |words: &Self| words.moves.iter().any(|it| it.pattern.is_match(&text));
        if is_german(question) || (is_move(german) && !is_move(english)) { german } else { english }
    }

    /// Those of every language.
    pub(crate) fn all() -> &'static [Self] {
        &*ALL
    }
}

impl Phrases {
    /// Words in quotation marks, the last after `link`; “…” at the end stands for others.
    pub(crate) fn join<'w>(&self, words: impl IntoIterator<Item = &'w str>, link: &str) -> String {
        let mut marked: Vec<String> = words
            .into_iter()
            .map(|word| match word {
                "…" => self.others.clone(),
                word => format!("{}{word}{}", self.open, self.close),
            })
            .collect();
        match marked.pop() {
            Some(last) if !marked.is_empty() => format!("{} {link} {last}", marked.join(", ")),
            last => last.unwrap_or_default(),
        }
    }
}

/// The words of a text in small letters, with single spaces and without punctuation.
pub(crate) fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_files_are_valid_and_have_the_same_kinds_and_moves() {
        let [english, german] = Words::all() else { panic!("two languages") };
        let kinds = |words: &'static Words| words.kinds.iter().map(|it| it.kind.as_str()).collect::<Vec<_>>();
        let moves = |words: &Words| words.moves.iter().map(|it| it.kind).collect::<Vec<_>>();
        assert_eq!(kinds(english), kinds(german));
        assert_eq!(moves(english), moves(german));
        assert_eq!(english.extremes.len(), german.extremes.len());
    }
}
