//! Search requests.

use super::filters;
use super::points::{self, name};
use super::terms::WeightedTerms;
use docent_domain::ranking::CANDIDATES;
use docent_domain::retrieval::ChunkFilter;
use qdrant_client::qdrant::{
    DenseVector, Filter, Fusion, PrefetchQuery, Query, QueryPoints, VectorInput, VectorsSelector,
    WithVectorsSelector, query, vector_input, with_vectors_selector,
};

/// Minimum cosine: vectors at a right angle or more do not match.
const COSINE_MIN: f32 = 1e-6;

/// The search for candidates; `None` if it cannot find anything.
pub(super) fn request(
    collection: &str,
    sparse: Option<&WeightedTerms>,
    dense: Option<&[f32]>,
    filter: ChunkFilter<'_>,
) -> Option<QueryPoints> {
    if filter.limit == 0 {
        return None;
    }
    // The server ignores the lengths of chunks, so that the best chunks may not be its first ones.
    let limit = filter.limit.max(CANDIDATES) as u64;
    let required = filters::required(filter)?;
    let filter = (!required.is_empty()).then(|| Filter::must(required));
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
        with_payload: Some(points::only(&points::RANKED)),
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
