//! Chunks: the pieces of a document that are embedded, found and quoted.

use crate::id::{ChunkId, DocumentId};

/// A place in a document's extracted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The page, counted from 1.
    pub page: u32,
    /// The byte within that page's extracted text.
    pub offset: u32,
}

/// Where a chunk begins and ends in its document; `end` is past its last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: Position,
    /// The byte after the last one.
    pub end: Position,
}

/// A page's share of a chunk: from `at` on, the chunk's text is that of `page`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageStart {
    /// The page, counted from 1.
    pub page: u32,
    /// The byte within the chunk's text.
    pub at: u32,
}

/// A piece of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its place among the document's chunks, from 0.
    pub ordinal: u32,
    /// Its text; pages follow one another with `\n` between them.
    pub text: String,
    /// Where it comes from.
    pub span: Span,
    /// The pages it holds, in order; never empty, and the first starts at 0.
    pub pages: Vec<PageStart>,
    /// Its tokens.
    pub tokens: u32,
}

impl Chunk {
    /// Its id in the index.
    pub fn id(&self, document: DocumentId) -> ChunkId {
        ChunkId::of(document, self.ordinal)
    }
}

/// The page that byte `offset` of a chunk's text comes from.
///
/// `pages` is [`Chunk::pages`]; an empty list gives page 1.
pub fn page_at(pages: &[PageStart], offset: usize) -> u32 {
    let after = pages.partition_point(|start| start.at as usize <= offset);
    pages.get(after.saturating_sub(1)).map_or(1, |start| start.page)
}

/// How chunks are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSize {
    /// A chunk has at most about this many tokens.
    pub tokens: usize,
    /// A chunk repeats at most this many tokens of the one before it.
    pub overlap: usize,
}

impl Default for ChunkSize {
    fn default() -> Self {
        Self { tokens: 512, overlap: 50 }
    }
}
