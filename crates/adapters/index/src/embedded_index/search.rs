//! Exact search: every chunk that shares a term with the query is scored.
//!
//! Scores are accumulated from postings in one array per segment, block by block. The scores of a document's title and
//! lead are added to all of its chunks at once, because these are consecutive. If few chunks may be returned, only these
//! are looked up in the postings of frequent terms; otherwise all are scored and only the allowed ones are ranked. Terms
//! are weighted by their frequencies in the whole index, so that scores do not depend on the filter.

mod allowed;
mod best;
mod dense;
mod lexical;
mod runs;

use super::schema::{Fields, column};
use super::vectors::Vectors;
use super::{Shared, labels};
use allowed::Allowed;
use best::TopCandidates;
use docent_domain::explanation::FieldScores;
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{ChunkFilter, FoundChunk, QueryEmbedding};
pub(super) use lexical::ScorePool;
pub(super) use runs::RunCache;
use runs::Runs;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tantivy::columnar::{Column, ColumnValues};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocId, DocSet, Searcher, SegmentReader, TERMINATED, TantivyDocument, Term};
use uuid::Uuid;

/// Returns the best chunks for a query; see [`docent_ports::vector_index::VectorIndex::search`].
pub(super) fn run(
    shared: &Shared,
    query: &QueryEmbedding,
    filter: ChunkFilter<'_>,
) -> tantivy::Result<Vec<FoundChunk>> {
    let (searcher, vectors) = shared.snapshot();
    let mut best = TopCandidates::new(filter.limit.min(searcher.num_docs() as usize));
    if best.is_full() {
        return Ok(Vec::new());
    }
    let segments = segments(shared, &searcher, filter)?;
    if segments.iter().all(|segment| segment.allowed.is_empty()) {
        return Ok(Vec::new());
    }
    let terms = query.sparse.as_ref().filter(|terms| !terms.is_empty());
    let lexical = terms
        .map(|terms| lexical::Scores::of(&shared.scores, &searcher, &segments, &shared.fields, terms))
        .transpose()?;
    match (lexical, query.dense.as_deref().zip(vectors)) {
        (lexical, Some((query, vectors))) => {
            dense::rank(&segments, lexical.as_ref(), query, &vectors, &mut best)?
        }
        (Some(lexical), None) => lexical.rank(&segments, &mut best),
        (None, None) => {}
    }
    let chunk = |found: best::Candidate| {
        let record: TantivyDocument = searcher.doc(DocAddress::new(found.segment, found.doc))?;
        shared.fields.read(&record, found.document, found.ordinal, found.score)
    };
    best.into_sorted().into_iter().map(chunk).collect()
}

/// Returns the scores by field of the best chunks for a query.
pub(super) fn explain(
    shared: &Shared,
    query: &QueryEmbedding,
    filter: ChunkFilter<'_>,
) -> tantivy::Result<HashMap<ChunkId, FieldScores>> {
    let found: HashSet<ChunkId> = run(shared, query, filter)?.into_iter().map(|chunk| chunk.id).collect();
    let (searcher, vectors) = shared.snapshot();
    let segments = segments(shared, &searcher, filter)?;
    let terms = query.sparse.as_ref().filter(|terms| !terms.is_empty());
    let lexical = terms
        .map(|terms| lexical::FieldSums::of(&shared.scores, &searcher, &segments, &shared.fields, terms))
        .transpose()?;
    let mut explained = HashMap::with_capacity(found.len());
    for segment in &segments {
        let keys = vector_keys(segment.reader)?;
        for doc in segment.searchable() {
            let version = VersionId::from_uuid(Uuid::from_u128(segment.document(doc)));
            let id = ChunkId::of(version, segment.ordinal(doc));
            if !found.contains(&id) {
                continue;
            }
            let key = keys.as_ref().and_then(|keys| keys.first(doc));
            let dense =
                query.dense.as_deref().zip(vectors.as_ref()).zip(key).and_then(|((query, vectors), key)| {
                    vectors.find(key, 0).map(|row| vectors.dot(row, query))
                });
            let scores = lexical.as_ref().map(|sums| sums.of_chunk(segment, doc)).unwrap_or_default();
            explained.insert(id, FieldScores { dense, ..scores });
        }
    }
    Ok(explained)
}

/// Counts the chunks with each term in their text.
pub(super) fn frequencies(shared: &Shared, terms: &[String]) -> tantivy::Result<Vec<u64>> {
    let searcher = shared.reader.searcher();
    let count = |term: &String| alive_count(&searcher, &Term::from_field_text(shared.fields.body, term));
    terms.iter().map(count).collect()
}

/// A segment with the columns that searches read.
struct Segment<'a> {
    number: u32,
    reader: &'a SegmentReader,
    high: Arc<dyn ColumnValues<u64>>,
    low: Arc<dyn ColumnValues<u64>>,
    ordinals: Arc<dyn ColumnValues<u64>>,
    allowed: Allowed,
    /// The chunks by document.
    runs: Arc<Runs>,
}

impl Segment<'_> {
    /// Returns the ID of a chunk's document.
    fn document(&self, doc: DocId) -> u128 {
        u128::from(self.high.get_val(doc)) << 64 | u128::from(self.low.get_val(doc))
    }

    fn ordinal(&self, doc: DocId) -> u32 {
        u32::try_from(self.ordinals.get_val(doc)).unwrap_or(u32::MAX)
    }

    fn candidate(&self, doc: DocId, document: u128, score: f32) -> best::Candidate {
        best::Candidate { score, document, ordinal: self.ordinal(doc), segment: self.number, doc }
    }

    /// Returns the allowed chunks that are not deleted.
    fn searchable(&self) -> Box<dyn Iterator<Item = DocId> + '_> {
        self.allowed.alive(self.reader)
    }
}

fn segments<'a>(
    shared: &Shared,
    searcher: &'a Searcher,
    filter: ChunkFilter<'_>,
) -> tantivy::Result<Vec<Segment<'a>>> {
    // After the searcher was opened, so that no chunk has labels that are missing here.
    let selection = shared.labels.select(filter.scope, filter.condition);
    let is_selected = |document: &&VersionId| {
        selection.as_ref().is_none_or(|selection| selection.allows(labels::key(**document)))
    };
    let documents: Option<Vec<VersionId>> =
        filter.versions.map(|documents| documents.iter().filter(is_selected).copied().collect());
    let mut segments = Vec::new();
    for (number, reader) in (0..).zip(searcher.segment_readers()) {
        let columns = reader.fast_fields();
        let high = columns.column_first_or_default(column::DOCUMENT_HIGH)?;
        let low = columns.column_first_or_default(column::DOCUMENT_LOW)?;
        let runs = shared.runs.of(searcher, reader, &shared.fields, &*high, &*low)?;
        let allowed = match (&documents, &selection) {
            (Some(documents), _) => Allowed::Listed(chunks_of(reader, &shared.fields, documents)?),
            (None, Some(selection)) => Allowed::selected(reader, &runs.all, selection),
            (None, None) => Allowed::all(reader),
        };
        let ordinals = columns.column_first_or_default(column::ORDINAL)?;
        segments.push(Segment { number, reader, high, low, ordinals, allowed, runs });
    }
    Ok(segments)
}

/// Returns the chunks of documents in a segment that are not deleted, in order.
fn chunks_of(
    reader: &SegmentReader,
    fields: &Fields,
    documents: &[VersionId],
) -> tantivy::Result<Vec<DocId>> {
    let mut chunks = Vec::new();
    for document in documents {
        each_alive(reader, &fields.document_term(*document), |doc| chunks.push(doc))?;
    }
    chunks.sort_unstable();
    chunks.dedup();
    Ok(chunks)
}

/// Calls `found` with every chunk that has the term and is not deleted.
pub(super) fn each_alive(
    reader: &SegmentReader,
    term: &Term,
    mut found: impl FnMut(DocId),
) -> tantivy::Result<()> {
    let inverted = reader.inverted_index(term.field())?;
    if let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::Basic)? {
        while postings.doc() != TERMINATED {
            if !reader.is_deleted(postings.doc()) {
                found(postings.doc());
            }
            postings.advance();
        }
    }
    Ok(())
}

/// Counts the chunks that have a term and are not deleted.
pub(super) fn alive_count(searcher: &Searcher, term: &Term) -> tantivy::Result<u64> {
    let mut count = 0;
    for reader in searcher.segment_readers() {
        if reader.has_deletes() {
            each_alive(reader, term, |_| count += 1)?;
        } else {
            count += u64::from(reader.inverted_index(term.field())?.doc_freq(term)?);
        }
    }
    Ok(count)
}

/// The keys of vectors that chunks refer to.
pub(super) struct VectorsInUse {
    /// Keys of chunks that are not deleted, ascending.
    pub(super) live: Vec<u64>,
    /// The highest key, including those of deleted chunks.
    pub(super) last: Option<u64>,
}

impl VectorsInUse {
    /// Whether all referenced vectors exist.
    pub(super) fn all_in(&self, vectors: Option<&Arc<Vectors>>) -> bool {
        let mut hint = 0;
        let mut found = |key: &u64| {
            let row = vectors.and_then(|vectors| vectors.find(*key, hint));
            hint = row.map_or(hint, |row| row + 1);
            row.is_some()
        };
        self.live.iter().all(&mut found)
    }
}

pub(super) fn vectors_in_use(searcher: &Searcher) -> tantivy::Result<VectorsInUse> {
    let mut used = VectorsInUse { live: Vec::new(), last: None };
    for reader in searcher.segment_readers() {
        let Some(keys) = vector_keys(reader)? else { continue };
        let highest = (keys.values.num_vals() > 0).then(|| keys.max_value());
        used.last = used.last.max(highest);
        used.live.extend(reader.doc_ids_alive().filter_map(|doc| keys.first(doc)));
    }
    used.live.sort_unstable();
    Ok(used)
}

fn vector_keys(reader: &SegmentReader) -> tantivy::Result<Option<Column<u64>>> {
    reader.fast_fields().column_opt(column::VECTOR)
}
