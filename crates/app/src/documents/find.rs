//! Finds a text in a document, exactly except for letter case, white space and soft hyphens.

use super::get;
use crate::error::Result;
use crate::{App, extractions};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::extraction::ExtractedPage;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::DocumentId;
use docent_domain::scope::Scope;
use docent_ports::text_extractor::ExtractionError;

/// Maximum number of places that are returned.
pub const HITS_MAX: usize = 200;
/// Number of characters of the text before and after a place.
const CONTEXT: usize = 48;

/// A place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Page, counted from 1.
    pub page: u32,
    /// What the page is in the file; none in PDFs.
    pub label: Option<String>,
    /// The text before the place.
    pub before: String,
    /// The text as written in the document.
    pub text: String,
    /// The text after the place.
    pub after: String,
}

/// The places of a text in a document, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextHits {
    /// The first [`HITS_MAX`] places.
    pub hits: Vec<Hit>,
    /// The number of all places.
    pub total: u32,
}

/// Finds a text in the text of a document. A text over the end of a page is not found. A document that is not ingested has no text.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound), or when the database or the blob store cannot be reached.
pub async fn find(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
    text: &str,
) -> Result<TextHits> {
    let document = get::get(app, grant, scope, id).await?;
    let is_ingested = document.state.vector_doc_id().is_some();
    let Some(file) = document.file.as_ref().filter(|_| is_ingested) else {
        return Ok(TextHits::default());
    };
    let extraction = extractions::extract(app, file).await.map_err(|error| match error {
        ExtractionError::Fault(fault) => fault,
        // It was readable when it was ingested.
        ExtractionError::Document(_) => {
            Fault::new(Component::Service, FaultKind::Internal, "the file can no longer be read")
        }
    })?;
    let needle = Folded::of(text.trim()).text;
    // Reading a long text is CPU-bound.
    let found = tokio::task::spawn_blocking(move || find_in(&extraction.pages, &needle)).await;
    let panicked = |_| Fault::new(Component::Service, FaultKind::Internal, "finding a text panicked");
    Ok(found.map_err(panicked)?)
}

fn find_in(pages: &[ExtractedPage], needle: &str) -> TextHits {
    let mut found = TextHits::default();
    if needle.is_empty() {
        return found;
    }
    for page in pages {
        let folded = Folded::of(&page.text);
        for (at, _) in folded.text.match_indices(needle) {
            found.total = found.total.saturating_add(1);
            if found.hits.len() < HITS_MAX {
                found.hits.push(folded.hit(page, at, at + needle.len()));
            }
        }
    }
    found
}

/// A text in lower case, without soft hyphens, and with one space for white space.
struct Folded {
    text: String,
    /// The place in the original text of each byte and of the end.
    places: Vec<usize>,
}

impl Folded {
    fn of(original: &str) -> Self {
        let (mut text, mut places) = (String::with_capacity(original.len()), Vec::new());
        for (at, c) in original.char_indices() {
            match c {
                '\u{ad}' => {}
                c if c.is_whitespace() && text.ends_with(' ') => {}
                c if c.is_whitespace() => text.push(' '),
                c => text.extend(c.to_lowercase()),
            }
            places.resize(text.len(), at);
        }
        places.push(original.len());
        Self { text, places }
    }

    fn hit(&self, page: &ExtractedPage, start: usize, end: usize) -> Hit {
        let place = |at: usize| self.places.get(at).copied().unwrap_or(page.text.len());
        let (start, end) = (place(start), place(end));
        let before = page.text.get(..start).unwrap_or_default();
        let after = page.text.get(end..).unwrap_or_default();
        let from = before.char_indices().rev().take(CONTEXT).last().map_or(start, |(at, _)| at);
        let until = after.char_indices().nth(CONTEXT).map_or(after.len(), |(at, _)| at);
        let squeezed = |text: &str| Self::squeeze(text);
        Hit {
            page: page.number,
            label: page.label.clone(),
            before: squeezed(whole_words(before, from, before.len())),
            text: squeezed(page.text.get(start..end).unwrap_or_default()),
            after: squeezed(whole_words(after, 0, until)),
        }
    }

    /// A text with one space for white space.
    fn squeeze(text: &str) -> String {
        let mut squeezed = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                c if !c.is_whitespace() => squeezed.push(c),
                _ if squeezed.ends_with(' ') => {}
                _ => squeezed.push(' '),
            }
        }
        squeezed
    }
}

/// A part of a text without the words that its ends cut. A single word that is cut stays.
fn whole_words(text: &str, from: usize, until: usize) -> &str {
    let part = text.get(from..until).unwrap_or_default();
    let is_cut = |left: Option<char>, right: Option<char>| {
        left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric)
    };
    let is_start_cut = is_cut(text.get(..from).and_then(|t| t.chars().next_back()), part.chars().next());
    let is_end_cut = is_cut(part.chars().next_back(), text.get(until..).and_then(|t| t.chars().next()));
    let start = is_start_cut.then(|| part.find(char::is_whitespace)).flatten().unwrap_or_default();
    let end = is_end_cut.then(|| part.rfind(char::is_whitespace)).flatten().unwrap_or(part.len());
    part.get(start..end).unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str) -> ExtractedPage {
        ExtractedPage { number, text: text.to_owned(), ..ExtractedPage::default() }
    }

    fn hits(texts: &[&str], needle: &str) -> Vec<(u32, String, String, String)> {
        let pages: Vec<_> = (1..).zip(texts).map(|(number, text)| page(number, text)).collect();
        let found = find_in(&pages, &Folded::of(needle).text);
        assert_eq!(found.total as usize, found.hits.len());
        found.hits.into_iter().map(|hit| (hit.page, hit.before, hit.text, hit.after)).collect()
    }

    fn hit(page: u32, before: &str, text: &str, after: &str) -> (u32, String, String, String) {
        (page, before.to_owned(), text.to_owned(), after.to_owned())
    }

    #[test]
    fn text_is_found_in_another_case_and_over_lines() {
        let texts = ["The Valve\n  closes.", "no", "VALVE CLOSES"];
        let expected = [hit(1, "The ", "Valve closes", "."), hit(3, "", "VALVE CLOSES", "")];
        assert_eq!(hits(&texts, "valve closes"), expected);
        assert_eq!(hits(&["co\u{ad}operate"], "coop"), [hit(1, "", "co\u{ad}op", "erate")]);
        assert_eq!(hits(&["GRÖẞE İx groß"], "größe"), [hit(1, "", "GRÖẞE", " İx groß")]);
        assert_eq!(hits(&["İx"], "x"), [hit(1, "İ", "x", "")]);
        assert!(hits(&["valve", "closes"], "valve closes").is_empty(), "not over the end of a page");
        assert!(hits(&["a b"], " ").len() == 1 && hits(&["a"], "").is_empty());
    }

    #[test]
    fn context_is_cut_and_hits_are_limited() {
        let text = format!("{}x{}", "ü".repeat(100), "ö".repeat(100));
        assert_eq!(hits(&[&text], "x"), [hit(1, &"ü".repeat(CONTEXT), "x", &"ö".repeat(CONTEXT))]);
        let [left, right] = ["left ", " turned"].map(|word| word.repeat(CONTEXT));
        let [(_, before, _, after)] = &*hits(&[&format!("{left}x{right}")], "x") else { panic!("one hit") };
        assert!(
            before.trim().split(' ').all(|word| word == "left") && after.ends_with("turned"),
            "{before}{after}"
        );
        let found = find_in(&[page(1, &"a".repeat(HITS_MAX + 5))], "a");
        assert_eq!((found.hits.len(), found.total as usize), (HITS_MAX, HITS_MAX + 5));
    }
}
