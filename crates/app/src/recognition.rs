//! Recognition of the text on images of pages without reliable text of their own, and on pictures of other pages, and description of these
//! pictures.
//!
//! Pages are read one after the other, and each result is cached before the next page, so that an interrupted
//! ingestion continues where it stopped. A process recognises fewer documents at a time than it runs jobs, so that scans do
//! not delay documents with text. Owners take turns: a document whose owner has had [`SLICE`] makes way for the document
//! of another one and continues later.

use crate::picture_descriptions::{self, Describer};
use crate::{App, extractions};
use chrono::TimeDelta;
use docent_domain::attributes::{AttributeKey, AttributeValue};
use docent_domain::document::{Document, Failure, FailureCode, StoredFile};
use docent_domain::extraction::{ExtractedPage, Extraction};
use docent_domain::fault::{Fault, FaultKind};
use docent_domain::recognition::{Languages, PageBox, Recognition, RecognitionFailure, RecognizedPage};
use docent_ports::page_renderer::{ImageSize, PageImageRequest, RenderError};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use std::num::{NonZeroU16, NonZeroU32};
use std::sync::Arc;

/// The attribute with the languages of a document, such as `deu+eng`.
const LANGUAGES_ATTRIBUTE: &str = "ocr_languages";
/// Resolution of page images, which recognizers are trained for.
const DPI: NonZeroU16 = NonZeroU16::new(300).unwrap();
/// Resolution of pictures, whose letters are often smaller than those of pages.
const PICTURE_DPI: NonZeroU16 = NonZeroU16::new(400).unwrap();
/// How long an owner's documents are recognised while another owner's wait.
const SLICE: TimeDelta = TimeDelta::seconds(20);
/// When a document that made way continues. Longer than [`TURN_PAUSE`], so that the other one is first.
const SLICE_PAUSE: TimeDelta = TimeDelta::seconds(3);
/// When a document that found no free place tries again.
const TURN_PAUSE: TimeDelta = TimeDelta::seconds(1);

/// Whether the pages of a document have been recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All that can be.
    Complete,
    /// The rest comes later, after this pause.
    Suspended(TimeDelta),
}

/// Why recognition ended without result.
#[derive(Debug)]
pub(crate) enum RecognizeError {
    /// The file is gone.
    Document(Failure),
    /// A component failed.
    Fault(Fault),
}

impl From<Fault> for RecognizeError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Whether images of pages of an extraction may have to be read.
pub(crate) fn is_needed(extraction: &Extraction) -> bool {
    // A recognition may be that of another recognizer.
    let may_be_needed = |page: &ExtractedPage| {
        page.recognition.is_some() || page.has_unread_image() || !page.pictures.is_empty()
    };
    extraction.pages.iter().any(may_be_needed)
}

/// Whether there is anything that reads images.
pub(crate) async fn is_possible(app: &App) -> bool {
    app.vision_model.is_some() || app.recognizer.detected().await.is_some()
}

/// A recognizer for the languages of a document.
struct Reader {
    recognizer: Arc<dyn TextRecognizer>,
    languages: RecognitionLanguages,
    name: String,
    /// Number of pages that it has recognised or was asked to.
    count: u32,
}

impl Reader {
    async fn of(app: &App, document: &Document, extraction: &Extraction) -> Option<Self> {
        let recognizer = app.recognizer.detected().await?;
        let languages = RecognitionLanguages::of(app, document);
        let name = name(&*recognizer, &languages.languages);
        let pages = extraction.pages.iter().filter_map(|page| page.recognition.as_ref());
        let count = pages.filter(|recognition| recognition.recognizer == name).count() as u32;
        Some(Self { recognizer, languages, name, count })
    }
}

/// Recognises the pages of an extraction that have no reliable text or have pictures, and describes the pictures, as far as a recognizer is
/// configured and a describer given. Pages that cannot be read are marked and do not fail the others.
///
/// # Errors
/// If the file is missing, or a component fails.
pub(crate) async fn recognize(
    app: &App,
    document: &Document,
    file: &StoredFile,
    extraction: &mut Extraction,
    mut describer: Option<&mut Describer<'_>>,
) -> Result<Progress, RecognizeError> {
    let mut reader = Reader::of(app, document, extraction).await;
    let is_todo = |page: &ExtractedPage| {
        reader.as_ref().is_some_and(|reader| page.needs_recognition(&reader.name))
            || describer.as_ref().is_some_and(|describer| page.needs_description(describer.name()))
    };
    let mut todo: Vec<usize> =
        (0..extraction.pages.len()).filter(|index| is_todo(&extraction.pages[*index])).collect();
    // Within the limit, pages that have no other text are first.
    todo.sort_by_key(|index| !extraction.pages[*index].scanned_pictures().is_empty());
    if todo.is_empty() {
        return Ok(Progress::Complete);
    }
    let Some(turn) = app.process.recognitions.begin(document.owner, app.now()) else {
        return Ok(Progress::Suspended(TURN_PAUSE));
    };
    let started = app.now();
    let (mut is_cached, mut progress) = (false, Progress::Complete);
    for (n, index) in todo.into_iter().enumerate() {
        // Without a cache, a document that made way would begin from the start.
        if n > 0 && is_cached && app.now() - started >= SLICE && turn.is_awaited(app.now()) {
            progress = Progress::Suspended(SLICE_PAUSE);
            break;
        }
        let page = &mut extraction.pages[index];
        app.process.running.set_page(document.id, page.number);
        let is_recognized = recognize_page(app, file, reader.as_mut(), page).await?;
        let is_described = match &mut describer {
            Some(describer) => describe_page(app, file, describer, page).await,
            None => false,
        };
        if let Some(describer) = describer.as_ref().filter(|describer| describer.is_failing()) {
            skip_descriptions(describer, extraction);
        }
        if is_recognized || is_described {
            is_cached = extractions::update_cache(app, file, extraction).await;
        }
    }
    drop(turn);
    if progress == Progress::Complete {
        forget_failures(app, file, extraction).await;
    }
    Ok(progress)
}

/// Marks all pages that still need a description, so that a document that makes way does not ask a failing model again.
fn skip_descriptions(describer: &Describer<'_>, extraction: &mut Extraction) {
    for page in &mut extraction.pages {
        if page.needs_description(describer.name()) {
            page.set_description(Some(describer.skipped()));
        }
    }
}

/// The languages of a document's text.
struct RecognitionLanguages {
    languages: Languages,
    /// Whether the document itself names them.
    is_own: bool,
}

impl RecognitionLanguages {
    /// Those that the document's attribute names, otherwise those of the settings.
    fn of(app: &App, document: &Document) -> Self {
        let own = AttributeKey::parse(LANGUAGES_ATTRIBUTE).ok().and_then(|key| document.attributes.get(&key));
        match own {
            Some(AttributeValue::String(text)) => match Languages::parse(text) {
                Ok(languages) => Self { languages, is_own: true },
                Err(_) => Self::default(app),
            },
            Some(AttributeValue::Number(_) | AttributeValue::Boolean(_)) | None => Self::default(app),
        }
    }

    fn default(app: &App) -> Self {
        Self { languages: app.settings.recognition_languages.clone(), is_own: false }
    }

    /// The error for a fault. Languages that the document names and the recognizer does not know are no outage.
    fn error(&self, fault: Fault) -> RecognizeError {
        if self.is_own && fault.kind() == FaultKind::Unconfigured {
            let reason = format!(
                "the recognizer has no data for the languages {} of the attribute {LANGUAGES_ATTRIBUTE}",
                self.languages
            );
            return RecognizeError::Document(Failure::because(FailureCode::Recognition, reason));
        }
        fault.into()
    }
}

/// Name, version and languages of a recognizer. Pages that were recognised under another name are recognised again.
pub(crate) fn name(recognizer: &dyn TextRecognizer, languages: &Languages) -> String {
    format!("{} ({languages})", recognizer.name())
}

/// Recognises a page if it needs that; returns whether it took effort.
async fn recognize_page(
    app: &App,
    file: &StoredFile,
    reader: Option<&mut Reader>,
    page: &mut ExtractedPage,
) -> Result<bool, RecognizeError> {
    let Some(reader) = reader.filter(|reader| page.needs_recognition(&reader.name)) else { return Ok(false) };
    let is_allowed = reader.count < app.settings.max_recognized_pages;
    reader.count += 1;
    let result =
        if is_allowed { recognized(app, file, reader, page).await? } else { Err(RecognitionFailure::Limit) };
    page.set_recognition(Recognition { recognizer: reader.name.clone(), result });
    Ok(is_allowed)
}

/// Renders and recognises a page. The inner result is that of the page.
async fn recognized(
    app: &App,
    file: &StoredFile,
    reader: &Reader,
    page: &ExtractedPage,
) -> Result<Result<RecognizedPage, RecognitionFailure>, RecognizeError> {
    let Some(number) = NonZeroU32::new(page.number) else { return Ok(Err(RecognitionFailure::Rendering)) };
    let parts: Vec<PageBox> = page.scanned_pictures().iter().map(|picture| picture.place).collect();
    let part = parts.iter().copied().reduce(PageBox::union);
    let dpi = if parts.is_empty() { DPI } else { PICTURE_DPI };
    let request = PageImageRequest { parts, ..PageImageRequest::scan(file.file_type, number, dpi) };
    let Some(png) = render(app, file, &request).await? else { return Ok(Err(RecognitionFailure::Rendering)) };
    let languages = &reader.languages;
    let scan =
        PageScan { png: &png, dpi: dpi.get(), is_picture: part.is_some(), languages: &languages.languages };
    match reader.recognizer.recognize(scan).await {
        Ok(mut recognized) => {
            if let Some(part) = part {
                recognized.move_to(part);
            }
            Ok(Ok(recognized))
        }
        Err(RecognitionError::Page(failure)) => {
            tracing::warn!(
                page = page.number,
                failure = failure.as_str(),
                "the text of a page could not be recognised"
            );
            Ok(Err(failure))
        }
        Err(RecognitionError::Fault(fault)) => Err(languages.error(fault)),
    }
}

/// Describes the pictures of a page if it needs that; returns whether it took effort. A page that cannot be drawn is not described.
async fn describe_page(
    app: &App,
    file: &StoredFile,
    describer: &mut Describer<'_>,
    page: &mut ExtractedPage,
) -> bool {
    if !page.needs_description(describer.name()) {
        return false;
    }
    let number = NonZeroU32::new(page.number).filter(|_| describer.can_describe());
    let image = match number {
        Some(number) => {
            let size = ImageSize::Description { width: picture_descriptions::WIDTH };
            let request =
                PageImageRequest { size, ..PageImageRequest::scan(file.file_type, number, PICTURE_DPI) };
            render(app, file, &request).await.unwrap_or_default()
        }
        None => None,
    };
    let is_costly = image.is_some();
    let description = match image {
        Some(png) => describer.describe(png).await,
        None => describer.skipped(),
    };
    page.set_description(Some(description));
    is_costly
}

/// Renders a page; returns none if the page cannot be rendered.
async fn render(
    app: &App,
    file: &StoredFile,
    request: &PageImageRequest,
) -> Result<Option<Vec<u8>>, RecognizeError> {
    let missing = || RecognizeError::Document(Failure::of(FailureCode::FileMissing));
    let bytes = app.blobs.open(&file.blob).await?.ok_or_else(missing)?;
    match app.renderer.render(bytes, request).await {
        Ok(png) => Ok(Some(png)),
        Err(RenderError::NoSuchPage | RenderError::Document(_)) => Ok(None),
        Err(RenderError::Fault(fault)) => Err(fault.into()),
    }
}

/// Removes failures from the cache, so that another ingestion of the file attempts these pages again.
async fn forget_failures(app: &App, file: &StoredFile, extraction: &Extraction) {
    let is_unrecognized =
        |page: &ExtractedPage| page.recognition.as_ref().is_some_and(|it| it.result.is_err());
    let is_undescribed = |page: &ExtractedPage| page.description.as_ref().is_some_and(|it| it.text.is_none());
    if extraction.pages.iter().any(|page| is_unrecognized(page) || is_undescribed(page)) {
        let mut cached = extraction.clone();
        for page in &mut cached.pages {
            page.recognition.take_if(|recognition| recognition.result.is_err());
            page.description.take_if(|description| description.text.is_none());
        }
        extractions::update_cache(app, file, &cached).await;
    }
}
