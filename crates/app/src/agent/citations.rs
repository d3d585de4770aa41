//! Citations in the text of a model, checked against the passages that were found.
//!
//! The model cites a passage by its number, such as `[2]`, and the client receives title and page: `(Terms.pdf, page 4)`. Citations that
//! the model writes in that form itself are checked too. A citation of a passage, document or page that was not found is removed.

mod located;

use super::prompt::TITLE_CHARS;
use docent_domain::retrieval::ScoredChunk;
use std::mem;

pub use located::{LocatedCitation, locate};

/// Maximum length in bytes of text in parentheses that can be a citation.
const PARENTHESES_MAX: usize = 400;
/// Maximum length in bytes of numbers in brackets that can be a citation.
const BRACKETS_MAX: usize = 24;
/// Larger numbers in brackets, such as years, are not citations.
const NUMBER_MAX: usize = 999;
/// Words before the number of a page, without a final period.
const PAGE_WORDS: [&str; 14] = [
    "page", "pages", "p", "pp", "pg", "seite", "seiten", "s", "página", "páginas", "pagina", "pagine",
    "strona", "sida",
];

/// Replaces and removes citations in a stream of text. Text that may be the beginning of a citation is held back.
#[derive(Debug, Default)]
pub(super) struct CitationFilter {
    /// Text that was not returned yet.
    held: String,
    /// Whether the text is in a span or block of code, or JSON.
    is_code: bool,
    /// Whether there was text other than white space.
    has_begun: bool,
    /// The last character that was returned.
    last: Option<char>,
    /// Whether a space is omitted if it is the next character.
    skips_space: bool,
    /// Number of citations that were removed.
    pub(super) removed: u64,
}

/// What a citation becomes.
#[derive(Debug, PartialEq)]
enum Checked {
    /// The beginning of the text may be a citation.
    Incomplete,
    /// The first character does not begin a citation.
    NoCitation,
    /// The first bytes are not a citation, though they have the form of one.
    Keep(usize),
    /// The first bytes are a citation. Some of its places may be removed; without any left all of it is.
    Citation {
        /// Length in bytes.
        length: usize,
        /// The supported places.
        places: Vec<String>,
        /// Number of unsupported places.
        unsupported: u64,
    },
}

impl CitationFilter {
    /// Adds text of the model. Returns the text for the client, which may be empty.
    pub(super) fn push(&mut self, text: &str, sources: &[ScoredChunk]) -> String {
        self.held.push_str(text);
        if let Some(first) = self.held.trim_start().chars().next().filter(|_| !self.has_begun) {
            self.has_begun = true;
            self.is_code = first == '{';
        }
        self.filter(sources, false)
    }

    /// Returns the rest at the end of the model's text.
    pub(super) fn finish(&mut self, sources: &[ScoredChunk]) -> String {
        let text = self.filter(sources, true);
        // The text of another model call does not continue code or a space of this one.
        *self = Self { last: self.last, removed: self.removed, ..Self::default() };
        text
    }

    fn filter(&mut self, sources: &[ScoredChunk], is_end: bool) -> String {
        let (held, mut out, sent) = (mem::take(&mut self.held), String::new(), self.last);
        let mut rest = held.as_str();
        loop {
            let is_code = self.is_code;
            let Some(at) = rest.find(|c| c == '`' || !is_code && matches!(c, '[' | '(')) else {
                self.hold(rest, if is_end || is_code { rest } else { without_space(rest) }, &mut out);
                return out;
            };
            let (before, from) = rest.split_at(at);
            let whole = mem::replace(&mut rest, from);
            let checked = match rest.as_bytes().first() {
                Some(b'[') => check_brackets(rest, sources, is_end),
                Some(b'(') => check_parentheses(rest, sources, is_end),
                _ => {
                    self.is_code = !self.is_code;
                    Checked::NoCitation
                }
            };
            if checked != Checked::Incomplete {
                self.emit(before, &mut out);
            }
            let length = match checked {
                Checked::Incomplete => {
                    self.hold(whole, without_space(before), &mut out);
                    return out;
                }
                Checked::NoCitation => 1,
                Checked::Keep(length) => length,
                Checked::Citation { length, places, unsupported } => {
                    self.removed += unsupported;
                    self.cite(&places, sent, &mut out);
                    rest = rest.get(length..).unwrap_or_default();
                    continue;
                }
            };
            let (kept, after) = rest.split_at(length);
            self.emit(kept, &mut out);
            rest = after;
        }
    }

    /// Returns the beginning of a text and holds back the rest.
    fn hold(&mut self, text: &str, beginning: &str, out: &mut String) {
        self.emit(beginning, out);
        self.held = text.get(beginning.len()..).unwrap_or_default().to_owned();
    }

    fn cite(&mut self, places: &[String], sent: Option<char>, out: &mut String) {
        if !places.is_empty() {
            let space = if self.last.is_some_and(|c| !c.is_whitespace() && c != '(') { " " } else { "" };
            self.emit(&format!("{space}({})", places.join("; ")), out);
        } else if out.ends_with(' ') {
            out.pop();
            self.last = out.chars().next_back().or(sent);
        } else {
            self.skips_space = self.last.is_none_or(char::is_whitespace);
        }
    }

    fn emit(&mut self, text: &str, out: &mut String) {
        if text.is_empty() {
            return;
        }
        let skips_space = mem::take(&mut self.skips_space);
        let text = text.strip_prefix(' ').filter(|_| skips_space).unwrap_or(text);
        out.push_str(text);
        self.last = text.chars().next_back().or(self.last);
    }
}

/// The text without a space at its end, which is removed with a citation that follows.
fn without_space(text: &str) -> &str {
    text.strip_suffix(' ').unwrap_or(text)
}

/// Checks text that begins with a bracket: `[1]` or `[1, 2]`.
fn check_brackets(text: &str, sources: &[ScoredChunk], is_end: bool) -> Checked {
    let inner = text.get(1..).unwrap_or_default();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, ',' | ';' | ' ');
    let Some(end) = inner.find(|c| !is_number(c)) else {
        let may_continue = !is_end && inner.len() < BRACKETS_MAX;
        return if may_continue { Checked::Incomplete } else { Checked::NoCitation };
    };
    let (numbers, after) = inner.split_at(end);
    let Some(after) = after.strip_prefix(']') else { return Checked::NoCitation };
    let numbers: Option<Vec<usize>> = numbers
        .split([',', ';'])
        .map(|number| number.trim().parse().ok().filter(|n| *n <= NUMBER_MAX))
        .collect();
    let Some(numbers) = numbers else { return Checked::NoCitation };
    let length = end + 2;
    match after.chars().next() {
        None if !is_end => return Checked::Incomplete,
        // A link or the target of one.
        Some('(' | ':') => return Checked::Keep(length),
        _ => {}
    }
    if is_quoted(text.get(..length).unwrap_or_default(), sources) {
        return Checked::Keep(length);
    }
    let (mut places, mut unsupported) = (Vec::new(), 0);
    for number in numbers {
        match number.checked_sub(1).and_then(|at| sources.get(at)) {
            Some(source) => places.push(format!("{}, {}", source.title, source.place())),
            None => unsupported += 1,
        }
    }
    Checked::Citation { length, places, unsupported }
}

/// Checks text that begins with a parenthesis: `(Terms.pdf, page 4)` or `(Terms.pdf, page 4; Plan.pdf, pages 2 to 3)`.
fn check_parentheses(text: &str, sources: &[ScoredChunk], is_end: bool) -> Checked {
    let Some(length) = parentheses(text) else {
        let may_continue = !is_end && text.len() < PARENTHESES_MAX && !text.contains('\n');
        return if may_continue { Checked::Incomplete } else { Checked::NoCitation };
    };
    let inner = text.get(1..length - 1).unwrap_or_default();
    let parts: Option<Vec<(&str, bool)>> =
        inner.split(';').map(|part| Some((part.trim(), is_supported(part, sources)?))).collect();
    match parts {
        None => Checked::NoCitation,
        Some(parts) if parts.iter().all(|(_, is_supported)| *is_supported) => Checked::Keep(length),
        Some(_) if is_quoted(inner, sources) => Checked::Keep(length),
        Some(parts) => {
            let (supported, unsupported): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.1);
            let places = supported.into_iter().map(|(part, _)| part.to_owned()).collect();
            Checked::Citation { length, places, unsupported: unsupported.len() as u64 }
        }
    }
}

/// The length of the text in parentheses that begins here.
fn parentheses(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take_while(|(at, c)| *at < PARENTHESES_MAX && *c != '\n') {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a source has the place that this text cites; none if it is not a citation.
fn is_supported(text: &str, sources: &[ScoredChunk]) -> Option<bool> {
    if let Some((name, (first, last))) = cited_pages(text) {
        let is_cited = |source: &ScoredChunk| {
            is_title(name, &source.title) && first <= source.span.end.page && source.span.start.page <= last
        };
        return Some(sources.iter().any(is_cited));
    }
    // Other text about a document is not a citation.
    let cited = key(text);
    let is_cited = |source: &ScoredChunk| cited == key(&format!("{}{}", source.title, source.place()));
    sources.iter().any(is_cited).then_some(true)
}

/// Whether a model means this title. It may omit the extension of a file, and knows long titles only in part.
fn is_title(name: &str, title: &str) -> bool {
    let name = key(name);
    let stem = title.rsplit_once('.').map_or(title, |(stem, _)| stem);
    let shown: String = title.chars().take(TITLE_CHARS).collect();
    !name.is_empty() && [title, stem, &shown].iter().any(|title| key(title) == name)
}

/// The name and the pages of a citation: 4 to 5 of `Terms.pdf, pages 4 to 5`.
fn cited_pages(text: &str) -> Option<(&str, (u32, u32))> {
    let (name, place) = text.rsplit_once(',')?;
    let place = place.trim().to_lowercase();
    let (word, numbers) = place.split_at(place.find(|c: char| c.is_ascii_digit())?);
    if !PAGE_WORDS.contains(&word.trim().trim_end_matches('.')) {
        return None;
    }
    let mut pages = numbers.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let first = pages.next()?.parse().ok()?;
    let last = pages.next().map_or(Some(first), |number| number.parse().ok())?;
    (pages.next().is_none() && first <= last).then_some((name, (first, last)))
}

/// Whether a passage has this text, so that it can be part of a quotation.
fn is_quoted(text: &str, sources: &[ScoredChunk]) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let quoted = words(text);
    sources.iter().any(|source| words(&source.text).contains(&quoted))
}

/// The letters and digits of a text. Models change spaces and punctuation of titles.
fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::{Position, Span};
    use docent_testkit::retrieval::found;

    fn source(title: &str, first: u32, last: u32) -> ScoredChunk {
        let at = |page| Position { page, offset: 0 };
        let span = Span { start: at(first), end: at(last) };
        ScoredChunk {
            title: title.to_owned(),
            span,
            ..found(first, last, "The warranty (see Annex, page 9) lasts [12] years.")
        }
    }

    fn sources() -> Vec<ScoredChunk> {
        let slide = ScoredChunk { label: Some("Slide 3".to_owned()), ..source("Plan (final).pptx", 3, 3) };
        vec![source("Terms.pdf", 4, 4), source("Annual report, 2018.pdf", 6, 7), slide]
    }

    /// Filters a text in pieces of this many characters; returns the text and the number of removed citations.
    fn filter(text: &str, size: usize) -> (String, u64) {
        let (mut filter, sources) = (CitationFilter::default(), sources());
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars.chunks(size).map(|piece| piece.iter().collect::<String>());
        let mut filtered: String = pieces.map(|piece| filter.push(&piece, &sources)).collect();
        filtered += &filter.finish(&sources);
        (filtered, filter.removed)
    }

    /// Checks a text in one piece and character by character.
    fn assert_filtered(text: &str, expected: &str, removed: u64) {
        for size in [text.chars().count().max(1), 1, 3] {
            let (filtered, count) = filter(text, size);
            assert_eq!((filtered.as_str(), count), (expected, removed), "{text} by {size}");
        }
    }

    #[test]
    fn number_becomes_title_and_page() {
        assert_filtered("Five years [1].", "Five years (Terms.pdf, page 4).", 0);
        assert_filtered("Five years[1].", "Five years (Terms.pdf, page 4).", 0);
        assert_filtered("[1]", "(Terms.pdf, page 4)", 0);
        assert_filtered("So [1][2]", "So (Terms.pdf, page 4) (Annual report, 2018.pdf, pages 6 to 7)", 0);
        assert_filtered("So [1, 3].", "So (Terms.pdf, page 4; Plan (final).pptx, Slide 3).", 0);
    }

    #[test]
    fn unsupported_number_is_removed() {
        assert_filtered("Five years [4].", "Five years.", 1);
        assert_filtered("Five [0] years", "Five years", 1);
        assert_filtered("[9] Five", "Five", 1);
        assert_filtered("So [1, 9].", "So (Terms.pdf, page 4).", 1);
        assert_filtered("So [8] [9].", "So.", 2);
        assert_filtered("So [9][1].", "So (Terms.pdf, page 4).", 1);
    }

    #[test]
    fn supported_place_is_unchanged() {
        for text in [
            "Yes (Terms.pdf, page 4).",
            "Ja (terms, Seite 4).",
            "Yes (Annual report, 2018.pdf, p. 7).",
            "Yes (Annual report, 2018.pdf, pages 6 to 7; Terms.pdf, page 4).",
            "Yes (Annual report, 2018.pdf, pages 7–9).",
            "Yes (Plan (final).pptx, Slide 3).",
            "Yes (Plan (final).pptx, page 3).",
        ] {
            assert_filtered(text, text, 0);
        }
    }

    // Invariant: No citation of a passage that was not found reaches the client.
    #[test]
    fn unsupported_place_is_removed() {
        for text in [
            "Yes (Terms.pdf, page 5).",
            "Yes (Terms of 2018.pdf, page 4).",
            "Yes (Invented.pdf, S. 4).",
            "Yes (Annual report, 2018.pdf, pages 8 to 9).",
            "Yes (, page 4).",
        ] {
            assert_filtered(text, "Yes.", 1);
        }
        assert_filtered("Yes (Terms.pdf, page 4; Invented.pdf, page 1).", "Yes (Terms.pdf, page 4).", 1);
        assert_filtered("Yes (A.pdf, page 1; B.pdf, page 1).", "Yes.", 2);
    }

    #[test]
    fn text_in_another_form_is_unchanged() {
        for text in [
            "A list [] of [ ] and [x], [^1], [-1], in [2019] and (so on).",
            "A link [4](https://example.org) and its target\n[4]: https://example.org",
            "Code `rows[4]` and\n```\nf(rows[4], page 4)\n```\n",
            " {\"answer\": \"five years\", \"sources\": [1, 4]}",
            "Nested ((a) b (c)) and open ( and [ and [4",
            "Open (Terms.pdf,\npage 9) over lines",
            "(about Terms.pdf)",
            "As it says, “The warranty (see Annex, page 9) lasts [12] years”.",
            "Ünïcödé (日本語) [語]",
            "",
        ] {
            assert_filtered(text, text, 0);
        }
        let long = format!("({}, page 9)", "x".repeat(PARENTHESES_MAX));
        assert_filtered(&long, &long, 0);
    }

    #[test]
    fn only_the_possible_beginning_of_a_citation_is_held_back() {
        let (mut filter, sources) = (CitationFilter::default(), sources());
        let mut push = |text| filter.push(text, &sources);
        assert_eq!(push("Five "), "Five");
        assert_eq!(push("years ["), " years");
        assert_eq!(push("1"), "");
        assert_eq!(push("x] and (so"), " [1x] and");
        assert_eq!(push(" on) [1]"), " (so on)");
        assert_eq!(push("."), " (Terms.pdf, page 4).");
    }
}
