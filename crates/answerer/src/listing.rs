//! Answers about the documents themselves, from the output of the tool that lists them.

use crate::quote::source;
use crate::words::{Extreme, Phrases, Words};
use docent_text::lexical::query_terms;

/// Maximum number of titles to choose from. Others can be typed.
const CHOICES: usize = 12;

/// A list of documents, as the tool returns it.
pub(crate) struct Listing<'a> {
    /// The lines of those that can be searched.
    pub(crate) readable: Vec<&'a str>,
    /// The titles of those that failed, and of those that are being processed. “…” stands for others.
    failed: Vec<&'a str>,
    pending: Vec<&'a str>,
    /// Titles and pages of those with pictures that were not read: `title: 4, 7`.
    pictures: Vec<&'a str>,
    /// The lines of a summary: `> page sentence` and `# page heading`.
    summary: Vec<&'a str>,
}

impl<'a> Listing<'a> {
    pub(crate) fn read(content: &'a str) -> Self {
        let with = |mark: &'static str| content.lines().filter(move |line| line.starts_with(mark));
        Self {
            readable: with("- ").collect(),
            failed: with("! ").map(|line| &line[2..]).collect(),
            pending: with("~ ").map(|line| &line[2..]).collect(),
            pictures: with("% ").map(|line| &line[2..]).collect(),
            summary: content.lines().filter(|line| line.starts_with(['>', '#'])).collect(),
        }
    }

    pub(crate) fn has_summary(&self) -> bool {
        self.summary.iter().any(|line| line.starts_with('>'))
    }

    /// All documents, and those that were not searched.
    pub(crate) fn list(&self, phrases: &Phrases) -> Vec<String> {
        let readable =
            (!self.readable.is_empty()).then(|| format!("{}\n\n{}", phrases.listed, self.lines(phrases)));
        readable.into_iter().chain(self.not_searched(phrases)).collect()
    }

    /// The lines of the documents that can be searched.
    pub(crate) fn lines(&self, phrases: &Phrases) -> String {
        self.readable.iter().map(|line| in_language(line, phrases)).collect::<Vec<_>>().join("\n")
    }

    /// The titles of the first documents that can be searched.
    pub(crate) fn choices(&self) -> Vec<String> {
        let titles = self.readable.iter().filter_map(|line| line.rsplit_once(" ("));
        titles.map(|(title, _)| title.trim_start_matches("- ").to_owned()).take(CHOICES).collect()
    }

    /// Names the documents that were not searched, and pages with pictures that were not read; `None` without such documents.
    pub(crate) fn not_searched(&self, phrases: &Phrases) -> Option<String> {
        let named = [(&phrases.failed, &self.failed), (&phrases.pending, &self.pending)];
        let named: Vec<String> = named
            .into_iter()
            .filter(|(_, titles)| !titles.is_empty())
            .map(|(reason, titles)| {
                format!("{reason} {}.", phrases.join(titles.iter().copied(), &phrases.and))
            })
            .chain(self.unread_pictures(phrases))
            .collect();
        (!named.is_empty()).then(|| named.join(" "))
    }

    fn unread_pictures(&self, phrases: &Phrases) -> Option<String> {
        let places = self.pictures.iter().filter_map(|line| line.rsplit_once(": "));
        let places: Vec<String> =
            places.map(|(title, pages)| format!("{} ({pages})", phrases.join([title], ""))).collect();
        (!places.is_empty()).then(|| format!("{} {}.", phrases.pictures, places.join(", ")))
    }

    /// The documents whose titles a question names; all if it names none.
    pub(crate) fn named(&self, question: &str, words: &Words) -> String {
        let asked = query_terms(question);
        let is_named = |line: &&&str| {
            let title = line.rsplit_once(" (").map_or(**line, |(title, _)| title);
            let terms = query_terms(title);
            terms.iter().any(|term| asked.contains(term) && !words.generic.contains(term))
        };
        let named: Vec<&str> = self.readable.iter().filter(is_named).copied().collect();
        let lines = if named.is_empty() { &self.readable } else { &named };
        lines.iter().map(|line| in_language(line, &words.phrases)).collect::<Vec<_>>().join("\n")
    }

    /// The document that has most or least of what a question asks for. `None` if the list is cut and it may be
    /// another one.
    pub(crate) fn extreme(&self, question: &str, words: &Words) -> Option<String> {
        let asked = crate::words::plain(question);
        let names = |known: &str| known.split(' ').any(|word| asked.split(' ').any(|it| it == word));
        let (extreme, _) = words.extremes.iter().find(|(_, known)| names(known))?;
        let pages = |line: &&&str| line.rsplit_once('(')?.1.split(' ').next()?.parse::<u32>().ok();
        let lines = || self.readable.iter().filter(|line| pages(line).is_some());
        let is_whole = lines().count() == self.readable.len();
        let line = match extreme {
            Extreme::Newest => lines().next(),
            _ if !is_whole => None,
            Extreme::Oldest => lines().next_back(),
            // Of equal ones the newest.
            Extreme::Longest => lines().rev().max_by_key(|line| pages(line)),
            Extreme::Shortest => lines().min_by_key(|line| pages(line)),
        };
        line.map(|line| in_language(line.trim_start_matches("- "), &words.phrases))
    }

    /// The summary of the only document: its title, its sentences with their pages, and its headings.
    pub(crate) fn summarize(&self, phrases: &Phrases) -> String {
        let document = self.readable.first().map_or("", |line| line.trim_start_matches("- "));
        let title = document.rsplit_once(" (").map_or(document, |(title, _)| title);
        let mut paragraphs = vec![format!("**{}**", in_language(document, phrases).replace('*', ""))];
        let mut headings = Vec::new();
        for line in &self.summary {
            let mut parts = line.splitn(3, ' ');
            let (Some(kind), Some(page), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            match (kind, page.parse::<u32>()) {
                (">", Ok(page)) => {
                    let text = text.replace(['“', '”', '"'], "'");
                    paragraphs.push(format!("“{text}” {}", source(title, page, phrases)));
                }
                ("#", Ok(page)) => headings.push(format!("{text} ({page})")),
                ("#", Err(_)) => headings.push(text.to_owned()),
                _ => {}
            }
        }
        if !headings.is_empty() {
            paragraphs.push(format!("{} {}", phrases.sections, headings.join("; ")));
        }
        paragraphs.join("\n\n")
    }
}

/// The line of a document with the word for its pages in the language of the answer.
fn in_language(line: &str, phrases: &Phrases) -> String {
    match (line.strip_suffix(" page)"), line.strip_suffix(" pages)")) {
        (Some(before), _) => format!("{before} {})", phrases.pages_one),
        (_, Some(before)) => format!("{before} {})", phrases.pages_many),
        (None, None) => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_and_longest_document_are_found_in_the_list() {
        let list =
            Listing::read("- A (1).pdf (3 pages)\n- B.pdf (14 pages)\n- C.pdf (1 page)\n- D.pdf (14 pages)");
        let line = |question| list.extreme(question, Words::of(question)).unwrap();
        assert_eq!(line("What is the newest document?"), "A (1).pdf (3 pages)");
        assert_eq!(line("Which of the files is the oldest?"), "D.pdf (14 pages)");
        assert_eq!(line("which document is the longest"), "B.pdf (14 pages)");
        assert_eq!(line("Welches Dokument ist das kürzeste?"), "C.pdf (1 Seite)");
        let cut = Listing::read("- A.pdf (3 pages)\n- …");
        assert_eq!(cut.extreme("the oldest document", Words::of("the")), None);
    }

    #[test]
    fn number_of_pages_is_that_of_the_named_documents() {
        let list = Listing::read("- Pump_manual.pdf (14 pages)\n- Report 2018.pdf (3 pages)");
        let named = |question: &str| list.named(question, Words::of(question));
        assert_eq!(named("how many pages does the pump manual have?"), "- Pump_manual.pdf (14 pages)");
        assert_eq!(named("how many pages does it have?").lines().count(), 2);
    }

    #[test]
    fn summary_quotes_sentences_with_their_pages() {
        let output = "- Pump (9).pdf (14 pages)\n> 1 This manual is about “pumps”.\n> 3 They move.\n# 2 Safety\n# - Annex";
        let list = Listing::read(output);
        assert!(list.has_summary() && !Listing::read("- Pump.pdf (14 pages)").has_summary());
        assert_eq!(
            list.summarize(&Words::of("Worum geht es?").phrases),
            "**Pump (9).pdf (14 Seiten)**\n\n“This manual is about 'pumps'.” (Pump (9).pdf, Seite 1)\n\n“They move.” \
             (Pump (9).pdf, Seite 3)\n\nAbschnitte: Safety (2); Annex"
        );
    }
}
