//! Lists documents and chunks of the index.

use super::Shared;
use super::schema::{Fields, column};
use super::search::{alive_count, each_alive};
use docent_domain::id::VersionId;
use docent_domain::retrieval::StoredChunk;
use docent_ports::vector_index::IndexPage;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use tantivy::{DocId, Searcher, SegmentReader, TantivyDocument, TantivyError};
use uuid::Uuid;

pub(super) fn counts(shared: &Shared, documents: &[VersionId]) -> tantivy::Result<HashMap<VersionId, u64>> {
    let searcher = shared.reader.searcher();
    let mut counts = HashMap::new();
    for document in documents {
        let count = alive_count(&searcher, &shared.fields.document_term(*document))?;
        if count > 0 {
            counts.insert(*document, count);
        }
    }
    Ok(counts)
}

/// Returns a page of versions in the order of IDs.
pub(super) fn versions(
    shared: &Shared,
    after: Option<VersionId>,
    limit: usize,
) -> tantivy::Result<IndexPage> {
    let mut found = BTreeSet::new();
    for reader in shared.reader.searcher().segment_readers() {
        found.extend(documents_of(&shared.fields, reader, after, limit)?);
    }
    let versions: Vec<VersionId> = found.into_iter().take(limit).collect();
    let next = versions.last().filter(|_| versions.len() == limit).map(VersionId::to_string);
    Ok(IndexPage { versions, next })
}

/// Returns all documents with chunks.
pub(super) fn all_documents(fields: &Fields, searcher: &Searcher) -> tantivy::Result<HashSet<VersionId>> {
    let mut found = HashSet::new();
    for reader in searcher.segment_readers() {
        found.extend(documents_of(fields, reader, None, usize::MAX)?);
    }
    Ok(found)
}

/// Returns the first documents with chunks in a segment.
fn documents_of(
    fields: &Fields,
    reader: &SegmentReader,
    after: Option<VersionId>,
    limit: usize,
) -> tantivy::Result<Vec<VersionId>> {
    let inverted = reader.inverted_index(fields.document)?;
    let range = inverted.terms().range();
    let mut terms = match after {
        Some(after) => range.gt(after.as_uuid().as_bytes()),
        None => range,
    }
    .into_stream()?;
    let mut found = Vec::new();
    while found.len() < limit && terms.advance() {
        let id = Uuid::from_slice(terms.key())
            .map_err(|_| TantivyError::InternalError("a document's ID is invalid".to_owned()))?;
        let document = VersionId::from_uuid(id);
        let mut is_alive = !reader.has_deletes();
        if !is_alive {
            each_alive(reader, &fields.document_term(document), |_| is_alive = true)?;
        }
        if is_alive {
            found.push(document);
        }
    }
    Ok(found)
}

/// Returns a document's chunks with these ordinals, in their order.
pub(super) fn chunks(
    shared: &Shared,
    document: VersionId,
    wanted: Range<u32>,
) -> tantivy::Result<Vec<StoredChunk>> {
    let (searcher, vectors) = shared.snapshot();
    let mut chunks = Vec::new();
    for reader in searcher.segment_readers() {
        let mut docs: Vec<DocId> = Vec::new();
        each_alive(reader, &shared.fields.document_term(document), |doc| docs.push(doc))?;
        if docs.is_empty() {
            continue;
        }
        let ordinals = reader.fast_fields().column_first_or_default::<u64>(column::ORDINAL)?;
        let keys = reader.fast_fields().column_opt::<u64>(column::VECTOR)?;
        let store = reader.get_store_reader(1)?;
        for doc in docs {
            let ordinal = u32::try_from(ordinals.get_val(doc)).unwrap_or(u32::MAX);
            if !wanted.contains(&ordinal) {
                continue;
            }
            let record: TantivyDocument = store.get(doc)?;
            let found = shared.fields.read(&record, document.as_uuid().as_u128(), ordinal, 0.0)?;
            let key = keys.as_ref().and_then(|keys| keys.first(doc));
            let dense = key.zip(vectors.as_ref()).and_then(|(key, vectors)| vectors.vector(key));
            let (text, span, pages) = (found.text, found.span, found.pages);
            chunks.push(StoredChunk { ordinal, text, span, pages, dense });
        }
    }
    chunks.sort_by_key(|chunk| chunk.ordinal);
    Ok(chunks)
}
