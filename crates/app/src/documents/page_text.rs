//! Reads the text of one page.

use super::get;
use crate::error::Result;
use crate::{App, extractions};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::DocumentId;
use docent_domain::scope::Scope;
use docent_ports::text_extractor::ExtractionError;

/// Maximum number of characters that one call returns.
pub const TEXT_MAX: usize = 100_000;

/// The text of a page of a document.
#[derive(Debug)]
pub struct PageText {
    /// The document.
    pub document: Document,
    /// Its number of pages; 0 when it is not ingested.
    pub pages: u32,
    /// The page's text, or a part of it; none when the page does not exist.
    pub text: Option<String>,
    /// What the page is in the file; none in PDFs.
    pub label: Option<String>,
    /// The offset of the next part, if the text does not end here.
    pub next: Option<usize>,
}

/// The text of a page, counted from 1, as extracted from the file: at most [`TEXT_MAX`] characters after the first
/// `offset`.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound), or when the database or the blob store cannot be reached.
pub async fn read(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
    number: u32,
    offset: usize,
) -> Result<PageText> {
    let document = get::get(app, grant, scope, id).await?;
    let is_ingested = document.state.vector_doc_id().is_some();
    let Some(file) = document.file.as_ref().filter(|_| is_ingested) else {
        return Ok(PageText { document, pages: 0, text: None, label: None, next: None });
    };
    let page = extractions::extract_page(app, file, number).await.map_err(unreadable)?;
    let (text, next) = match page.text {
        Some(text) => {
            let (part, next) = part(&text, offset);
            (Some(part.to_owned()), next)
        }
        None => (None, None),
    };
    Ok(PageText { document, pages: page.pages, text, label: page.label, next })
}

/// The fault of a file that was readable when it was ingested.
pub(super) fn unreadable(error: ExtractionError) -> Fault {
    match error {
        ExtractionError::Fault(fault) => fault,
        ExtractionError::Document(_) => {
            Fault::new(Component::Service, FaultKind::Internal, "the file can no longer be read")
        }
    }
}

/// The part of a text after `offset` characters, and the offset of the next part.
fn part(text: &str, offset: usize) -> (&str, Option<usize>) {
    let at = |text: &str, characters| text.char_indices().nth(characters).map(|(at, _)| at);
    let rest = at(text, offset).map_or("", |start| &text[start..]);
    match at(rest, TEXT_MAX) {
        Some(end) => (&rest[..end], Some(offset + TEXT_MAX)),
        None => (rest, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_read_in_parts() {
        let text = "ü".repeat(TEXT_MAX) + "end";
        let (first, next) = part(&text, 0);
        assert_eq!((first.chars().count(), next), (TEXT_MAX, Some(TEXT_MAX)));
        assert_eq!(part(&text, TEXT_MAX), ("end", None));
        assert_eq!(part(&text, usize::MAX), ("", None));
        assert_eq!(part("", 0), ("", None));
    }
}
