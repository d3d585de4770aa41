//! Contract of every text extractor.

use crate::builders;
use crate::fakes::blob_store::FakeBlobStore;
use bytes::Bytes;
use docent_domain::document::{BlobKey, FailureCode};
use docent_domain::extraction::PageQuality;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::FileType;
use docent_domain::picture_description::PictureDescription;
use docent_domain::recognition::{PageBox, Recognition, RecognizedLine, RecognizedPage, RecognizedWord};
use docent_ports::blob_store::{BlobStore, ByteStream};
use docent_ports::text_extractor::{ExtractionError, PageText, TextExtractor};
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

/// Stores a blob.
pub async fn put(blobs: &dyn BlobStore, key: &BlobKey, bytes: Vec<u8>) {
    let mut writer = blobs.create(key).await.unwrap();
    writer.write(bytes.into()).await.unwrap();
    writer.finish().await.unwrap();
}

/// Returns the failure of an extraction.
pub fn failure_code<T>(result: Result<T, ExtractionError>) -> Option<FailureCode> {
    match result {
        Err(ExtractionError::Document(failure)) => Some(failure.code),
        Ok(_) | Err(ExtractionError::Fault(_)) => None,
    }
}

crate::battery! {
    text_extractor_contract in text_extractor (Subject);

    /// Pages are numbered from 1 and have their own text.
    async fn pages_are_in_order(subject) {
        let pdf = (subject.pdf)(&["The first page", "The second page"]);
        let pages = subject.extractor.extract(FileType::Pdf, pieces(pdf, 4096)).await.unwrap().pages;
        let texts: Vec<_> = pages.iter().map(|page| (page.number, page.text.trim(), page.truncated)).collect();
        assert_eq!(texts, [(1, "The first page", false), (2, "The second page", false)]);
        assert!(pages.iter().all(|page| page.quality() == PageQuality::Text && page.unmapped_glyphs == 0));
    }

    async fn piece_size_does_not_matter(subject) {
        let pdf = (subject.pdf)(&["Some text"]);
        let whole = subject.extractor.extract(FileType::Pdf, pieces(pdf.clone(), pdf.len())).await.unwrap();
        assert_eq!(subject.extractor.extract(FileType::Pdf, pieces(pdf, 7)).await.unwrap(), whole);
    }

    async fn blank_page_is_empty(subject) {
        let pdf = (subject.pdf)(&["", "Some text"]);
        let pages = subject.extractor.extract(FileType::Pdf, pieces(pdf, 4096)).await.unwrap().pages;
        assert_eq!(pages.len(), 2);
        assert_eq!(pages[0].quality(), PageQuality::Empty);
    }

    async fn non_pdf_fails_as_document(subject) {
        for bytes in [&b""[..], b"<html>not found</html>"] {
            let result = subject.extractor.extract(FileType::Pdf, pieces(bytes.to_vec(), 4096)).await;
            assert_eq!(failure_code(result), Some(FailureCode::NotAPdf));
        }
    }

    async fn locked_pdf_fails_with_password_required(subject) {
        let result = subject.extractor.extract(FileType::Pdf, pieces(subject.locked_pdf, 4096)).await;
        assert_eq!(failure_code(result), Some(FailureCode::PasswordRequired));
    }

    /// A failing stream is not the document's fault, even at its very end.
    async fn stream_fault_is_returned(subject) {
        let pdf = (subject.pdf)(&["Some text"]);
        let fault = Fault::new(Component::BlobStore, FaultKind::Unavailable, "read");
        let broken = pieces(pdf, 4096).chain(stream::iter([Err(fault)]));
        match subject.extractor.extract(FileType::Pdf, Box::pin(broken)).await {
            Err(ExtractionError::Fault(fault)) => {
                assert_eq!((fault.component(), fault.is_transient()), (Component::BlobStore, true));
            }
            other => panic!("{other:?}"),
        }
    }

    /// Also when the text is cached, and after it was removed from the cache.
    async fn stored_file_has_the_same_text(subject) {
        let (blobs, pdf) = (FakeBlobStore::default(), (subject.pdf)(&["Some text", ""]));
        let file = builders::document(1).file.unwrap();
        put(&blobs, &file.blob, pdf.clone()).await;
        let expected = subject.extractor.extract(FileType::Pdf, pieces(pdf, 4096)).await.unwrap();
        for _ in 0..2 {
            for _ in 0..2 {
                assert_eq!(subject.extractor.extract_file(&file, &blobs).await.unwrap(), expected);
            }
            for _ in 0..2 {
                subject.extractor.forget(&file.sha256).await.unwrap();
            }
        }
    }

    /// Text with recognised pages replaces the cached text, unless the extractor says that it has no cache.
    async fn updated_text_is_returned_until_forgotten(subject) {
        let (blobs, pdf) = (FakeBlobStore::default(), (subject.pdf)(&["Some text", ""]));
        let file = builders::document(1).file.unwrap();
        put(&blobs, &file.blob, pdf).await;
        let extracted = subject.extractor.extract_file(&file, &blobs).await.unwrap();
        let mut updated = extracted.clone();
        let bounds = PageBox { left: 1, top: 2, right: 3, bottom: 4 };
        let words = vec![RecognizedWord { text: "scanned".to_owned(), bounds, confidence: 88 }];
        let lines = vec![RecognizedLine { words, begins_paragraph: true }];
        let result = Ok(RecognizedPage { lines });
        updated.pages[1].set_recognition(Recognition { recognizer: "ocr".to_owned(), result });
        let failed = PictureDescription { model: "eye".to_owned(), text: None };
        updated.pages[0].set_description(Some(failed));
        let is_cached = subject.extractor.update(&file, &updated).await.unwrap();
        let expected = if is_cached { &updated } else { &extracted };
        assert_eq!(subject.extractor.extract_file(&file, &blobs).await.unwrap(), *expected);
        let page = subject.extractor.extract_page(&file, 2, &blobs).await.unwrap();
        assert_eq!(page, PageText::of(expected.clone(), 2));
        assert_eq!(page.recognized.is_some(), is_cached);
        subject.extractor.forget(&file.sha256).await.unwrap();
        assert_eq!(subject.extractor.extract_file(&file, &blobs).await.unwrap(), extracted);
    }

    async fn missing_file_fails_with_file_missing(subject) {
        let file = builders::document(1).file.unwrap();
        let result = subject.extractor.extract_file(&file, &FakeBlobStore::default()).await;
        assert_eq!(failure_code(result), Some(FailureCode::FileMissing));
    }

    async fn concurrent_extractions_do_not_mix(subject) {
        let texts: Vec<String> = (0..8).map(|n| format!("Document number {n}")).collect();
        let runs = texts.iter().map(|text| {
            let pdf = (subject.pdf)(&[text]);
            subject.extractor.extract(FileType::Pdf, pieces(pdf, 4096))
        });
        for (text, extraction) in texts.iter().zip(futures::future::join_all(runs).await) {
            assert_eq!(extraction.unwrap().pages[0].text.trim(), text);
        }
    }
}
