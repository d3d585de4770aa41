//! What goes into the vector store and what comes out of it.

use crate::{
    chunk::{PageStart, Span},
    id::{ChunkId, DocumentId},
    text::Title,
};
use std::{collections::HashSet, sync::Arc};

/// How often each distinct term occurs, in the order of the terms. Copies share the terms, for all chunks of a
/// document have those of its title and lead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermCounts(Arc<[(Box<str>, u32)]>);

impl TermCounts {
    /// Counts terms.
    pub fn count(terms: impl IntoIterator<Item = String>) -> Self {
        let mut terms: Vec<String> = terms.into_iter().collect();
        terms.sort_unstable();
        let mut counts: Vec<(Box<str>, u32)> = Vec::new();
        for term in terms {
            match counts.last_mut() {
                Some((last, n)) if **last == *term => *n += 1,
                _ => counts.push((term.into_boxed_str(), 1)),
            }
        }
        Self(counts.into())
    }

    /// The terms with their counts, sorted by term.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.0.iter().map(|(term, n)| (&**term, *n))
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All occurrences of all terms.
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, n)| u64::from(*n)).sum()
    }
}

/// The lexical part of a chunk's embedding: the terms of its fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseVector {
    /// Terms of the chunk's text.
    pub body: TermCounts,
    /// Distinct terms of the document's title.
    pub title: TermCounts,
    /// Distinct terms of the beginning of the document.
    pub lead: TermCounts,
    /// Distinct terms of the headings that the chunk stands under.
    pub headings: TermCounts,
}

/// A chunk as the vector store sees it: a sparse part, a dense part, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// Terms and how often they occur.
    pub sparse: Option<SparseVector>,
    /// A vector of unit length; all in one collection have the same number of dimensions.
    pub dense: Option<Vec<f32>>,
}

/// A query as the vector store sees it: a sparse part, a dense part, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryEmbedding {
    /// The query's terms.
    pub sparse: Option<TermCounts>,
    /// A vector of unit length.
    pub dense: Option<Vec<f32>>,
}

/// The text that an embedder sees of one document.
#[derive(Clone, Copy, Debug)]
pub struct Passages<'a> {
    /// The document's title.
    pub title: &'a str,
    /// The beginning of the document's text.
    pub lead: &'a str,
    /// The chunks to embed: first page and text of each.
    pub chunks: &'a [(u32, &'a str)],
    /// The headings that each chunk stands under, a line each; empty where nobody has looked for any.
    pub headings: &'a [String],
}

/// A chunk to be stored in the vector store.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// Its id; storing another entry under the same id replaces it.
    pub id: ChunkId,
    /// Its place among the document's chunks.
    pub ordinal: u32,
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub span: Span,
    /// The pages it holds.
    pub pages: Vec<PageStart>,
    /// What it is found by.
    pub embedding: Embedding,
}

/// A chunk as it is read back from the vector store: without its terms, which follow from the text.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// Its place among the document's chunks.
    pub ordinal: u32,
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub span: Span,
    /// The pages it holds.
    pub pages: Vec<PageStart>,
    /// Its dense vector, if it has one.
    pub dense: Option<Vec<f32>>,
}

/// The document that entries of the vector store belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedDocument {
    /// Its id.
    pub id: DocumentId,
    /// Its title.
    pub title: Title,
    /// The uploaded file's name (metadata `filename`).
    pub filename: String,
}

/// A chunk that was found, with how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredChunk {
    /// The chunk.
    pub id: ChunkId,
    /// Its document.
    pub document_id: DocumentId,
    /// Its document's title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Where it comes from.
    pub span: Span,
    /// The pages it holds.
    pub pages: Vec<PageStart>,
    /// How well it fits; higher is better, comparable within one answer only.
    pub score: f32,
}

/// The chunks without those that have the same words as one before them: case and white space do not count.
pub fn without_copies(mut chunks: Vec<ScoredChunk>) -> Vec<ScoredChunk> {
    let mut seen = HashSet::with_capacity(chunks.len());
    chunks.retain(|chunk| seen.insert(words(&chunk.text)));
    chunks
}

fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Position;
    use uuid::Uuid;

    fn found(n: u128, text: &str) -> ScoredChunk {
        let document_id = DocumentId::from_uuid(Uuid::from_u128(n));
        let place = Position { page: 1, offset: 0 };
        ScoredChunk {
            id: ChunkId::of(document_id, 0),
            document_id,
            title: "t".to_owned(),
            text: text.to_owned(),
            span: Span { start: place, end: place },
            pages: Vec::new(),
            score: 1.0,
        }
    }

    #[test]
    fn of_chunks_with_the_same_words_the_first_stays() {
        let chunks = vec![
            found(1, "The pump\nleaks."),
            found(2, "The valve leaks."),
            found(3, "  the PUMP leaks. "),
            found(4, "The pump leaks"),
            found(5, "Thepump leaks."),
        ];
        let left = without_copies(chunks.clone());
        assert_eq!(left, [0, 1, 3, 4].map(|n: usize| chunks[n].clone()));
    }

    #[test]
    fn terms_are_counted_and_sorted() {
        let counts = TermCounts::count(["b", "a", "b"].map(String::from));
        assert_eq!(counts.iter().collect::<Vec<_>>(), [("a", 1), ("b", 2)]);
        assert_eq!(counts.total(), 3);
        assert!(TermCounts::default().is_empty());
    }
}
