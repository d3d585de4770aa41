//! Recognises questions about the documents themselves, which a list of them answers.

use super::question::{is_among, plain_words};
use docent_text::lexical::query_terms;

/// A list of documents, as the tool returns it.
pub(super) struct Listing<'a> {
    /// The lines of those that can be searched.
    pub(super) readable: String,
    /// The titles of those that failed, and of those that are being processed. “…” stands for others.
    pub(super) failed: Vec<&'a str>,
    pub(super) pending: Vec<&'a str>,
}

impl<'a> Listing<'a> {
    pub(super) fn of(content: &'a str) -> Self {
        let titles = |mark: &str| content.lines().filter_map(|line| line.strip_prefix(mark)).collect();
        let is_readable = |line: &&str| !line.starts_with(FAILED) && !line.starts_with(PENDING);
        Self {
            readable: content.lines().filter(is_readable).collect::<Vec<_>>().join("\n"),
            failed: titles(FAILED),
            pending: titles(PENDING),
        }
    }
}

/// Beginnings of the lines of documents that cannot be searched.
const FAILED: &str = "! ";
const PENDING: &str = "~ ";

/// Whether a question asks for the number of pages of a document.
pub(super) fn asks_for_pages(text: &str) -> bool {
    let words = plain_words(text).join(" ");
    ["how many pages", "number of pages", "wie viele seiten"].iter().any(|phrase| words.contains(phrase))
}

/// The lines of a list of documents whose titles a question names; all if it names none.
pub(super) fn named(list: &str, question: &str) -> String {
    let asked: Vec<String> = query_terms(question);
    let is_named = |line: &&str| {
        let title = line.rsplit_once(" (").map_or(*line, |(title, _)| title);
        let names = |term: &String| asked.contains(term) && !GENERIC_TERMS.contains(&term.as_str());
        query_terms(title).iter().any(names)
    };
    let lines: Vec<&str> = list.lines().filter(is_named).collect();
    if lines.is_empty() { list.to_owned() } else { lines.join("\n") }
}

/// Terms that name no document.
const GENERIC_TERMS: [&str; 8] = ["document", "file", "pdf", "report", "page", "mani", "number", "the"];

/// Words for the documents as a whole.
const DOCUMENTS: [&str; 6] = ["documents", "files", "pdfs", "docs", "dokumente", "dateien"];
/// The other words of a question for the list of documents.
const LIST_WORDS: &str = "list show me all the of your my which what do you have are there is available uploaded here \
    can i ask about how many in please give name currently know search \
    welche welches was für gibt es zeige zeig mir alle liste auf hast du haben sie wie viele sind da hier vorhanden \
    hochgeladen die bitte kennst kennen";

/// Whether a question asks which documents there are.
pub(super) fn asks_for_list(text: &str) -> bool {
    let words = plain_words(text);
    let is_noun = |word: &String| DOCUMENTS.contains(&word.as_str());
    let is_known = |word: &String| is_noun(word) || is_among(word, LIST_WORDS);
    words.iter().any(is_noun) && words.iter().all(is_known)
}

/// The document of a list that has most or least of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extreme {
    Newest,
    Oldest,
    Longest,
    Shortest,
}

const EXTREMES: [(Extreme, &str); 4] = [
    (Extreme::Newest, "newest latest neueste neuesten"),
    (Extreme::Oldest, "oldest älteste ältesten"),
    (Extreme::Longest, "longest largest biggest längste längsten größte"),
    (Extreme::Shortest, "shortest smallest kürzeste kürzesten kleinste"),
];
/// The other words of a question for one of them.
const EXTREME_WORDS: &str = "document file pdf report dokument datei bericht ist das der die was";

/// Which document of all a question asks for.
pub(super) fn extreme(text: &str) -> Option<Extreme> {
    let words = plain_words(text);
    let (extreme, known) =
        EXTREMES.into_iter().find(|(_, known)| words.iter().any(|word| is_among(word, known)))?;
    let is_known = |word: &String| {
        is_among(word, known)
            || is_among(word, EXTREME_WORDS)
            || is_among(word, LIST_WORDS)
            || DOCUMENTS.contains(&word.as_str())
    };
    let is_noun = |word: &String| {
        DOCUMENTS.contains(&word.as_str())
            || ["document", "file", "pdf", "dokument", "datei"].contains(&word.as_str())
    };
    (words.iter().any(is_noun) && words.iter().all(is_known)).then_some(extreme)
}

impl Extreme {
    /// The line of a list, newest first; none of a list that is cut, except the newest.
    pub(super) fn of(self, list: &str) -> Option<&str> {
        let pages = |line: &str| {
            let (_, pages) = line.rsplit_once('(')?;
            pages.split(' ').next()?.parse::<u32>().ok()
        };
        let lines = || list.lines().filter(|line| pages(line).is_some());
        let is_whole = lines().count() == list.lines().count();
        let line = match self {
            Self::Newest => lines().next(),
            _ if !is_whole => None,
            Self::Oldest => lines().next_back(),
            // Of equal ones the newest.
            Self::Longest => lines().rev().max_by_key(|line| pages(line)),
            Self::Shortest => lines().min_by_key(|line| pages(line)),
        };
        line.map(|line| line.trim_start_matches("- "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_of_pages_is_that_of_the_named_documents() {
        assert!(
            asks_for_pages("How many pages does the pump manual have?") && !asks_for_pages("Which pages?")
        );
        let list = "- Pump_manual.pdf (14 pages)\n- Report 2018.pdf (3 pages)";
        assert_eq!(named(list, "how many pages does the pump manual have?"), "- Pump_manual.pdf (14 pages)");
        assert_eq!(named(list, "how many pages does this report have?"), list);
    }

    #[test]
    fn newest_and_longest_document_are_found_in_the_list() {
        let list = "- A (1).pdf (3 pages)\n- B.pdf (14 pages)\n- C.pdf (1 page)\n- D.pdf (14 pages)";
        let line = |question| extreme(question).unwrap().of(list).unwrap();
        assert_eq!(line("What is the newest document?"), "A (1).pdf (3 pages)");
        assert_eq!(line("Which of the files is the oldest?"), "D.pdf (14 pages)");
        assert_eq!(line("which document is the longest"), "B.pdf (14 pages)");
        assert_eq!(line("Welches Dokument ist das kürzeste?"), "C.pdf (1 page)");
        assert_eq!(Extreme::Oldest.of("- A.pdf (3 pages)\n- …"), None);
        for other in ["What is the longest river?", "What does the latest report say about pumps?", "newest"]
        {
            assert_eq!(extreme(other), None, "{other}");
        }
    }

    #[test]
    fn list_of_documents_is_asked_for_in_plain_words() {
        for text in [
            "list all documents",
            "Which documents do you have?",
            "what files are there",
            "How many PDFs are there?",
            "What are the documents about?",
            "Welche Dokumente gibt es?",
            "Zeig mir alle Dateien",
        ] {
            assert!(asks_for_list(text), "{text}");
        }
        for text in ["", "list", "Which documents mention pumps?", "What is the document number of the pump?"]
        {
            assert!(!asks_for_list(text), "{text}");
        }
    }
}
