//! Conversion between chunks and points.

use super::rank::Candidate;
use super::value::{fields, list, number, object, read_field, read_number, string, take_string};
use super::{labels, terms};
use docent_domain::chunk::{PageStart, Position, Span};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{FoundChunk, IndexEntry, IndexedVersion, StoredChunk};
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::vectors::VectorsOptions;
use qdrant_client::qdrant::{
    DenseVector, NamedVectors, PayloadIncludeSelector, PointId, PointStruct, RetrievedPoint, ScoredPoint,
    SparseVector, Value, Vector, VectorOutput, Vectors, VectorsOutput, WithPayloadSelector, vector,
    vector_output, vectors_output, with_payload_selector,
};
use std::collections::HashMap;

/// The names of a point's vectors.
pub(super) mod name {
    pub(in super::super) const DENSE: &str = "dense";
    pub(in super::super) const TERMS: &str = "terms";
}

/// The payload field by which points are filtered.
// Stored by the release before, in which documents had one version.
pub(super) const DOCUMENT: &str = "document_id";

const TITLE: &str = "title";
const FILENAME: &str = "filename";
const ORDINAL: &str = "ordinal";
const LENGTH: &str = "length";
const TEXT: &str = "text";
const SPAN: &str = "span";
const PAGES: &str = "pages";
const START: &str = "start";
const END: &str = "end";
const PAGE: &str = "page";
const OFFSET: &str = "offset";
const AT: &str = "at";
const HEADINGS: &str = "headings";

pub(super) fn id(chunk: ChunkId) -> PointId {
    PointId { point_id_options: Some(PointIdOptions::Uuid(chunk.to_string())) }
}

pub(super) fn write(document: &IndexedVersion, entry: IndexEntry) -> PointStruct {
    let IndexEntry { id: chunk, ordinal, text, span, pages, headings, embedding } = entry;
    let mut vectors = HashMap::new();
    let mut put = |name: &str, vector| {
        let vector = Vector { vector: Some(vector), ..Vector::default() };
        vectors.insert(name.to_owned(), vector);
    };
    if let Some(data) = embedding.dense {
        put(name::DENSE, vector::Vector::Dense(DenseVector { data }));
    }
    let sparse = embedding.sparse.unwrap_or_default();
    let terms = terms::vector(&sparse);
    if !terms.indices.is_empty() {
        put(name::TERMS, vector::Vector::Sparse(terms));
    }
    let length = u32::try_from(sparse.body.total()).unwrap_or(u32::MAX);
    let pages = pages.iter().map(|start| object([(PAGE, number(start.page)), (AT, number(start.at))]));
    let [collections, attributes] = labels::payload(&document.labels);
    let payload = [
        collections,
        attributes,
        (DOCUMENT, string(document.id.to_string())),
        (TITLE, string(document.labels.title.clone())),
        (FILENAME, string(document.labels.file_name.clone())),
        (ORDINAL, number(ordinal)),
        (LENGTH, number(length)),
        (TEXT, string(text)),
        (SPAN, object([(START, position(span.start)), (END, position(span.end))])),
        (PAGES, list(pages.collect())),
        (HEADINGS, string(headings)),
    ];
    PointStruct {
        id: Some(id(chunk)),
        payload: fields(payload),
        vectors: Some(Vectors { vectors_options: Some(VectorsOptions::Vectors(NamedVectors { vectors })) }),
    }
}

fn position(position: Position) -> Value {
    object([(PAGE, number(position.page)), (OFFSET, number(position.offset))])
}

/// The fields by which candidates are ranked. Their texts are many times as large, and most are not needed.
pub(super) const RANKED: [&str; 3] = [DOCUMENT, ORDINAL, LENGTH];
/// The fields of a passage.
pub(super) const PASSAGE: [&str; 6] = [DOCUMENT, TITLE, TEXT, SPAN, PAGES, HEADINGS];

/// The fields to return with each point.
pub(super) fn only(fields: &[&str]) -> WithPayloadSelector {
    let fields = fields.iter().map(|field| (*field).to_owned()).collect();
    with_payload_selector::SelectorOptions::Include(PayloadIncludeSelector { fields }).into()
}

/// Converts the points that a search found.
pub(super) fn candidates(points: Vec<ScoredPoint>) -> Result<Vec<Candidate>> {
    points.into_iter().map(|point| candidate(point).ok_or_else(invalid)).collect()
}

/// Converts a point with the fields of [`PASSAGE`] to a passage without a score.
pub(super) fn passage(point: RetrievedPoint) -> Result<FoundChunk> {
    read_passage(point).ok_or_else(invalid)
}

/// The fault of a point without the payload of a chunk.
pub(super) fn invalid() -> Fault {
    let message = "the collection contains a point that is not a chunk";
    Fault::new(Component::VectorStore, FaultKind::InvalidResponse, message)
}

fn candidate(mut point: ScoredPoint) -> Option<Candidate> {
    let payload = &mut point.payload;
    let (ordinal, length) = (read_number(payload.get(ORDINAL)?)?, read_number(payload.get(LENGTH)?)?);
    let version = take_string(payload, DOCUMENT)?.parse::<VersionId>().ok()?;
    let mut vectors = named(point.vectors);
    let terms = match vectors.remove(name::TERMS).map(VectorOutput::into_vector) {
        Some(vector_output::Vector::Sparse(terms)) => terms,
        _ => SparseVector::default(),
    };
    Some(Candidate { id: read_id(point.id)?, version, ordinal, length, terms, dense: dense(&mut vectors) })
}

fn read_passage(mut point: RetrievedPoint) -> Option<FoundChunk> {
    let payload = &mut point.payload;
    Some(FoundChunk {
        id: read_id(point.id)?,
        version: take_string(payload, DOCUMENT)?.parse::<VersionId>().ok()?,
        title: take_string(payload, TITLE)?,
        text: take_string(payload, TEXT)?,
        span: read_span(payload.get(SPAN)?)?,
        pages: read_pages(payload.get(PAGES)?)?,
        // Points of earlier releases have none.
        headings: take_string(payload, HEADINGS).unwrap_or_default(),
        score: 0.0,
    })
}

fn read_id(id: Option<PointId>) -> Option<ChunkId> {
    match id?.point_id_options? {
        PointIdOptions::Uuid(id) => id.parse().ok(),
        PointIdOptions::Num(_) => None,
    }
}

/// A point's vectors by name.
fn named(vectors: Option<VectorsOutput>) -> HashMap<String, VectorOutput> {
    match vectors.and_then(|vectors| vectors.vectors_options) {
        Some(vectors_output::VectorsOptions::Vectors(named)) => named.vectors,
        Some(vectors_output::VectorsOptions::Vector(_)) | None => HashMap::new(),
    }
}

fn dense(vectors: &mut HashMap<String, VectorOutput>) -> Option<Vec<f32>> {
    match vectors.remove(name::DENSE)?.into_vector() {
        vector_output::Vector::Dense(dense) => Some(dense.data),
        vector_output::Vector::Sparse(_) | vector_output::Vector::MultiDense(_) => None,
    }
}

/// The document of a point's payload.
pub(super) fn document(payload: &HashMap<String, Value>) -> Option<VersionId> {
    match payload.get(DOCUMENT)?.kind.as_ref()? {
        Kind::StringValue(id) => id.parse().ok(),
        _ => None,
    }
}

/// Converts a point to a stored chunk.
pub(super) fn stored(mut point: RetrievedPoint) -> Option<StoredChunk> {
    let payload = &mut point.payload;
    Some(StoredChunk {
        ordinal: read_number(payload.get(ORDINAL)?)?,
        span: read_span(payload.get(SPAN)?)?,
        pages: read_pages(payload.get(PAGES)?)?,
        text: take_string(payload, TEXT)?,
        dense: dense(&mut named(point.vectors)),
    })
}

fn read_position(value: &Value) -> Option<Position> {
    let page = read_number(read_field(value, PAGE)?)?;
    Some(Position { page, offset: read_number(read_field(value, OFFSET)?)? })
}

fn read_span(value: &Value) -> Option<Span> {
    let start = read_position(read_field(value, START)?)?;
    Some(Span { start, end: read_position(read_field(value, END)?)? })
}

fn read_pages(value: &Value) -> Option<Vec<PageStart>> {
    let Kind::ListValue(list) = value.kind.as_ref()? else { return None };
    let page = |value: &Value| {
        let page = read_number(read_field(value, PAGE)?)?;
        Some(PageStart { page, at: read_number(read_field(value, AT)?)? })
    };
    list.values.iter().map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::labels::DocumentLabels;
    use docent_domain::retrieval::{Embedding, SparseVector, TermCounts};
    use uuid::Uuid;

    fn document(n: u128) -> IndexedVersion {
        let document = docent_testkit::retrieval::indexed(1);
        let labels = DocumentLabels { title: "Pumps".to_owned(), ..document.labels };
        IndexedVersion { id: VersionId::from_uuid(Uuid::from_u128(n)), labels }
    }

    fn entry(document: &IndexedVersion, ordinal: u32) -> IndexEntry {
        let body = TermCounts::count(["pump".to_owned()]);
        IndexEntry {
            id: ChunkId::of(document.id, ordinal),
            ordinal,
            text: "Ünïcode 水泵".to_owned(),
            span: Span {
                start: Position { page: 4, offset: u32::MAX },
                end: Position { page: 6, offset: 9 },
            },
            pages: vec![PageStart { page: 4, at: 0 }, PageStart { page: 6, at: 8 }],
            headings: "Pümps\nSeals".to_owned(),
            embedding: Embedding {
                sparse: Some(SparseVector { body, ..SparseVector::default() }),
                dense: Some(vec![0.6, 0.8]),
                is_shortened: false,
            },
        }
    }

    fn scored(document: &IndexedVersion, ordinal: u32) -> ScoredPoint {
        let PointStruct { id, payload, .. } = write(document, entry(document, ordinal));
        ScoredPoint { id, payload, score: 0.5, ..ScoredPoint::default() }
    }

    fn retrieved(document: &IndexedVersion, ordinal: u32) -> RetrievedPoint {
        let PointStruct { id, payload, .. } = write(document, entry(document, ordinal));
        RetrievedPoint { id, payload, ..RetrievedPoint::default() }
    }

    #[test]
    fn chunk_round_trips() {
        let document = document(7);
        let stored = entry(&document, 3);
        let candidate = candidates(vec![scored(&document, 3)]).unwrap().remove(0);
        let expected = FoundChunk {
            id: stored.id,
            version: document.id,
            title: "Pumps".to_owned(),
            text: stored.text,
            span: stored.span,
            pages: stored.pages,
            headings: stored.headings,
            score: 0.0,
        };
        assert_eq!((candidate.id, candidate.version), (stored.id, document.id));
        assert_eq!((candidate.ordinal, candidate.length), (3, 1));
        assert_eq!(passage(retrieved(&document, 3)).unwrap(), expected);
    }

    #[test]
    fn point_of_an_earlier_release_has_no_headings() {
        let mut point = retrieved(&document(1), 0);
        point.payload.remove(HEADINGS);
        assert_eq!(passage(point).unwrap().headings, "");
    }

    #[test]
    fn point_has_the_vectors_of_its_chunk() {
        let document = document(7);
        let names = |entry| {
            let point = write(&document, entry);
            let Some(VectorsOptions::Vectors(named)) = point.vectors.unwrap().vectors_options else {
                panic!()
            };
            let mut names: Vec<String> = named.vectors.into_keys().collect();
            names.sort();
            names
        };
        assert_eq!(names(entry(&document, 0)), ["dense", "terms"]);
        let nothing = Embedding::default();
        assert!(names(IndexEntry { embedding: nothing, ..entry(&document, 0) }).is_empty());
    }

    #[test]
    fn a_foreign_point_is_garbage() {
        for field in RANKED {
            let mut point = scored(&document(1), 0);
            point.payload.remove(field);
            assert_eq!(candidates(vec![point]).unwrap_err().kind(), FaultKind::InvalidResponse, "{field}");
        }
        for field in PASSAGE.into_iter().filter(|field| *field != HEADINGS) {
            let mut point = retrieved(&document(1), 0);
            point.payload.remove(field);
            assert_eq!(passage(point).unwrap_err().kind(), FaultKind::InvalidResponse, "{field}");
        }
    }
}
