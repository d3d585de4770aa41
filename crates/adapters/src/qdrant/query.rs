//! What is asked of the server.

use super::{
    points::{DOCUMENT, name},
    terms,
};
use docent_domain::{id::DocumentId, retrieval::TermCounts};
use qdrant_client::qdrant::{
    Condition, DenseVector, Expression, Filter, Formula, Fusion, PointId, PrefetchQuery, Query, QueryPoints,
    VectorInput, query, vector_input,
};

/// How many chunks each ranking gives at least, however few are wanted: those that are equal, or good
/// in both rankings, must be among them.
const CANDIDATES: usize = 200;

/// What a matching term of the title counts against one of the text.
const TITLE_WEIGHT: f32 = 2.0;
/// What a matching term of the lead counts.
const LEAD_WEIGHT: f32 = 0.5;

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

/// A search; `None` when nothing can be found by it.
pub(super) fn request(
    collection: &str,
    sparse: Option<&TermCounts>,
    dense: Option<&[f32]>,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Option<QueryPoints> {
    if limit == 0 || documents.is_some_and(<[_]>::is_empty) {
        return None;
    }
    let filter = documents.map(any_of);
    let limit = limit.max(CANDIDATES) as u64;
    let lexical =
        sparse.filter(|terms| !terms.is_empty()).map(|terms| lexical(terms, filter.as_ref(), limit));
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
        with_vectors: Some(false.into()),
        ..QueryPoints::default()
    })
}

/// The chunks that share terms with the query, scored by all three fields together.
fn lexical(terms: &TermCounts, filter: Option<&Filter>, limit: u64) -> PrefetchQuery {
    let sought = terms::distinct(terms);
    let fields = [(name::BODY, 1.0), (name::TITLE, TITLE_WEIGHT), (name::LEAD, LEAD_WEIGHT)];
    let weighed = (0..).zip(fields).map(|(n, (_, weight))| {
        Expression::mult_with([Expression::constant(weight), Expression::score_idx(n)])
    });
    let formula = Formula { expression: Some(Expression::sum_with(weighed)), ..Formula::default() };
    let field = |(name, _): (&str, f32)| PrefetchQuery {
        query: Some(nearest(vector_input::Variant::Sparse(sought.clone()))),
        using: Some(name.to_owned()),
        filter: filter.cloned(),
        limit: Some(limit),
        ..PrefetchQuery::default()
    };
    PrefetchQuery {
        prefetch: fields.into_iter().map(field).collect(),
        query: Some(variant(query::Variant::Formula(formula))),
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
