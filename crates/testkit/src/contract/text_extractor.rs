//! What every text extractor does.

use bytes::Bytes;
use docent_domain::{document::FailureCode, extraction::PageQuality};
use docent_ports::{
    blob_store::ByteStream,
    error::{Component, Fault, FaultKind},
    text_extractor::{ExtractionError, TextExtractor},
};
use futures::{StreamExt, stream};
use std::sync::Arc;

/// An extractor, and files in the format that it reads.
pub struct Subject {
    /// The extractor.
    pub extractor: Arc<dyn TextExtractor>,
    /// Makes a file of pages that show these texts; an empty text is a blank page.
    pub pdf: fn(&[&str]) -> Vec<u8>,
    /// A file that needs a password.
    pub locked_pdf: Vec<u8>,
}

/// A stream of the bytes in pieces of a length.
pub fn pieces(bytes: Vec<u8>, length: usize) -> ByteStream {
    let pieces: Vec<_> = bytes.chunks(length).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    Box::pin(stream::iter(pieces))
}

/// What an extraction was refused for.
pub fn failure_code<T>(result: Result<T, ExtractionError>) -> Option<FailureCode> {
    match result {
        Err(ExtractionError::Document(failure)) => Some(failure.code),
        Ok(_) | Err(ExtractionError::Fault(_)) => None,
    }
}

crate::battery! {
    text_extractor_contract in text_extractor (Subject);

    /// Pages come in order, numbered from 1, each with its own text.
    async fn reads_pages_in_order(subject) {
        let pdf = (subject.pdf)(&["The first page", "The second page"]);
        let pages = subject.extractor.extract(pieces(pdf, 4096)).await.unwrap().pages;
        let texts: Vec<_> = pages.iter().map(|page| (page.number, page.text.trim(), page.truncated)).collect();
        assert_eq!(texts, [(1, "The first page", false), (2, "The second page", false)]);
        assert!(pages.iter().all(|page| page.quality() == PageQuality::Text && page.unmapped_glyphs == 0));
    }

    /// However the bytes are cut into pieces, they are the same file.
    async fn pieces_make_no_difference(subject) {
        let pdf = (subject.pdf)(&["Some text"]);
        let whole = subject.extractor.extract(pieces(pdf.clone(), pdf.len())).await.unwrap();
        assert_eq!(subject.extractor.extract(pieces(pdf, 7)).await.unwrap(), whole);
    }

    /// A blank page is a page without text, and no error.
    async fn blank_pages_are_empty(subject) {
        let pdf = (subject.pdf)(&["", "Some text"]);
        let pages = subject.extractor.extract(pieces(pdf, 4096)).await.unwrap().pages;
        assert_eq!(pages.len(), 2);
        assert_eq!(pages[0].quality(), PageQuality::Empty);
    }

    /// Bytes that are no PDF are the document's fault.
    async fn refuses_what_is_no_pdf(subject) {
        for bytes in [&b""[..], b"<html>not found</html>"] {
            let result = subject.extractor.extract(pieces(bytes.to_vec(), 4096)).await;
            assert_eq!(failure_code(result), Some(FailureCode::NotAPdf));
        }
    }

    /// A file that needs a password says so.
    async fn tells_that_a_password_is_needed(subject) {
        let result = subject.extractor.extract(pieces(subject.locked_pdf, 4096)).await;
        assert_eq!(failure_code(result), Some(FailureCode::PasswordRequired));
    }

    /// A stream that breaks is not the document's fault, even when all but its end has arrived.
    async fn passes_on_the_fault_of_a_stream(subject) {
        let pdf = (subject.pdf)(&["Some text"]);
        let fault = Fault::new(Component::BlobStore, FaultKind::Unavailable, "read");
        let broken = pieces(pdf, 4096).chain(stream::iter([Err(fault)]));
        match subject.extractor.extract(Box::pin(broken)).await {
            Err(ExtractionError::Fault(fault)) => {
                assert_eq!((fault.component(), fault.is_transient()), (Component::BlobStore, true));
            }
            other => panic!("{other:?}"),
        }
    }

    /// Concurrent extractions do not mix.
    async fn concurrent_extractions_stay_apart(subject) {
        let texts: Vec<String> = (0..8).map(|n| format!("Document number {n}")).collect();
        let runs = texts.iter().map(|text| {
            let pdf = (subject.pdf)(&[text]);
            subject.extractor.extract(pieces(pdf, 4096))
        });
        for (text, extraction) in texts.iter().zip(futures::future::join_all(runs).await) {
            assert_eq!(extraction.unwrap().pages[0].text.trim(), text);
        }
    }
}
