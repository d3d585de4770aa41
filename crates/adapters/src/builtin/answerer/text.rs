//! The text of answers: quotes with their sources, and what is said of them.

use super::phrases::Phrases;
use super::quote::Quote;
use super::records::Listing;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::Correction;
use docent_text::lexical::is_foreign_to_german;

/// Maximum number of pages that an answer without quotes names.
const CLOSEST_PAGES: usize = 3;
/// Longer questions are not repeated.
const UNDERSTOOD_CHARS: usize = 300;

/// Joins the paragraphs of an answer.
pub(super) fn paragraphs(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join("\n\n")
}

/// A list of documents, and those that were not searched.
pub(super) fn list(list: &str, phrases: &Phrases) -> String {
    let list = Listing::of(list);
    let readable = || paragraphs([phrases.listed.to_owned(), in_language(&list.readable, phrases)]);
    let readable = (!list.readable.is_empty()).then(readable);
    paragraphs(readable.into_iter().chain(not_searched(&list, phrases)))
}

/// What the reader should know of how the question was understood.
pub(super) fn notes(understood: Option<&str>, corrections: &[Correction], phrases: &Phrases) -> Vec<String> {
    let named: Vec<&Correction> = corrections.iter().filter(|correction| !correction.is_common).collect();
    let read_as = (!named.is_empty()).then(|| {
        let written = named.iter().map(|correction| correction.written.as_str());
        let meant = named.iter().map(|correction| correction.meant.as_str());
        phrases
            .read_as
            .replace("{written}", &phrases.list(written, phrases.or))
            .replace("{meant}", &phrases.list(meant, phrases.and))
    });
    let understood = understood.filter(|question| question.chars().count() <= UNDERSTOOD_CHARS);
    let understood = understood.map(|question| phrases.understood.replace("{question}", question));
    understood.into_iter().chain(read_as).collect()
}

/// Introduces the rows with the parts of a calculation.
pub(super) fn parts(missing: &[String], phrases: &Phrases) -> String {
    if missing.is_empty() {
        return phrases.parts.to_owned();
    }
    format!("{} {} {}.", phrases.parts, phrases.not_found, missing.join("; "))
}

/// Names what quotes lack; `None` if they lack nothing.
pub(super) fn lacking(absent: &[String], phrases: &Phrases) -> Option<String> {
    let words = absent.iter().map(String::as_str);
    (!absent.is_empty()).then(|| format!("{} {}.", phrases.absent, phrases.list(words, phrases.and)))
}

/// Names the documents that were not searched; `None` if all were.
pub(super) fn not_searched(list: &Listing<'_>, phrases: &Phrases) -> Option<String> {
    let named = [(phrases.failed, &list.failed), (phrases.pending, &list.pending)];
    let named = named.into_iter().filter(|(_, titles)| !titles.is_empty());
    let named: Vec<String> =
        named.map(|(reason, titles)| format!("{reason} {}.", phrases.titles(titles))).collect();
    (!named.is_empty()).then(|| named.join(" "))
}

/// Names what no passage has; `None` if it is nothing.
pub(super) fn not_found(unknown: &[String], phrases: &Phrases) -> Option<String> {
    let words = unknown.iter().map(String::as_str);
    (!unknown.is_empty()).then(|| format!("{} {}.", phrases.not_found, phrases.list(words, phrases.and)))
}

/// A sentence with the pages of the best passages.
pub(super) fn with_closest(sentence: &str, phrases: &Phrases, passages: &[&ScoredChunk]) -> String {
    let mut pages: Vec<String> = Vec::new();
    for passage in passages {
        let page = format!("{}, {} {}", passage.title, phrases.page, passage.span.start.page);
        if !pages.contains(&page) {
            pages.push(page);
        }
    }
    pages.truncate(CLOSEST_PAGES);
    if pages.is_empty() {
        return sentence.to_owned();
    }
    format!("{sentence} {} {}.", phrases.closest, pages.join("; "))
}

/// Says that the passages are in another language than the question, if all of them are.
pub(super) fn other_language(passages: &[ScoredChunk], phrases: &Phrases) -> Option<&'static str> {
    let is_other = !passages.is_empty() && passages.iter().all(|passage| is_foreign_to_german(&passage.text));
    phrases.other_language.filter(|_| is_other)
}

/// A list of documents with the word for their pages in the language of the answer.
pub(super) fn in_language(list: &str, phrases: &Phrases) -> String {
    let [one, many] = phrases.pages;
    let line = |line: &str| match (line.strip_suffix(" page)"), line.strip_suffix(" pages)")) {
        (Some(before), _) => format!("{before} {one})"),
        (_, Some(before)) => format!("{before} {many})"),
        (None, None) => line.to_owned(),
    };
    list.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether an answer of [`BuiltinAnswerer`] quotes this page of the document with this title.
pub fn quotes_page(answer: &str, title: &str, page: u32) -> bool {
    Phrases::all().iter().any(|phrases| answer.contains(&format_source(title, page, phrases)))
}

pub(super) fn format_source(title: &str, page: u32, phrases: &Phrases) -> String {
    format!("({title}, {} {page})", phrases.page)
}

pub(super) fn format_quotes(quotes: &[Quote], phrases: &Phrases) -> String {
    let quoted = |quote: &Quote| {
        let source = format_source(&quote.title, quote.page, phrases);
        if quote.is_block {
            format!("{}\n\n{source}", quote.text)
        } else {
            format!("“{}” {source}", quote.text)
        }
    };
    paragraphs(quotes.iter().map(quoted))
}

/// Writes further quotes as a list; `None` if there are none.
pub(super) fn format_further(quotes: &[Quote], phrases: &Phrases) -> Option<String> {
    let line =
        |quote: &Quote| format!("- “{}” {}", quote.text, format_source(&quote.title, quote.page, phrases));
    let lines: Vec<String> = quotes.iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("{}\n\n{}", phrases.further, lines.join("\n")))
}
