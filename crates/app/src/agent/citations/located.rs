//! Finds the citations in the text of an answer, for clients that receive the place of each.

use super::{cited_pages, is_title, key, parentheses};
use docent_domain::retrieval::ScoredChunk;
use std::ops::Range;

/// A citation in the text of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LocatedCitation<'a> {
    /// Position of `Terms.pdf, page 4` in the text, in characters (Unicode code points), without the parentheses around it.
    pub range: Range<usize>,
    /// The cited passage.
    pub passage: &'a ScoredChunk,
    /// The cited page; the first of several.
    pub page: u32,
}

/// Returns the citations in a text that name one of these passages, in the order of the text. Code has none.
pub fn locate<'a>(text: &str, sources: &'a [ScoredChunk]) -> Vec<LocatedCitation<'a>> {
    let mut found: Vec<LocatedCitation<'a>> = Vec::new();
    let mut is_code = text.trim_start().starts_with('{');
    // The position in bytes from which the rest is read, and the one in characters of the part before `counted`.
    let (mut from, mut counted, mut characters) = (0, 0, 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(['`', '('])).map(|at| from + at) {
        from = at + 1;
        let rest = text.get(at..).unwrap_or_default();
        if rest.starts_with('`') {
            is_code = !is_code;
            continue;
        }
        let Some(length) = parentheses(rest).filter(|_| !is_code) else { continue };
        let inner = rest.get(1..length - 1).unwrap_or_default();
        let places = places(inner, sources);
        if !places.is_empty() {
            from = at + length;
        }
        for (place, passage, page) in places {
            let start = at + 1 + place.start;
            characters += count(text.get(counted..start));
            counted = start;
            let cited = count(inner.get(place));
            found.push(LocatedCitation { range: characters..characters + cited, passage, page });
        }
    }
    found
}

fn count(text: Option<&str>) -> usize {
    text.map_or(0, |text| text.chars().count())
}

/// The places that a text in parentheses cites, with their positions in it in bytes. A title can have a semicolon, so the whole text is
/// read first.
fn places<'a>(inner: &str, sources: &'a [ScoredChunk]) -> Vec<(Range<usize>, &'a ScoredChunk, u32)> {
    let located = |range: Range<usize>| {
        let part = inner.get(range.clone())?;
        let start = range.start + part.len() - part.trim_start().len();
        let (passage, page) = cited(part.trim(), sources)?;
        Some((start..start + part.trim().len(), passage, page))
    };
    if let Some(whole) = located(0..inner.len()) {
        return vec![whole];
    }
    let mut start = 0;
    let parts = inner.split(';').map(|part| {
        let range = start..start + part.len();
        start = range.end + 1;
        range
    });
    parts.filter_map(located).collect()
}

/// The passage that a text such as `Terms.pdf, page 4` cites, and the page. Of several passages with the page, the shortest range counts.
fn cited<'a>(text: &str, sources: &'a [ScoredChunk]) -> Option<(&'a ScoredChunk, u32)> {
    if let Some((name, (first, last))) = cited_pages(text) {
        let has_pages = |source: &&ScoredChunk| {
            is_title(name, &source.title) && first <= source.span.end.page && source.span.start.page <= last
        };
        let range = |source: &&ScoredChunk| source.span.end.page - source.span.start.page;
        if let Some(passage) = sources.iter().filter(has_pages).min_by_key(range) {
            return Some((passage, first.max(passage.span.start.page)));
        }
    }
    let text = key(text);
    let passage =
        sources.iter().find(|source| text == key(&format!("{}{}", source.title, source.place())))?;
    Some((passage, passage.span.start.page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::{Position, Span};
    use docent_testkit::retrieval::found;

    fn source(n: u32, title: &str, first: u32, last: u32) -> ScoredChunk {
        let at = |page| Position { page, offset: 0 };
        let span = Span { start: at(first), end: at(last) };
        ScoredChunk { title: title.to_owned(), span, ..found(n, n, "Five years.") }
    }

    /// The cited texts, with the number of the source and the page.
    fn located(text: &str, sources: &[ScoredChunk]) -> Vec<(String, usize, u32)> {
        let number = |passage| sources.iter().position(|source| source == passage).unwrap();
        let cut = |range: Range<usize>| text.chars().skip(range.start).take(range.len()).collect();
        let all = locate(text, sources).into_iter();
        all.map(|found| (cut(found.range), number(found.passage), found.page)).collect()
    }

    #[test]
    fn citations_have_their_position_in_characters_and_their_page() {
        let sources = [
            source(1, "Terms.pdf", 2, 6),
            source(2, "Größen; 2018.pdf", 6, 7),
            ScoredChunk { label: Some("Slide 3".to_owned()), ..source(3, "Plan (final).pptx", 3, 3) },
            source(4, "Terms.pdf", 4, 4),
        ];
        let text =
            "Fünf “Jahre” 😀 (Terms.pdf, page 5; Plan (final).pptx, Slide 3). Ja (Größen; 2018.pdf, Seite 7)";
        let cited = |text: &str, source, page| (text.to_owned(), source, page);
        assert_eq!(
            located(text, &sources),
            [
                cited("Terms.pdf, page 5", 0, 5),
                cited("Plan (final).pptx, Slide 3", 2, 3),
                cited("Größen; 2018.pdf, Seite 7", 1, 7),
            ]
        );
        assert_eq!(located("(terms, p. 4)", &sources), [cited("terms, p. 4", 3, 4)], "the shorter range");
        assert_eq!(located("(Terms.pdf, pages 1 to 3)", &sources), [cited("Terms.pdf, pages 1 to 3", 0, 2)]);
    }

    #[test]
    fn other_text_is_no_citation() {
        let sources = [source(1, "Terms.pdf", 4, 4)];
        for text in [
            "",
            "(",
            "Yes (Terms.pdf, page 5).",
            "(Other.pdf, page 4)",
            "`(Terms.pdf, page 4)`",
            "((a) b)",
            "{\"a\": \"(Terms.pdf, page 4)\"}",
        ] {
            assert_eq!(located(text, &sources), [], "{text}");
        }
    }
}
