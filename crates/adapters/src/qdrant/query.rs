//! Search requests and filters.

use super::points::{DOCUMENT, name};
use super::terms::WeightedTerms;
use docent_domain::id::DocumentId;
use qdrant_client::qdrant::{
    Condition, DenseVector, Filter, Fusion, PointId, PrefetchQuery, Query, QueryPoints, VectorInput,
    VectorsSelector, WithVectorsSelector, query, vector_input, with_vectors_selector,
};

/// Minimum number of candidates to rank. The server ignores the lengths of chunks, so that the best chunks may not
/// be its first ones.
const CANDIDATES: usize = 200;

/// Minimum cosine: vectors at a right angle or more do not match.
const COSINE_MIN: f32 = 1e-6;

/// All points of a document.
pub(super) fn all_of(document: DocumentId) -> Filter {
    Filter::must([Condition::matches(DOCUMENT, document.to_string())])
}

/// The points with these IDs.
pub(super) fn only(points: Vec<PointId>) -> Filter {
    Filter::must([Condition::has_id(points)])
}

/// All points of these documents.
pub(super) fn any_of(documents: &[DocumentId]) -> Filter {
    let ids: Vec<String> = documents.iter().map(DocumentId::to_string).collect();
    Filter::must([Condition::matches(DOCUMENT, ids)])
}

/// All points of a document except these.
pub(super) fn all_of_except(document: DocumentId, except: Vec<PointId>) -> Filter {
    let must_not = if except.is_empty() { Vec::new() } else { vec![Condition::has_id(except)] };
    Filter { must_not, ..all_of(document) }
}

/// The search for candidates; `None` if it cannot find anything.
pub(super) fn request(
    collection: &str,
    sparse: Option<&WeightedTerms>,
    dense: Option<&[f32]>,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Option<QueryPoints> {
    if limit == 0 || documents.is_some_and(<[_]>::is_empty) {
        return None;
    }
    let filter = documents.map(any_of);
    let limit = limit.max(CANDIDATES) as u64;
    let used = [sparse.map(|_| name::TERMS), dense.map(|_| name::DENSE)];
    let lexical = sparse.map(|terms| lexical(terms, filter.clone(), limit));
    let dense = dense.map(|vector| near(vector, filter, limit));
    let root = match (lexical, dense) {
        (Some(lexical), Some(dense)) => PrefetchQuery {
            prefetch: vec![lexical, dense],
            query: Some(variant(query::Variant::Fusion(Fusion::Rrf.into()))),
            // All of both rankings: the final ranking is made here.
            limit: Some(2 * limit),
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
        with_vectors: Some(vectors(used.into_iter().flatten())),
        ..QueryPoints::default()
    })
}

/// The vectors to return with each point.
pub(super) fn vectors<'a>(names: impl IntoIterator<Item = &'a str>) -> WithVectorsSelector {
    let names = VectorsSelector { names: names.into_iter().map(str::to_owned).collect() };
    with_vectors_selector::SelectorOptions::Include(names).into()
}

/// Chunks that share terms with the query, by the weight of the terms.
fn lexical(terms: &WeightedTerms, filter: Option<Filter>, limit: u64) -> PrefetchQuery {
    PrefetchQuery {
        query: Some(nearest(vector_input::Variant::Sparse(terms.vector()))),
        using: Some(name::TERMS.to_owned()),
        filter,
        limit: Some(limit),
        ..PrefetchQuery::default()
    }
}

/// Chunks with similar dense vectors.
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
