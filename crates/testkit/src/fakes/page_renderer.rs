//! Page renderer without graphics.

use super::text_extractor::{HEADER, PICTURE, SCAN};
use crate::faults::FaultSwitch;
use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::fault::Component;
use docent_domain::page_words::{PageLines, PageWord};
use docent_domain::recognition::PageBox;
use docent_ports::blob_store::ByteStream;
use docent_ports::page_renderer::{ImageSize, PageImageRequest, PageRenderer, RenderError};
use futures::TryStreamExt;
use std::num::NonZeroU32;

/// The PNG signature at the beginning of each image.
pub const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Returns [`SIGNATURE`] and the request as text, or for [`ImageSize::Scan`] the text that a scanned page shows, for pages of [`fake_pdf`](super::text_extractor::fake_pdf) and of
/// uncompressed PDFs, which have one stream per page.
#[derive(Clone, Debug)]
pub struct FakePageRenderer {
    switch: FaultSwitch,
}

impl Default for FakePageRenderer {
    fn default() -> Self {
        Self::behind(&FaultSwitch::new(Component::Extractor))
    }
}

impl FakePageRenderer {
    /// Creates a renderer that fails according to this switch.
    pub fn behind(switch: &FaultSwitch) -> Self {
        Self { switch: switch.clone() }
    }
}

/// An image of a page that shows this text.
pub fn fake_scan(text: &str) -> Vec<u8> {
    [SIGNATURE, text.as_bytes()].concat()
}

/// The content of a file that has this page.
async fn read(pdf: ByteStream, page: NonZeroU32) -> Result<String, RenderError> {
    let bytes: Vec<u8> = pdf.map_ok(|bytes| bytes.to_vec()).try_concat().await?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let pages = match text.strip_prefix(HEADER) {
        Some(pages) => pages.split('\u{c}').count(),
        None if text.starts_with("%PDF-") => text.matches("\nstream\n").count(),
        None => return Err(RenderError::Document(Failure::of(FailureCode::NotAPdf))),
    };
    if page.get() as usize > pages { Err(RenderError::NoSuchPage) } else { Ok(text) }
}

#[async_trait]
impl PageRenderer for FakePageRenderer {
    async fn render(&self, pdf: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError> {
        self.switch.check()?;
        let text = read(pdf, drawing.page).await?;
        let number = drawing.page.get() as usize;
        if let ImageSize::Scan { .. } = drawing.size {
            let pages = text.strip_prefix(HEADER).unwrap_or_default();
            let page = pages.split('\u{c}').nth(number - 1).unwrap_or_default();
            let shown = match page.split_once(PICTURE) {
                Some((_, shown)) if !drawing.parts.is_empty() => shown,
                _ => page.strip_prefix(SCAN).unwrap_or(page),
            };
            return Ok(fake_scan(shown));
        }
        Ok([SIGNATURE, format!("{drawing:?}").as_bytes()].concat())
    }

    /// Returns one word: the number of the page, at a fixed place.
    async fn words(&self, pdf: ByteStream, page: NonZeroU32) -> Result<PageLines, RenderError> {
        self.switch.check()?;
        let _ = read(pdf, page).await?;
        let bounds = PageBox { left: 1000, top: 2000, right: 3000, bottom: 2500 };
        Ok(vec![vec![PageWord { text: page.to_string(), bounds }]])
    }
}
