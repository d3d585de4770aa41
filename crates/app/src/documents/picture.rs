//! Pictures of pages.

use super::file;
use crate::{
    App,
    error::{Error, Result},
};
use bytes::Bytes;
use docent_domain::{
    access::{Grant, ReadDocuments},
    id::{ChunkId, DocumentId},
    retrieval::StoredChunk,
};
use docent_ports::page_renderer::{PageImageRequest, RenderError};
use lru::LruCache;
use std::{
    num::{NonZeroU16, NonZeroU32},
    sync::{Mutex, PoisonError},
};

/// What the pictures that are kept may have in bytes, all together.
const KEPT_BYTES: usize = 32 << 20;

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Picture {
    /// The document.
    pub document: DocumentId,
    /// The page, counted from 1.
    pub page: NonZeroU32,
    /// In pixels.
    pub width: NonZeroU16,
    /// A passage of the document: its lines on the page are marked.
    pub passage: Option<ChunkId>,
}

/// Pictures that were drawn lately, at most 32 MiB of them. A document's file never changes, so they stay right.
#[derive(Debug)]
pub struct Album {
    kept: Mutex<(LruCache<Picture, Bytes>, usize)>,
}

impl Default for Album {
    fn default() -> Self {
        Self { kept: Mutex::new((LruCache::unbounded(), 0)) }
    }
}

impl Album {
    fn find(&self, picture: &Picture) -> Option<Bytes> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0.get(picture).cloned()
    }

    fn keep(&self, picture: Picture, png: Bytes) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (pictures, bytes) = &mut *kept;
        *bytes += png.len();
        *bytes -= pictures.put(picture, png).map_or(0, |before| before.len());
        while *bytes > KEPT_BYTES
            && let Some((_, oldest)) = pictures.pop_lru()
        {
            *bytes -= oldest.len();
        }
    }
}

/// Draws a page of an uploaded file, as PNG. A passage that is not of this document, or not on this page, marks
/// nothing.
///
/// # Errors
/// [`Error::NotFound`] when there is no such document, or no file of it; [`Error::PageNotFound`];
/// [`Error::PageNotDrawn`]; or when a store or the renderer does not work.
pub async fn draw(app: &App, _grant: Grant<ReadDocuments>, picture: Picture) -> Result<Bytes> {
    // First, whatever is kept: what was deleted is not shown.
    let (document, _, pdf) = file::of_document(app, picture.document).await?;
    if let Some(png) = app.album.find(&picture) {
        return Ok(png);
    }
    let marked = match picture.passage {
        Some(passage) if document.state.vector_doc_id().is_some() => {
            let chunks = app.serving().await?.index.chunks(picture.document).await?;
            let chunk = chunks.iter().find(|chunk| ChunkId::of(picture.document, chunk.ordinal) == passage);
            chunk.and_then(|chunk| on_page(chunk, picture.page.get()))
        }
        _ => None,
    };
    let drawing = PageImageRequest { page: picture.page, width: picture.width, marked };
    let png = app.renderer.render(pdf, &drawing).await.map_err(|error| match error {
        RenderError::NoSuchPage => Error::PageNotFound,
        RenderError::Document(failure) => Error::PageNotDrawn(failure),
        RenderError::Fault(fault) => fault.into(),
    })?;
    let png = Bytes::from(png);
    app.album.keep(picture, png.clone());
    Ok(png)
}

/// The part of a chunk that stands on a page.
fn on_page(chunk: &StoredChunk, page: u32) -> Option<String> {
    let place = chunk.pages.iter().position(|start| start.page == page)?;
    let start = chunk.pages.get(place)?.at as usize;
    let end = chunk.pages.get(place + 1).map_or(chunk.text.len(), |next| next.at as usize);
    chunk.text.get(start..end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::PageStart;
    use uuid::Uuid;

    fn picture(page: u32) -> Picture {
        Picture {
            document: DocumentId::from_uuid(Uuid::from_u128(1)),
            page: page.try_into().unwrap(),
            width: 100.try_into().unwrap(),
            passage: None,
        }
    }

    #[test]
    fn the_album_gives_up_what_was_not_looked_at_longest() {
        let album = Album::default();
        let large = |n: u8| Bytes::from(vec![n; KEPT_BYTES / 2]);
        album.keep(picture(1), large(1));
        album.keep(picture(1), large(1));
        album.keep(picture(2), large(2));
        assert!(album.find(&picture(1)).is_some(), "put twice it counts once");
        album.keep(picture(3), large(3));
        assert_eq!(album.find(&picture(2)), None);
        assert_eq!(album.find(&picture(1)), Some(large(1)));
        assert_eq!(album.find(&picture(3)), Some(large(3)));
        album.keep(picture(4), Bytes::from(vec![0; KEPT_BYTES + 1]));
        assert_eq!(album.find(&picture(4)), None, "one that is larger than all is not kept");
    }

    #[test]
    fn a_passage_is_marked_page_by_page() {
        let pages = vec![PageStart { page: 3, at: 0 }, PageStart { page: 4, at: 6 }];
        let span = docent_testkit::retrieval::found(1, 0, "").span;
        let chunk = StoredChunk { ordinal: 0, text: "First second".to_owned(), span, pages, dense: None };
        assert_eq!(on_page(&chunk, 3).as_deref(), Some("First "));
        assert_eq!(on_page(&chunk, 4).as_deref(), Some("second"));
        assert_eq!(on_page(&chunk, 5), None);
    }
}
