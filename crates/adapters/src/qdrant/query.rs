//! What is asked of the server.

use super::{
    points::{DOCUMENT, name},
    terms::Weighed,
};
use docent_domain::id::DocumentId;
use qdrant_client::qdrant::{
    Condition, DenseVector, Filter, Fusion, PointId, PrefetchQuery, Query, QueryPoints, VectorInput,
    VectorsSelector, WithVectorsSelector, query, vector_input, with_vectors_selector,
};

/// How many chunks are ranked at least, however few are wanted: the server orders them without regard to their
/// lengths, and the best ones must be among them.
const CANDIDATES: usize = 200;

/// Vectors at a right angle or more have nothing in common; the server keeps what is above it.
const COSINE_MIN: f32 = 1e-6;

/// All points of a document.
pub(super) fn all_of(document: DocumentId) -> Filter {
    Filter::must([Condition::matches(DOCUMENT, document.to_string())])
}

/// All points of these documents.
pub(super) fn any_of(documents: &[DocumentId]) -> Filter {
    let ids: Vec<String> = documents.iter().map(DocumentId::to_string).collect();
    Filter::must([Condition::matches(DOCUMENT, ids)])
}

/// All points of a document but these.
pub(super) fn all_of_but(document: DocumentId, kept: Vec<PointId>) -> Filter {
    let but = if kept.is_empty() { Vec::new() } else { vec![Condition::has_id(kept)] };
    Filter { must_not: but, ..all_of(document) }
}

/// The search for candidates; `None` when nothing can be found by it.
pub(super) fn request(
    collection: &str,
    sparse: Option<&Weighed>,
    dense: Option<&[f32]>,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Option<QueryPoints> {
    if limit == 0 || documents.is_some_and(<[_]>::is_empty) {
        return None;
    }
    let filter = documents.map(any_of);
    let limit = limit.max(CANDIDATES) as u64;
    let wanted = [sparse.map(|_| name::TERMS), dense.map(|_| name::DENSE)];
    let lexical = sparse.map(|terms| lexical(terms, filter.clone(), limit));
    let dense = dense.map(|vector| near(vector, filter, limit));
    let root = match (lexical, dense) {
        (Some(lexical), Some(dense)) => PrefetchQuery {
            prefetch: vec![lexical, dense],
            query: Some(variant(query::Variant::Fusion(Fusion::Rrf.into()))),
            limit: Some(limit),
            ..PrefetchQuery::default()
        },
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => return None,
    };
    Some(QueryPoints {
        collection_name: collection.to_owned(),
        prefetch: root.prefetch,
        query: root.query,
        using: root.using,
        filter: root.filter,
        score_threshold: root.score_threshold,
        limit: root.limit,
        with_payload: Some(true.into()),
        with_vectors: Some(vectors(wanted.into_iter().flatten())),
        ..QueryPoints::default()
    })
}

/// The vectors that points come back with.
pub(super) fn vectors<'a>(names: impl IntoIterator<Item = &'a str>) -> WithVectorsSelector {
    let names = VectorsSelector { names: names.into_iter().map(str::to_owned).collect() };
    with_vectors_selector::SelectorOptions::Include(names).into()
}

/// The chunks that share terms with the query, those first whose terms are worth most.
fn lexical(terms: &Weighed, filter: Option<Filter>, limit: u64) -> PrefetchQuery {
    PrefetchQuery {
        query: Some(nearest(vector_input::Variant::Sparse(terms.vector()))),
        using: Some(name::TERMS.to_owned()),
        filter,
        limit: Some(limit),
        ..PrefetchQuery::default()
    }
}

/// The chunks whose dense vectors are near.
fn near(vector: &[f32], filter: Option<Filter>, limit: u64) -> PrefetchQuery {
    PrefetchQuery {
        query: Some(nearest(vector_input::Variant::Dense(DenseVector { data: vector.to_vec() }))),
        using: Some(name::DENSE.to_owned()),
        filter,
        score_threshold: Some(COSINE_MIN),
        limit: Some(limit),
        ..PrefetchQuery::default()
    }
}

fn nearest(input: vector_input::Variant) -> Query {
    variant(query::Variant::Nearest(VectorInput { variant: Some(input) }))
}

fn variant(variant: query::Variant) -> Query {
    Query { variant: Some(variant) }
}
