//! Renders images of pages.

use super::file;
use crate::error::{Error, Result};
use crate::{App, extractions, limits};
use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::{Document, Failure};
use docent_domain::id::{ChunkId, DocumentId, VersionId};
use docent_domain::recognition::RecognizedPage;
use docent_domain::retrieval::StoredChunk;
use docent_domain::scope::Scope;
use docent_ports::page_renderer::{ImageSize, PageImageRequest, RenderError};
use docent_ports::text_extractor::ExtractionError;
use lru::LruCache;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, PoisonError};

/// The maximum total size of cached images.
const CACHE_BYTES: usize = 32 << 20;
/// The maximum number of pages that are known to fail.
const FAILURES: NonZeroUsize = NonZeroUsize::new(4096).unwrap();
/// How long a page is not rendered again after it failed: a limit of time or memory may be kept at a quieter moment.
const FAILURE_MEMORY: TimeDelta = TimeDelta::hours(1);

/// The content of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageImage {
    /// The document.
    pub document: DocumentId,
    /// The page, counted from 1.
    pub page: NonZeroU32,
    /// The image's width in pixels.
    pub width: NonZeroU16,
    /// A passage of the document to highlight.
    pub passage: Option<ChunkId>,
}

/// Recently rendered images, at most 32 MiB, and pages that could not be rendered. A version's file never changes, so
/// images never become stale.
#[derive(Debug)]
pub struct PageImageCache {
    /// The images, and their total size in bytes.
    images: Mutex<(LruCache<VersionImage, Bytes>, usize)>,
    /// Why a page could not be rendered at this width, and when.
    failures: Mutex<LruCache<FailedPage, (PageFailure, DateTime<Utc>)>>,
}

/// An image of a version of its document.
type VersionImage = (VersionId, PageImage);

/// A highlighted passage does not decide whether a page can be rendered.
type FailedPage = (VersionId, NonZeroU32, NonZeroU16);

/// Why a page cannot be rendered.
#[derive(Clone, Debug)]
enum PageFailure {
    NoSuchPage,
    NotRenderable(Failure),
}

impl From<PageFailure> for Error {
    fn from(failure: PageFailure) -> Self {
        match failure {
            PageFailure::NoSuchPage => Self::PageNotFound,
            PageFailure::NotRenderable(failure) => Self::PageNotRenderable(failure),
        }
    }
}

impl Default for PageImageCache {
    fn default() -> Self {
        let (images, failures) = (LruCache::unbounded(), LruCache::new(FAILURES));
        Self { images: Mutex::new((images, 0)), failures: Mutex::new(failures) }
    }
}

const fn without_passage((version, image): &VersionImage) -> FailedPage {
    (*version, image.page, image.width)
}

impl PageImageCache {
    fn get(&self, image: &VersionImage) -> Option<Bytes> {
        let mut guard = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        guard.0.get(image).cloned()
    }

    /// Why the page could not be rendered a short time ago.
    fn failure(&self, image: &VersionImage, now: DateTime<Utc>) -> Option<PageFailure> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (failure, at) = failures.get(&without_passage(image))?;
        (now - *at < FAILURE_MEMORY).then(|| failure.clone())
    }

    fn insert_failure(&self, image: &VersionImage, failure: PageFailure, now: DateTime<Utc>) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.put(without_passage(image), (failure, now));
    }

    fn insert(&self, image: VersionImage, png: Bytes) {
        let mut guard = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let (images, bytes) = &mut *guard;
        *bytes += png.len();
        *bytes -= images.put(image, png).map_or(0, |replaced| replaced.len());
        while *bytes > CACHE_BYTES
            && let Some((_, oldest)) = images.pop_lru()
        {
            *bytes -= oldest.len();
        }
    }
}

/// Renders a page of an uploaded file as PNG. A passage of another document or page is not highlighted.
///
/// # Errors
/// [`Error::NotFound`] when the document or its file does not exist; [`Error::PageNotFound`]; [`Error::NoPageImages`];
/// [`Error::PageNotRenderable`]; [`Error::LimitReached`]; or when a store or the renderer fails.
pub async fn render(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    image: PageImage,
) -> Result<Bytes> {
    // Before the cache, so that images of deleted documents and of those outside the scope are not served.
    let (document, file, pdf) = file::of_document(app, scope, image.document).await?;
    if !file.file_type.has_page_images() {
        return Err(Error::NoPageImages(file.file_type));
    }
    let key = (document.version_id, image);
    if let Some(png) = app.process.page_images.get(&key) {
        return Ok(png);
    }
    if let Some(failure) = app.process.page_images.failure(&key, app.now()) {
        return Err(failure.into());
    }
    limits::count_page_image(app, &grant).await?;
    let marked = match image.passage {
        Some(passage) => marked(app, &document, passage, image.page.get()).await?,
        None => None,
    };
    let recognized = match marked {
        Some(_) => recognized(app, &document, image.page.get()).await?,
        None => None,
    };
    let size = ImageSize::Width(image.width);
    let request = PageImageRequest { page: image.page, size, marked, recognized };
    let failure = match app.renderer.render(pdf, &request).await {
        Ok(png) => {
            let png = Bytes::from(png);
            app.process.page_images.insert(key, png.clone());
            return Ok(png);
        }
        Err(RenderError::Fault(fault)) => return Err(fault.into()),
        Err(RenderError::NoSuchPage) => PageFailure::NoSuchPage,
        Err(RenderError::Document(failure)) => PageFailure::NotRenderable(failure),
    };
    app.process.page_images.insert_failure(&key, failure.clone(), app.now());
    Err(failure.into())
}

/// The part of a passage on a page, unless it is a passage of another document or page.
async fn marked(app: &App, document: &Document, passage: ChunkId, page: u32) -> Result<Option<String>> {
    let is_ingested = document.state.vector_doc_id().is_some();
    let chunks = document.coverage.as_ref().filter(|_| is_ingested).map_or(0, |coverage| coverage.chunks);
    let version = document.version_id;
    let Some(ordinal) = (0..chunks).find(|ordinal| ChunkId::of(version, *ordinal) == passage) else {
        return Ok(None);
    };
    let chunks = app.active_index().await?.index.chunk_range(version, ordinal..ordinal + 1).await?;
    Ok(chunks.first().and_then(|chunk| on_page(chunk, page)))
}

/// Where the text of a page is, if it was recognised.
async fn recognized(app: &App, document: &Document, page: u32) -> Result<Option<RecognizedPage>> {
    let recognition = document.coverage.as_ref().and_then(|coverage| coverage.recognition.as_ref());
    let (Some(file), true) = (&document.file, recognition.is_some_and(|found| found.has_page(page))) else {
        return Ok(None);
    };
    match extractions::extract_page(app, file, page).await {
        Ok(page) => Ok(page.recognized),
        Err(ExtractionError::Fault(fault)) => Err(fault.into()),
        // The page is shown without a highlight.
        Err(ExtractionError::Document(_)) => Ok(None),
    }
}

/// The part of a chunk on a page.
fn on_page(chunk: &StoredChunk, page: u32) -> Option<String> {
    let index = chunk.pages.iter().position(|start| start.page == page)?;
    let start = chunk.pages.get(index)?.at as usize;
    let end = chunk.pages.get(index + 1).map_or(chunk.text.len(), |next| next.at as usize);
    chunk.text.get(start..end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::PageStart;
    use uuid::Uuid;

    fn image(page: u32) -> VersionImage {
        let document = DocumentId::from_uuid(Uuid::from_u128(1));
        let image = PageImage {
            document,
            page: page.try_into().unwrap(),
            width: 100.try_into().unwrap(),
            passage: None,
        };
        (VersionId::first(document), image)
    }

    #[test]
    fn full_cache_evicts_least_recently_used_image() {
        let cache = PageImageCache::default();
        let large = |n: u8| Bytes::from(vec![n; CACHE_BYTES / 2]);
        cache.insert(image(1), large(1));
        cache.insert(image(1), large(1));
        cache.insert(image(2), large(2));
        assert!(cache.get(&image(1)).is_some(), "inserted twice, it counts once");
        cache.insert(image(3), large(3));
        assert_eq!(cache.get(&image(2)), None);
        assert_eq!(cache.get(&image(1)), Some(large(1)));
        assert_eq!(cache.get(&image(3)), Some(large(3)));
        cache.insert(image(4), Bytes::from(vec![0; CACHE_BYTES + 1]));
        assert_eq!(cache.get(&image(4)), None, "an image larger than the cache is not cached");
    }

    #[test]
    fn passage_on_two_pages_is_highlighted_on_each() {
        let pages = vec![PageStart { page: 3, at: 0 }, PageStart { page: 4, at: 6 }];
        let span = docent_testkit::retrieval::found(1, 0, "").span;
        let chunk = StoredChunk {
            ordinal: 0,
            text: "First second".to_owned(),
            span,
            pages,
            context: String::new(),
            dense: None,
        };
        assert_eq!(on_page(&chunk, 3).as_deref(), Some("First "));
        assert_eq!(on_page(&chunk, 4).as_deref(), Some("second"));
        assert_eq!(on_page(&chunk, 5), None);
    }
}
