//! Extracts text of a PDF. Runs in the worker.

use super::content::{FormCheck, page_content};
use super::device::{LimitReached, PageText, TextDevice};
use super::fields::{self, FieldValue};
use super::hyphens::Hyphens;
use super::limits::{Budget, PageLimits};
use super::pictures::PlacedPicture;
use super::{outline, to_unicode};
use crate::reader::{Sink, Stopped};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{ExtractedPage, Picture};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RenderContent, interpret, interpret_page,
};
use hayro_syntax::content::TypedIter;
use hayro_syntax::object::Dict;
use hayro_syntax::page::Page;
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The number of bytes at the start of a file that must contain the PDF header.
const HEADER_BYTES: usize = 1024;

/// Limits for reading a document.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DocumentLimits {
    pub(crate) pages: u32,
    pub(crate) text_bytes: u64,
    pub(crate) page: PageLimits,
}

/// Reads a PDF page by page and passes the pages to `sink`.
pub(crate) fn read(
    bytes: Vec<u8>,
    limits: &DocumentLimits,
    sink: &mut (impl Sink + ?Sized),
) -> Result<(), Stopped> {
    let pdf = open(bytes).map_err(Stopped::Document)?;
    let exceeded = |code| move || Stopped::Document(Failure::of(code));
    let pages = u32::try_from(pdf.pages().len()).ok().filter(|pages| *pages <= limits.pages);
    let pages = pages.ok_or_else(exceeded(FailureCode::TooManyPages))?;
    let mut reader = PageReader::new(&pdf, &limits.page);
    let mut text_bytes = 0_u64;
    for (number, page) in (1..).zip(pdf.pages().iter()) {
        let page = reader.read(number, page);
        text_bytes += page.text.len() as u64;
        if text_bytes > limits.text_bytes {
            return Err(exceeded(FailureCode::TooMuchText)());
        }
        sink.page(page)?;
    }
    sink.complete(pages)?;
    if let Ok(metadata) = catch_unwind(AssertUnwindSafe(|| outline::read(&pdf))) {
        sink.metadata(metadata)?;
    }
    Ok(())
}

/// Opens a PDF. A file without readable pages is an error.
pub(super) fn open(bytes: Vec<u8>) -> Result<Pdf, Failure> {
    let head = &bytes[..bytes.len().min(HEADER_BYTES)];
    let has_header = head.windows(5).any(|window| window == b"%PDF-");
    // A panic in the parser means that the file is unreadable.
    let opened = catch_unwind(|| Pdf::new(bytes)).unwrap_or(Err(LoadPdfError::Invalid));
    let pdf = opened.map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            Failure::of(FailureCode::PasswordRequired)
        }
        LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
            Failure::because(FailureCode::Unreadable, "the PDF uses an unsupported encryption method")
        }
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid if has_header => {
            Failure::of(FailureCode::Unreadable)
        }
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid => Failure::of(FailureCode::NotAPdf),
    })?;
    if pdf.pages().is_empty() {
        return Err(Failure::because(FailureCode::Unreadable, "the PDF has no readable pages"));
    }
    let repaired = catch_unwind(AssertUnwindSafe(|| to_unicode::repaired(&pdf))).unwrap_or_default();
    let reopened = repaired.and_then(|bytes| catch_unwind(|| Pdf::new(bytes)).ok()?.ok());
    Ok(reopened.unwrap_or(pdf))
}

/// Reads pages with the caches and limits of one document.
pub(super) struct PageReader<'a> {
    pdf: &'a Pdf,
    limits: &'a PageLimits,
    cache: InterpreterCache<'a>,
    settings: InterpreterSettings,
    forms: FormCheck,
    budget: Budget,
    hyphens: Hyphens,
    /// Whether the fields of forms are drawn from their values.
    needs_appearances: bool,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(pdf: &'a Pdf, limits: &'a PageLimits) -> Self {
        Self {
            pdf,
            limits,
            cache: InterpreterCache::new(),
            // The page's own content stream is interpreted separately, from bytes inflated within limits.
            settings: InterpreterSettings {
                render_content: RenderContent::ANNOTATIONS,
                ..InterpreterSettings::default()
            },
            forms: FormCheck::new(limits.content_bytes),
            budget: Budget::new(limits),
            hyphens: Hyphens::default(),
            needs_appearances: catch_unwind(AssertUnwindSafe(|| fields::needs_appearances(pdf)))
                .unwrap_or(false),
        }
    }

    fn read(&mut self, number: u32, page: &Page<'a>) -> ExtractedPage {
        if self.budget.is_exhausted() {
            return ExtractedPage { number, truncated: true, ..ExtractedPage::default() };
        }
        let (content, truncated) = self.interpret(page);
        let PageText { lines, glyphs, unmapped_glyphs, pictures } = content;
        let (mut text, starts) = self.hyphens.join(lines);
        let pictures = pictures
            .into_iter()
            .map(|PlacedPicture { place, before }| {
                let at = starts.get(before).copied().unwrap_or(text.len());
                Picture { place, at: u32::try_from(at).unwrap_or(u32::MAX) }
            })
            .collect();
        // A page with comments alone is a scan.
        if text.contains(char::is_alphanumeric) {
            for comment in catch_unwind(AssertUnwindSafe(|| fields::comments(page))).unwrap_or_default() {
                text.push_str(&format!("\nComment: {comment}"));
            }
        }
        ExtractedPage {
            number,
            text,
            glyphs,
            unmapped_glyphs,
            truncated,
            pictures,
            ..ExtractedPage::default()
        }
    }

    /// Interprets a page within the limits; the flag tells whether it was cut.
    pub(super) fn interpret(&mut self, page: &Page<'a>) -> (PageText, bool) {
        self.interpret_to(page, |device| device.finish())
    }

    /// Interprets a page within the limits. Returns its words with their bounds, by line.
    pub(super) fn interpret_words(&mut self, page: &Page<'a>) -> Vec<Vec<(String, Rect)>> {
        self.interpret_to(page, |device| device.finish_words()).0
    }

    fn interpret_to<T>(&mut self, page: &Page<'a>, finish: impl FnOnce(TextDevice<'_>) -> T) -> (T, bool) {
        let (width, height) = page.render_dimensions();
        let mut device = TextDevice::new(width, height, self.limits, &mut self.budget);
        let mut cut = false;
        let end = catch_unwind(AssertUnwindSafe(|| {
            let (content, content_cut) = page_content(page, self.limits.content_bytes);
            cut = content_cut;
            let mut resources = page.resources().clone();
            if self.forms.finds_oversized(&resources.x_objects) {
                cut = true;
                resources.x_objects = Dict::empty();
            }
            let transform = Affine::new(page.initial_transform(true).as_coeffs());
            let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
            let mut context =
                Context::new(transform, bounds, &self.cache, self.pdf.xref(), self.settings.clone());
            interpret(TypedIter::new(&content), &resources, &mut context, &mut device);
            device.begin_annotations();
            match self.forms.finds_oversized_appearance(page) {
                None => {}
                Some(false) => interpret_page(page, &mut context, &mut device),
                Some(true) => cut = true,
            }
            for FieldValue { bounds, text, is_stale } in
                fields::values(page, transform, self.needs_appearances)
            {
                cut |= !device.add_value(bounds, &text, is_stale);
            }
        }));
        if let Err(reason) = end {
            cut = true;
            if !reason.is::<LimitReached>() {
                // A panic may have left the cache inconsistent.
                self.cache = InterpreterCache::new();
            }
        }
        (finish(device), cut)
    }
}
