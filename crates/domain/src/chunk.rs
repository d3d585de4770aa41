//! Chunks: the passages of a document that are embedded, searched and cited.

use crate::id::{ChunkId, VersionId};

/// A position in a document's extracted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Page number, starting at 1.
    pub page: u32,
    /// Byte offset in the page's extracted text.
    pub offset: u32,
}

/// The range of a chunk in its document; `end` is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Position of the first byte.
    pub start: Position,
    /// Position after the last byte.
    pub end: Position,
}

/// Start page and offset, end page and offset: the form in which spans are stored.
impl From<Span> for [u32; 4] {
    fn from(Span { start, end }: Span) -> Self {
        [start.page, start.offset, end.page, end.offset]
    }
}

impl From<[u32; 4]> for Span {
    fn from([start_page, start, end_page, end]: [u32; 4]) -> Self {
        Self {
            start: Position { page: start_page, offset: start },
            end: Position { page: end_page, offset: end },
        }
    }
}

/// Where the text of a page starts within a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageStart {
    /// Page number, starting at 1.
    pub page: u32,
    /// Byte offset in the chunk's text.
    pub at: u32,
}

impl From<PageStart> for [u32; 2] {
    fn from(PageStart { page, at }: PageStart) -> Self {
        [page, at]
    }
}

impl From<[u32; 2]> for PageStart {
    fn from([page, at]: [u32; 2]) -> Self {
        Self { page, at }
    }
}

/// A passage of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Position among the document's chunks, starting at 0.
    pub ordinal: u32,
    /// Text; pages are separated by `\n`. A part of a table begins with the table's header.
    pub text: String,
    /// Range in the document, without a repeated header.
    pub span: Span,
    /// Pages of the chunk in order; never empty, and the first starts at 0.
    pub pages: Vec<PageStart>,
    /// Number of tokens.
    pub tokens: u32,
}

impl Chunk {
    /// ID of the chunk in the index.
    pub fn id(&self, version: VersionId) -> ChunkId {
        ChunkId::of(version, self.ordinal)
    }
}

/// Returns the page that byte `offset` of a chunk's text comes from.
///
/// `pages` is [`Chunk::pages`]; an empty list gives page 1.
pub fn page_at(pages: &[PageStart], offset: usize) -> u32 {
    let after = pages.partition_point(|start| start.at as usize <= offset);
    pages.get(after.saturating_sub(1)).map_or(1, |start| start.page)
}

/// Size and overlap of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSize {
    /// Approximate maximum number of tokens per chunk.
    pub tokens: usize,
    /// Maximum number of tokens repeated from the previous chunk.
    pub overlap: usize,
}

impl Default for ChunkSize {
    fn default() -> Self {
        Self { tokens: 512, overlap: 50 }
    }
}
