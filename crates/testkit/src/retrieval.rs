//! Retrieval values for tests, derived from a number or a few words.

use chrono::DateTime;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::extraction::PageLabels;
use docent_domain::id::{ChunkId, CollectionId, DocumentId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::{
    Embedding, FoundChunk, IndexEntry, IndexedVersion, QueryEmbedding, QueryTerm, QueryTerms, ScoredChunk,
    SearchedVersion, SparseVector, TermCounts,
};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// The ID of the `n`th document; IDs sort by `n`.
pub fn document_id(n: u32) -> DocumentId {
    DocumentId::from_uuid(Uuid::from_u128(u128::from(n) << 64 | u128::from(n)))
}

/// The ID of the first version of the `n`th document.
pub fn version_id(n: u32) -> VersionId {
    VersionId::first(document_id(n))
}

/// The `n`th document in the vector store: `Document n`, from `document-n.pdf`.
pub fn indexed(n: u32) -> IndexedVersion {
    let labels = DocumentLabels {
        collections: BTreeSet::from([CollectionId::EVERYONE]),
        owner: None,
        title: format!("Document {n}"),
        file_name: format!("document-{n}.pdf"),
        pages: 1,
        language: Some("en".to_owned()),
        created_at: DateTime::UNIX_EPOCH,
        attributes: Attributes::default(),
    };
    IndexedVersion { id: version_id(n), labels }
}

/// The `n`th document in these collections, with an attribute `year` and pages.
pub fn labelled(n: u32, collections: &[u32], year: f64) -> IndexedVersion {
    let key = AttributeKey::parse("year").unwrap();
    let attributes = Attributes::new(BTreeMap::from([(key, AttributeValue::Number(year))])).unwrap();
    let collections = collections.iter().map(|n| crate::builders::id(*n)).collect();
    let document = indexed(n);
    IndexedVersion {
        labels: DocumentLabels { collections, attributes, pages: n, ..document.labels },
        ..document
    }
}

/// The words between spaces, in lower case, counted.
pub fn terms(text: &str) -> TermCounts {
    TermCounts::count(text.split_whitespace().map(str::to_lowercase))
}

/// A chunk of document `n` on page 1, found by its words.
pub fn entry(n: u32, ordinal: u32, text: &str) -> IndexEntry {
    let end = u32::try_from(text.len()).unwrap();
    IndexEntry {
        id: ChunkId::of(version_id(n), ordinal),
        ordinal,
        text: text.to_owned(),
        span: Span { start: Position { page: 1, offset: 0 }, end: Position { page: 1, offset: end } },
        pages: vec![PageStart { page: 1, at: 0 }],
        headings: String::new(),
        embedding: Embedding {
            sparse: Some(SparseVector { body: terms(text), ..SparseVector::default() }),
            ..Embedding::default()
        },
    }
}

/// Such a chunk with a dense vector.
pub fn hybrid_entry(n: u32, ordinal: u32, text: &str, vector: &[f32]) -> IndexEntry {
    let mut entry = entry(n, ordinal, text);
    entry.embedding.dense = Some(vector.to_vec());
    entry
}

/// The words of `text` as terms of a query.
pub fn query_terms(text: &str) -> QueryTerms {
    terms(text).iter().map(|(term, _)| QueryTerm::word(term)).collect()
}

/// A query for the words of `text`, without a dense part.
pub fn query(text: &str) -> QueryEmbedding {
    QueryEmbedding { sparse: Some(query_terms(text)), dense: None }
}

/// A search result on page 1 of document `n` with a score of 1.
pub fn found(n: u32, ordinal: u32, text: &str) -> ScoredChunk {
    let version = SearchedVersion {
        document: document_id(n),
        number: 1,
        recognized_pages: Vec::new(),
        page_labels: PageLabels::default(),
    };
    hit(n, ordinal, text).in_version(&version)
}

/// Such a result, as a vector store returns it.
pub fn hit(n: u32, ordinal: u32, text: &str) -> FoundChunk {
    let entry = entry(n, ordinal, text);
    FoundChunk {
        id: entry.id,
        version: version_id(n),
        title: indexed(n).labels.title,
        text: entry.text,
        span: entry.span,
        pages: entry.pages,
        headings: entry.headings,
        score: 1.0,
    }
}

/// The share of a query's words that a text has; 0 for a query without any.
pub fn words_in_common(query: &str, text: &str) -> f32 {
    let (query, text) = (terms(query), terms(text));
    let common = query.iter().filter(|(word, _)| text.iter().any(|(other, _)| other == *word)).count();
    common as f32 / query.iter().len().max(1) as f32
}
