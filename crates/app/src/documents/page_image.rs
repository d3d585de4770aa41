//! Renders images of pages.

use super::file;
use super::page_failures::{PageOutput, PageTask};
use crate::error::{Error, Result};
use crate::{App, extractions, limits};
use bytes::Bytes;
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::file_type::FileType;
use docent_domain::id::{ChunkId, DocumentId, VersionId};
use docent_domain::recognition::RecognizedPage;
use docent_domain::retrieval::StoredChunk;
use docent_domain::scope::Scope;
use docent_ports::page_renderer::{ImageSize, PageImageRequest};
use docent_ports::text_extractor::ExtractionError;
use lru::LruCache;
use std::num::{NonZeroU16, NonZeroU32};
use std::sync::{Mutex, PoisonError};

/// The maximum total size of cached images.
const CACHE_BYTES: usize = 32 << 20;

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

/// Recently rendered images, at most 32 MiB. A version's file never changes, so images never become stale.
#[derive(Debug)]
pub struct PageImageCache {
    /// The images, and their total size in bytes.
    images: Mutex<(LruCache<VersionImage, Bytes>, usize)>,
}

/// An image of a version of its document.
type VersionImage = (VersionId, PageImage);

impl Default for PageImageCache {
    fn default() -> Self {
        Self { images: Mutex::new((LruCache::unbounded(), 0)) }
    }
}

impl PageImageCache {
    fn get(&self, image: &VersionImage) -> Option<Bytes> {
        let mut guard = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        guard.0.get(image).cloned()
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
/// [`Error::PageNotRenderable`]; [`Error::LimitReached`]; [`Error::DrawingQueueFull`]; or when a store or the renderer
/// fails.
pub async fn render(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    image: PageImage,
) -> Result<Bytes> {
    loop {
        // Before the cache, so that images of deleted documents and of those outside the scope are not served.
        let (document, file) = file::described(app, scope, image.document).await?;
        if !file.file_type.has_page_images() {
            return Err(Error::NoPageImages(file.file_type));
        }
        let key = (document.version_id, image);
        if let Some(known) = known(app, &key) {
            return known;
        }
        // Before the work that the highlight can cause.
        limits::check_page_image(app, &grant).await?;
        let (marked, recognized) = highlight(app, &document, &image).await?;
        let _turn = app.process.drawings.enter(&*app.clock, grant.user()).await?;
        let (current, _, pdf) = file::of_document(app, scope, image.document).await?;
        if current.version_id != document.version_id {
            // It was replaced while the request waited.
            continue;
        }
        // An earlier request for the page may have ended meanwhile.
        if let Some(known) = known(app, &key) {
            return known;
        }
        limits::count_page_image(app, &grant).await?;
        let size = ImageSize::Width(image.width);
        let request = PageImageRequest {
            file_type: FileType::Pdf,
            page: image.page,
            size,
            marked,
            recognized,
            parts: Vec::new(),
        };
        return match app.renderer.render(pdf, &request).await {
            Ok(png) => {
                let png = Bytes::from(png);
                app.process.page_images.insert(key, png.clone());
                Ok(png)
            }
            Err(error) => {
                let failures = &app.process.page_failures;
                Err(failures.insert(task(&key), Some(image.width), error, app.now()))
            }
        };
    }
}

/// The image, or why it could not be rendered a short time ago.
fn known(app: &App, key: &VersionImage) -> Option<Result<Bytes>> {
    let failed = || app.process.page_failures.get(task(key), Some(key.1.width), app.now());
    app.process.page_images.get(key).map(Ok).or_else(|| failed().map(Err))
}

const fn task((version, image): &VersionImage) -> PageTask {
    PageTask { version: *version, page: image.page, output: PageOutput::Image }
}

/// What is highlighted on a page: a text, and where recognised text of the page is.
async fn highlight(
    app: &App,
    document: &Document,
    image: &PageImage,
) -> Result<(Option<String>, Option<RecognizedPage>)> {
    let Some(passage) = image.passage else { return Ok((None, None)) };
    let marked = marked(app, document, passage, image.page.get()).await?;
    let recognized = match marked {
        Some(_) => recognized(app, document, image.page.get()).await?,
        None => None,
    };
    Ok((marked, recognized))
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

/// Where recognised text of a page is.
async fn recognized(app: &App, document: &Document, page: u32) -> Result<Option<RecognizedPage>> {
    let recognition = document.coverage.as_ref().and_then(|coverage| coverage.recognition.as_ref());
    let is_recognized = recognition.is_some_and(|found| found.has_page(page) || found.has_pictures_of(page));
    let (Some(file), true) = (&document.file, is_recognized) else {
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
        let chunk = StoredChunk { ordinal: 0, text: "First second".to_owned(), span, pages, dense: None };
        assert_eq!(on_page(&chunk, 3).as_deref(), Some("First "));
        assert_eq!(on_page(&chunk, 4).as_deref(), Some("second"));
        assert_eq!(on_page(&chunk, 5), None);
    }
}
