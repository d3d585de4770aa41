//! Values written to and read from the vector store.

use crate::chunk::{PageStart, Span};
use crate::condition::Condition;
use crate::extraction::PageLabels;
use crate::id::{ChunkId, DocumentId, VersionId};
use crate::labels::DocumentLabels;
use crate::scope::Scope;
use std::collections::HashSet;
use std::sync::Arc;

/// The number of occurrences of each distinct term, sorted by term. Clones share the data, because all chunks of a
/// document have the same title and lead terms.
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

    /// Iterates over the terms with their counts, sorted by term.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.0.iter().map(|(term, n)| (&**term, *n))
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Total number of occurrences.
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
    /// Distinct terms of the document's lead (its beginning).
    pub lead: TermCounts,
    /// Distinct terms of the chunk's headings.
    pub headings: TermCounts,
}

/// The embedding of a chunk: sparse, dense, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedding {
    /// Terms with their counts.
    pub sparse: Option<SparseVector>,
    /// Unit vector, or the zero vector of a text in which the model knows nothing; its cosine with every vector is 0. All
    /// vectors of a vector collection have the same dimensions.
    pub dense: Option<Vec<f32>>,
    /// Whether the dense part is of the beginning of the text only, because the model takes no longer text.
    pub is_shortened: bool,
}

/// A term that a query searches for.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The term.
    pub text: Box<str>,
    /// Weight relative to a word of the query, which has 1.
    pub weight: f32,
    /// Whether it is part of a name. Names identify documents.
    pub is_name: bool,
    /// Whether the query has it; a lexicon adds others.
    pub is_own: bool,
}

impl QueryTerm {
    /// A word of the query.
    pub fn word(text: impl Into<Box<str>>) -> Self {
        Self { text: text.into(), weight: 1.0, is_name: false, is_own: true }
    }
}

/// The distinct terms of a query, sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTerms(Vec<QueryTerm>);

impl QueryTerms {
    /// Iterates over the terms.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &QueryTerm> {
        self.0.iter()
    }

    /// Whether there are no terms.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<QueryTerm> for QueryTerms {
    /// Of equal terms, the one with the highest weight remains; it is part of a name or of the query if one of them is.
    fn from_iter<T: IntoIterator<Item = QueryTerm>>(terms: T) -> Self {
        let mut terms: Vec<QueryTerm> = terms.into_iter().collect();
        terms.sort_by(|a, b| a.text.cmp(&b.text).then(b.weight.total_cmp(&a.weight)));
        terms.dedup_by(|other, first| {
            let is_same = other.text == first.text;
            first.is_name |= is_same && other.is_name;
            first.is_own |= is_same && other.is_own;
            is_same
        });
        Self(terms)
    }
}

/// The embedding of a query: sparse, dense, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryEmbedding {
    /// Terms of the query.
    pub sparse: Option<QueryTerms>,
    /// Unit vector, or the zero vector, as in [`Embedding`].
    pub dense: Option<Vec<f32>>,
}

/// The text of one document passed to an embedder.
#[derive(Clone, Copy, Debug)]
pub struct Passages<'a> {
    /// Title of the document.
    pub title: &'a str,
    /// Beginning of the document's text.
    pub lead: &'a str,
    /// First page and text of each chunk.
    pub chunks: &'a [(u32, &'a str)],
    /// Headings of each chunk, one per line; empty if headings were not detected.
    pub headings: &'a [String],
}

/// A chunk to store in the vector store.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// ID; an entry with the same ID is replaced.
    pub id: ChunkId,
    /// Position among the document's chunks.
    pub ordinal: u32,
    /// Text of the chunk.
    pub text: String,
    /// Range in the document.
    pub span: Span,
    /// Pages of the chunk.
    pub pages: Vec<PageStart>,
    /// The last headings before the chunk, one per line.
    pub headings: String,
    /// Embedding that it is found by.
    pub embedding: Embedding,
}

/// A chunk read from the vector store, without its terms, which can be derived from the text.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// Position among the document's chunks.
    pub ordinal: u32,
    /// Text of the chunk.
    pub text: String,
    /// Range in the document.
    pub span: Span,
    /// Pages of the chunk.
    pub pages: Vec<PageStart>,
    /// Dense vector, if any.
    pub dense: Option<Vec<f32>>,
}

/// The version of a document that entries in the vector store belong to.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedVersion {
    /// ID of the version.
    pub id: VersionId,
    /// What scopes and conditions apply to.
    pub labels: DocumentLabels,
}

/// Which chunks a search returns.
#[derive(Clone, Copy, Debug)]
pub struct ChunkFilter<'a> {
    /// Only chunks of documents in this scope.
    pub scope: &'a Scope,
    /// Only chunks of documents that meet this condition, if any.
    pub condition: Option<&'a Condition>,
    /// Only chunks of these versions; of all if `None`.
    pub versions: Option<&'a [VersionId]>,
    /// Maximum number of chunks.
    pub limit: usize,
}

impl ChunkFilter<'_> {
    /// At most `limit` chunks of all documents.
    pub const fn all(limit: usize) -> Self {
        Self { scope: Scope::SERVICE, condition: None, versions: None, limit }
    }
}

/// A chunk that a vector store found, with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundChunk {
    /// ID of the chunk.
    pub id: ChunkId,
    /// ID of the version that it belongs to.
    pub version: VersionId,
    /// Title of the document.
    pub title: String,
    /// Text of the chunk.
    pub text: String,
    /// Range in the document.
    pub span: Span,
    /// Pages of the chunk.
    pub pages: Vec<PageStart>,
    /// The last headings before the chunk, one per line. Empty if an earlier release indexed it.
    pub headings: String,
    /// Relevance; higher is better. Comparable only within one search.
    pub score: f32,
}

impl FoundChunk {
    /// The chunk as one of this version of a document.
    pub fn in_version(self, version: &SearchedVersion) -> ScoredChunk {
        let Self { id, version: _, title, text, span, pages, headings, score } = self;
        let recognized = version.recognizes(span);
        let label = version.page_labels.get(span.start.page);
        let (document_id, version) = (version.document, version.number);
        ScoredChunk { id, document_id, version, title, text, span, pages, headings, score, recognized, label }
    }
}

/// The version of a document that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedVersion {
    /// The document.
    pub document: DocumentId,
    /// Number of the version, starting at 1.
    pub number: u32,
    /// Numbers of the pages whose text was recognised, in order.
    pub recognized_pages: Vec<u32>,
    /// What its pages are in the file.
    pub page_labels: PageLabels,
}

impl SearchedVersion {
    /// Whether a range has text of a recognised page.
    fn recognizes(&self, span: Span) -> bool {
        let first = self.recognized_pages.partition_point(|page| *page < span.start.page);
        self.recognized_pages.get(first).is_some_and(|page| *page <= span.end.page)
    }
}

/// A search result: a chunk with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredChunk {
    /// ID of the chunk.
    pub id: ChunkId,
    /// ID of the document.
    pub document_id: DocumentId,
    /// Number of the document's version, starting at 1.
    pub version: u32,
    /// Title of the document.
    pub title: String,
    /// Text of the chunk.
    pub text: String,
    /// Range in the document.
    pub span: Span,
    /// Pages of the chunk.
    pub pages: Vec<PageStart>,
    /// The last headings before the chunk, one per line. Empty if it was read from a conversation.
    pub headings: String,
    /// Relevance; higher is better. Comparable only within one search.
    pub score: f32,
    /// Whether text of it was recognised on an image of a page.
    pub recognized: bool,
    /// What its first page is in the file, such as `Slide 3`; `None` in PDFs.
    pub label: Option<String>,
}

impl ScoredChunk {
    /// Where the chunk is in its document: `page 3`, `pages 3 to 4`, or the label of its first page.
    pub fn place(&self) -> String {
        let (first, last) = (self.span.start.page, self.span.end.page);
        match &self.label {
            Some(label) => label.clone(),
            None if first == last => format!("page {first}"),
            None => format!("pages {first} to {last}"),
        }
    }
}

/// Removes chunks whose text equals that of an earlier one, ignoring case and white space.
pub fn deduplicated(mut chunks: Vec<ScoredChunk>) -> Vec<ScoredChunk> {
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
            headings: String::new(),
            id: ChunkId::of(VersionId::first(document_id), 0),
            document_id,
            version: 1,
            title: "t".to_owned(),
            text: text.to_owned(),
            span: Span { start: place, end: place },
            pages: Vec::new(),
            score: 1.0,
            recognized: false,
            label: None,
        }
    }

    // Invariant: Duplicate passages do not displace other results, and a hidden duplicate does not hide a
    // visible one.
    #[test]
    fn deduplicated_keeps_first_of_equal_chunks() {
        let chunks = vec![
            found(1, "The pump\nleaks."),
            found(2, "The valve leaks."),
            found(3, "  the PUMP leaks. "),
            found(4, "The pump leaks"),
            found(5, "Thepump leaks."),
        ];
        let left = deduplicated(chunks.clone());
        assert_eq!(left, [0, 1, 3, 4].map(|n: usize| chunks[n].clone()));
    }

    #[test]
    fn chunk_with_a_recognised_page_is_recognised() {
        let version = |recognized_pages| SearchedVersion {
            document: DocumentId::from_uuid(Uuid::from_u128(1)),
            number: 1,
            recognized_pages,
            page_labels: PageLabels::default(),
        };
        let at = |page| Position { page, offset: 0 };
        let span = Span { start: at(3), end: at(5) };
        for (pages, expected) in
            [(vec![], false), (vec![2, 6], false), (vec![1, 3], true), (vec![4], true), (vec![5, 9], true)]
        {
            assert_eq!(version(pages.clone()).recognizes(span), expected, "{pages:?}");
        }
    }

    #[test]
    fn query_terms_are_distinct() {
        let term = |text: &str, weight, is_name| QueryTerm {
            text: text.into(),
            weight,
            is_name,
            is_own: weight >= 1.0,
        };
        let terms: QueryTerms =
            [term("b", 0.5, true), QueryTerm::word("a"), QueryTerm::word("b"), term("a", 1.0, false)]
                .into_iter()
                .collect();
        let expected = [QueryTerm::word("a"), term("b", 1.0, true)];
        assert_eq!(terms.iter().cloned().collect::<Vec<_>>(), expected);
        assert!(QueryTerms::default().is_empty());
    }

    #[test]
    fn term_counts_are_sorted() {
        let counts = TermCounts::count(["b", "a", "b"].map(String::from));
        assert_eq!(counts.iter().collect::<Vec<_>>(), [("a", 1), ("b", 2)]);
        assert_eq!(counts.total(), 3);
        assert!(TermCounts::default().is_empty());
    }
}
