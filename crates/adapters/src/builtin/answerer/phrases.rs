//! The sentences of answers that are not quotes, by language.

use super::question::plain_words;
use docent_text::lexical::is_german;

/// The sentences of one language.
pub(super) struct Phrases {
    pub(super) hello: &'static str,
    pub(super) ability: &'static str,
    pub(super) ask: &'static str,
    pub(super) welcome: &'static str,
    pub(super) no_search: &'static str,
    pub(super) no_documents: &'static str,
    pub(super) listed: &'static str,
    /// Begins a question for the document that is meant.
    pub(super) which: &'static str,
    pub(super) sections: &'static str,
    /// Begins an answer that declines.
    pub(super) declined: &'static str,
    /// Follows it if the documents are in another language. English is also assumed for questions in unknown languages.
    pub(super) other_language: Option<&'static str>,
    pub(super) closest: &'static str,
    pub(super) nothing_new: &'static str,
    /// Introduces what the previous answer has already.
    pub(super) as_before: &'static str,
    /// Introduces further quotes.
    pub(super) further: &'static str,
    /// Introduce the titles of documents that were not searched.
    pub(super) failed: &'static str,
    pub(super) pending: &'static str,
    /// Introduces the parts of a calculation.
    pub(super) parts: &'static str,
    /// Introduces parts that were not found.
    pub(super) not_found: &'static str,
    /// With `{question}`.
    pub(super) understood: &'static str,
    /// With `{written}` and `{meant}`, which are lists of words in quotation marks.
    pub(super) read_as: &'static str,
    /// Introduces names and years of the question that the quotes lack.
    pub(super) absent: &'static str,
    /// The word before the number of a page, and after the number of all pages: one and more.
    pub(super) page: &'static str,
    pub(super) pages: [&'static str; 2],
    /// The quotation marks.
    pub(super) marks: [&'static str; 2],
    pub(super) or: &'static str,
    pub(super) and: &'static str,
    pub(super) others: &'static str,
    pub(super) search_failed: &'static str,
}

const ENGLISH: Phrases = Phrases {
    hello: "Hello!",
    ability: "I answer questions about the documents that were uploaded here: I search for matching passages and quote \
        them with their pages. You can also ask which documents there are.",
    ask: "What would you like to know?",
    welcome: "You are welcome.",
    no_search: "I can only answer by quoting documents, and no document search is available to me here.",
    no_documents: "There are no documents yet. Upload one first.",
    listed: "These documents can be searched, newest first:",
    which: "Which document do you mean?",
    sections: "Sections:",
    declined: "I found no passage that answers this.",
    other_language: None,
    closest: "Closest pages:",
    nothing_new: "I found nothing beyond my previous answer.",
    as_before: "My previous answer has this already:",
    further: "Also related:",
    failed: "Not searched, because they could not be read:",
    pending: "Not searched, because they are still being processed:",
    parts: "I do not calculate. These figures look like its parts.",
    not_found: "Not found:",
    understood: "Understood as: {question}",
    read_as: "No document contains {written}. I searched for {meant}.",
    absent: "Not in these quotes:",
    page: "page",
    pages: ["page", "pages"],
    marks: ["“", "”"],
    or: "or",
    and: "and",
    others: "others",
    search_failed: "I could not search the documents right now. Please try again in a moment.",
};

const GERMAN: Phrases = Phrases {
    hello: "Hallo!",
    ability: "Ich beantworte Fragen zu den hochgeladenen Dokumenten: Ich suche passende Stellen und zitiere sie mit ihren \
        Seiten. Sie können auch fragen, welche Dokumente es gibt.",
    ask: "Was möchten Sie wissen?",
    welcome: "Gern geschehen.",
    no_search: "Ich kann nur antworten, indem ich Dokumente zitiere, und hier steht mir keine Suche zur Verfügung.",
    no_documents: "Es gibt noch keine Dokumente. Laden Sie zuerst eines hoch.",
    listed: "Diese Dokumente können durchsucht werden, die neuesten zuerst:",
    which: "Welches Dokument meinen Sie?",
    sections: "Abschnitte:",
    declined: "Ich habe keine Stelle gefunden, die das beantwortet.",
    other_language: Some(
        "Die Dokumente sind in einer anderen Sprache. Ohne Sprachmodell suche ich nach den Wörtern der Frage: Fragen Sie in der \
         Sprache der Dokumente.",
    ),
    closest: "Am nächsten kommen:",
    nothing_new: "Ich habe nichts gefunden, was über meine vorige Antwort hinausgeht.",
    as_before: "Das steht schon in meiner vorigen Antwort:",
    further: "Auch dazu:",
    failed: "Nicht durchsucht, weil sie nicht gelesen werden konnten:",
    pending: "Nicht durchsucht, weil sie noch verarbeitet werden:",
    parts: "Ich rechne nicht. Diese Zahlen sind wohl die Teile davon.",
    not_found: "Nicht gefunden:",
    understood: "Verstanden als: {question}",
    read_as: "Kein Dokument enthält {written}. Ich habe nach {meant} gesucht.",
    absent: "Nicht in diesen Zitaten:",
    page: "Seite",
    pages: ["Seite", "Seiten"],
    marks: ["„", "“"],
    or: "oder",
    and: "und",
    others: "weitere",
    search_failed: "Die Dokumente können gerade nicht durchsucht werden. Bitte versuchen Sie es gleich noch einmal.",
};

/// Words too short to tell the language by others.
const GERMAN_COURTESIES: [&str; 6] = ["danke", "dank", "hallo", "guten", "moin", "servus"];

impl Phrases {
    /// Those of the question's language.
    pub(super) fn of(question: &str) -> &'static Self {
        let is_courtesy = |word: &String| GERMAN_COURTESIES.contains(&word.as_str());
        if is_german(question) || plain_words(question).iter().any(is_courtesy) { &GERMAN } else { &ENGLISH }
    }

    /// Words in quotation marks, the last after `link`.
    pub(super) fn list<'w>(&self, words: impl Iterator<Item = &'w str>, link: &str) -> String {
        let [before, after] = self.marks;
        let mut marked: Vec<String> = words.map(|word| format!("{before}{word}{after}")).collect();
        match marked.pop() {
            Some(last) if !marked.is_empty() => format!("{} {link} {last}", marked.join(", ")),
            last => last.unwrap_or_default(),
        }
    }

    /// Titles in quotation marks; “…” at the end stands for others.
    pub(super) fn titles(&self, titles: &[&str]) -> String {
        match titles.split_last() {
            Some((&"…", known)) if !known.is_empty() => {
                let [before, after] = self.marks;
                let known: Vec<String> =
                    known.iter().map(|title| format!("{before}{title}{after}")).collect();
                format!("{} {} {}", known.join(", "), self.and, self.others)
            }
            _ => self.list(titles.iter().copied(), self.and),
        }
    }

    /// Those of every language.
    pub(super) fn all() -> [&'static Self; 2] {
        [&ENGLISH, &GERMAN]
    }
}
