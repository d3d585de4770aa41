//! Text extractor for a format that tests can write by hand.

use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode, StoredFile};
use docent_domain::extraction::{ExtractedPage, Extraction, Metadata, Picture};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::FileType;
use docent_domain::recognition::PageBox;
use docent_ports::blob_store::{BlobStore, ByteStream};
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use futures::TryStreamExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The first line of every file that [`FakeTextExtractor`] reads.
pub const HEADER: &str = "%PDF-fake\n";

/// Reads files with [`HEADER`] followed by page texts separated by form feeds.
///
/// A page that begins with [`SCAN`] is an image: only [`FakeTextRecognizer`](super::text_recognizer::FakeTextRecognizer)
/// reads its text. U+FFFD counts as an unmapped glyph. Lines after the header control the extractor:
/// `!title Handbook` sets the title, `!fail too_large` fails with that code, and `!fault` is a transient fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeTextExtractor;

/// The beginning of a page that is an image of the text that follows.
pub const SCAN: &str = "[scan]";

/// What precedes the text that a picture below the text of a page shows.
pub const PICTURE: &str = "[picture]";
/// Where this picture is.
pub const PICTURE_BOX: PageBox = PageBox { left: 1000, top: 5000, right: 9000, bottom: 9000 };

/// Creates a file with these pages.
pub fn fake_pdf(pages: &[&str]) -> Vec<u8> {
    format!("{HEADER}{}", pages.join("\u{c}")).into_bytes()
}

/// Creates a file whose extraction fails.
pub fn failing_pdf(code: FailureCode) -> Vec<u8> {
    format!("{HEADER}!fail {code}\n").into_bytes()
}

fn page(number: usize, text: &str) -> ExtractedPage {
    let (text, picture) = match text.split_once(PICTURE) {
        Some((text, _)) => (text, Some(Picture { place: PICTURE_BOX, at: text.len() as u32 })),
        None => (text, None),
    };
    let text = if text.starts_with(SCAN) { "" } else { text };
    let glyphs = text.chars().filter(|c| !c.is_whitespace()).count();
    let unmapped = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    ExtractedPage {
        number: number as u32,
        text: text.to_owned(),
        glyphs: glyphs as u32,
        unmapped_glyphs: unmapped as u32,
        pictures: picture.into_iter().collect(),
        ..ExtractedPage::default()
    }
}

#[async_trait]
impl TextExtractor for FakeTextExtractor {
    async fn extract(&self, _: FileType, mut pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        let mut bytes = Vec::new();
        while let Some(piece) = pdf.try_next().await? {
            bytes.extend_from_slice(&piece);
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some(mut rest) = text.strip_prefix(HEADER) else {
            return Err(ExtractionError::Document(Failure::of(FailureCode::NotAPdf)));
        };
        let mut metadata = Metadata::default();
        while let Some(order) = rest.strip_prefix('!') {
            let (order, after) = order.split_once('\n').unwrap_or((order, ""));
            rest = after;
            match order.split_once(' ') {
                Some(("title", title)) => metadata.title = Some(title.to_owned()),
                Some(("fail", code)) => {
                    let code = FailureCode::parse(code).expect("a failure code after !fail");
                    return Err(ExtractionError::Document(Failure::of(code)));
                }
                _ if order == "fault" => {
                    return Err(Fault::new(Component::Extractor, FaultKind::Unavailable, "scripted").into());
                }
                _ => panic!("unknown order !{order}"),
            }
        }
        let pages = rest.split('\u{c}').zip(1..).map(|(text, number)| page(number, text)).collect();
        Ok(Extraction { pages, metadata })
    }

    fn name(&self, _: FileType) -> &'static str {
        "fake"
    }
}

/// [`FakeTextExtractor`] with a cache in memory, which is shared by clones.
#[derive(Clone, Debug, Default)]
pub struct CachingTextExtractor {
    cache: Arc<Mutex<HashMap<[u8; 32], Extraction>>>,
}

#[async_trait]
impl TextExtractor for CachingTextExtractor {
    async fn extract(&self, file_type: FileType, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        FakeTextExtractor.extract(file_type, pdf).await
    }

    async fn extract_file(
        &self,
        file: &StoredFile,
        blobs: &dyn BlobStore,
    ) -> Result<Extraction, ExtractionError> {
        let cached = self.cache.lock().unwrap().get(&file.sha256).cloned();
        if let Some(extraction) = cached {
            return Ok(extraction);
        }
        let extraction = FakeTextExtractor.extract_file(file, blobs).await?;
        self.update(file, &extraction).await?;
        Ok(extraction)
    }

    async fn update(&self, file: &StoredFile, extraction: &Extraction) -> docent_domain::fault::Result<bool> {
        self.cache.lock().unwrap().insert(file.sha256, extraction.clone());
        Ok(true)
    }

    async fn forget(&self, sha256: &[u8; 32]) -> docent_domain::fault::Result<()> {
        self.cache.lock().unwrap().remove(sha256);
        Ok(())
    }

    fn name(&self, file_type: FileType) -> &'static str {
        FakeTextExtractor.name(file_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::text_extractor::{failure_code, pieces};

    #[tokio::test]
    async fn files_can_script_what_happens() {
        let failing =
            FakeTextExtractor.extract(FileType::Pdf, pieces(failing_pdf(FailureCode::TooLarge), 99)).await;
        assert_eq!(failure_code(failing), Some(FailureCode::TooLarge));
        let fault =
            FakeTextExtractor.extract(FileType::Pdf, pieces(b"%PDF-fake\n!fault\n".to_vec(), 99)).await;
        assert!(matches!(fault, Err(ExtractionError::Fault(fault)) if fault.is_transient()));
        let titled = FakeTextExtractor
            .extract(FileType::Pdf, pieces(b"%PDF-fake\n!title T\na\x0cb".to_vec(), 99))
            .await;
        let titled = titled.unwrap();
        assert_eq!((titled.metadata.title.as_deref(), titled.pages.len()), (Some("T"), 2));
    }
}
