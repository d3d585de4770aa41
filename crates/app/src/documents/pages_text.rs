//! Reads the text of several pages, or of a whole document.

use super::get;
use super::page_text::{TEXT_MAX, unreadable};
use crate::error::Result;
use crate::{App, extractions};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::id::DocumentId;
use docent_domain::scope::Scope;

/// Maximum number of pages of a range. Passages are shorter, unless pages are almost blank.
const RANGE_MAX: u32 = 20;

/// The text of pages of a document.
#[derive(Debug)]
pub struct PagesText {
    /// The document.
    pub document: Document,
    /// Its number of pages; 0 when it is not ingested.
    pub pages: u32,
    /// The text, with a line before each page if there are several; at most [`TEXT_MAX`] characters of pages. None when the first
    /// page does not exist.
    pub text: Option<String>,
    /// The first page after the text, if the text does not end with the requested pages.
    pub next: Option<u32>,
}

/// The text of these pages, counted from 1, or of all pages.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound), or when the database or the blob store cannot be reached.
pub async fn read(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
    range: Option<(u32, u32)>,
) -> Result<PagesText> {
    let document = get::get(app, grant, scope, id).await?;
    let is_ingested = document.state.vector_doc_id().is_some();
    let Some(file) = document.file.as_ref().filter(|_| is_ingested) else {
        return Ok(PagesText { document, pages: 0, text: None, next: None });
    };
    let (mut found, mut pages) = (Vec::new(), 0);
    if let Some((first, last)) = range {
        for number in first..=last.min(first.saturating_add(RANGE_MAX - 1)) {
            let page = extractions::extract_page(app, file, number).await.map_err(unreadable)?;
            pages = page.pages;
            let Some(text) = page.text else { break };
            found.push(Page { number, label: page.label, text });
        }
    } else {
        let extraction = extractions::extract(app, file).await.map_err(unreadable)?;
        pages = u32::try_from(extraction.pages.len()).unwrap_or(u32::MAX);
        let page = |page: docent_domain::extraction::ExtractedPage| Page {
            number: page.number,
            label: page.label,
            text: page.text,
        };
        found.extend(extraction.pages.into_iter().map(page));
    }
    let (text, next) = join(found);
    Ok(PagesText { document, pages, text, next })
}

/// The text of each page of a document that was found in the scope; none if it is not ingested.
///
/// # Errors
/// When the blob store cannot be reached.
pub async fn all(
    app: &App,
    _grant: Grant<ReadDocuments>,
    document: &Document,
) -> Result<Vec<docent_domain::extraction::ExtractedPage>> {
    let is_ingested = document.state.vector_doc_id().is_some();
    let Some(file) = document.file.as_ref().filter(|_| is_ingested) else { return Ok(Vec::new()) };
    Ok(extractions::extract(app, file).await.map_err(unreadable)?.pages)
}

struct Page {
    number: u32,
    label: Option<String>,
    text: String,
}

/// Joins as many pages as the maximum number of characters allows. The first page is cut if it is longer alone.
fn join(pages: Vec<Page>) -> (Option<String>, Option<u32>) {
    let (has_several, mut left) = (pages.len() > 1, TEXT_MAX);
    let mut texts: Vec<String> = Vec::new();
    for Page { number, label, text } in pages {
        let characters = text.chars().count();
        if characters > left && !texts.is_empty() {
            return (Some(texts.join("\n\n")), Some(number));
        }
        left = left.saturating_sub(characters);
        let text: String = text.chars().take(TEXT_MAX).collect();
        texts.push(if has_several {
            format!("[{}]\n{text}", label.unwrap_or_else(|| format!("page {number}")))
        } else {
            text
        });
    }
    ((!texts.is_empty()).then(|| texts.join("\n\n")), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str) -> Page {
        let label = (number == 2).then(|| "Slide 2".to_owned());
        Page { number, label, text: text.to_owned() }
    }

    #[test]
    fn several_pages_have_their_number_or_label_before_them() {
        assert_eq!(join(vec![]), (None, None));
        assert_eq!(join(vec![page(1, "one")]), (Some("one".to_owned()), None));
        let joined = "[page 1]\none\n\n[Slide 2]\ntwo";
        assert_eq!(join(vec![page(1, "one"), page(2, "two")]), (Some(joined.to_owned()), None));
    }

    #[test]
    fn long_text_ends_before_the_page_that_exceeds_the_maximum() {
        let long = "ü".repeat(TEXT_MAX - 1);
        let (text, next) = join(vec![page(1, &long), page(3, "a"), page(4, "b")]);
        assert_eq!((text.unwrap().ends_with("[page 3]\na"), next), (true, Some(4)));
        let (text, next) = join(vec![page(1, &"ü".repeat(TEXT_MAX + 5))]);
        assert_eq!((text.unwrap().chars().count(), next), (TEXT_MAX, None));
    }
}
