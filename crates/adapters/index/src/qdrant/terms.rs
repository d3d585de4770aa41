//! Terms as places (indices) and weights of a sparse vector.
//!
//! A chunk's vector contains the terms of its text and headings, and of its document's title and lead. A term's place
//! is the first four bytes of the SHA-256 of the field's prefix and the term: the same on every machine and in every
//! version, and different in each field. In a vocabulary of a million terms about 230 pairs share a place. Such a pair
//! counts as one term, which rarely affects a ranking.
//!
//! The weights of a query's vector are those of its terms. The server's dot product is then the lexical score without
//! the normalisation by length, which is good enough to select candidates.

use docent_domain::ranking::{CorpusStatistics, Frequencies, Occurrence, TermWeights};
use docent_domain::retrieval::{self, IndexEntry, QueryTerm, SparseVector as Fields, TermCounts};
use docent_ports::term_statistics::{Contribution, TermStatistics};
use qdrant_client::qdrant::SparseVector;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Saturation of term frequencies, as in [`docent_domain::ranking`].
const K1: f32 = 1.2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Body,
    Title,
    Lead,
    Heading,
}

const FIELDS: [Field; 4] = [Field::Body, Field::Title, Field::Lead, Field::Heading];

fn place(field: Field, term: &str) -> u32 {
    let prefix = match field {
        Field::Body => b"b",
        Field::Title => b"t",
        Field::Lead => b"l",
        Field::Heading => b"h",
    };
    let [a, b, c, d, ..]: [u8; 32] = Sha256::new().chain_update(prefix).chain_update(term).finalize().into();
    u32::from_be_bytes([a, b, c, d])
}

/// The place of a term of the text.
pub(super) fn body_place(term: &str) -> u32 {
    place(Field::Body, term)
}

/// The stored weight of a term frequency. It does not depend on the length, so that [`frequency`] can invert it.
fn saturated(n: u32) -> f32 {
    let n = n as f32;
    n * (K1 + 1.0) / (n + K1)
}

/// The term frequency of a stored weight.
fn frequency(weight: f32) -> u32 {
    (K1 * weight / (K1 + 1.0 - weight)).round() as u32
}

/// How often each place occurs in a chunk's text.
fn body(terms: &TermCounts) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::<u32, u32>::new();
    for (term, n) in terms.iter() {
        let count = counts.entry(place(Field::Body, term)).or_default();
        *count = count.saturating_add(n);
    }
    counts
}

fn of_document(fields: &Fields) -> impl Iterator<Item = u32> {
    places(Field::Title, &fields.title).chain(places(Field::Lead, &fields.lead))
}

fn places(field: Field, terms: &TermCounts) -> impl Iterator<Item = u32> {
    terms.iter().map(move |(term, _)| place(field, term))
}

/// The vector of a chunk.
pub(super) fn vector(fields: &Fields) -> SparseVector {
    let mut weights: BTreeMap<u32, f32> =
        body(&fields.body).into_iter().map(|(place, n)| (place, saturated(n))).collect();
    let once = of_document(fields).chain(places(Field::Heading, &fields.headings));
    weights.extend(once.map(|place| (place, 1.0)));
    let (indices, values) = weights.into_iter().unzip();
    SparseVector { values, indices }
}

/// A document's contribution to the collection's statistics.
pub(super) fn contribution(entries: &[IndexEntry]) -> Contribution {
    let mut added = Contribution { chunks: entries.len() as u32, ..Contribution::default() };
    for fields in entries.iter().filter_map(|entry| entry.embedding.sparse.as_ref()) {
        added.length += fields.body.total();
        for place in body(&fields.body).into_keys().chain(places(Field::Heading, &fields.headings)) {
            *added.places.entry(place).or_default() += 1;
        }
    }
    // Every chunk has the document's terms.
    if let Some(fields) = entries.first().and_then(|entry| entry.embedding.sparse.as_ref()) {
        added.places.extend(of_document(fields).map(|place| (place, 1)));
    }
    added
}

/// The terms of a query.
pub(super) struct QueryTerms {
    /// The terms with their places in [`FIELDS`].
    terms: Vec<(QueryTerm, [u32; 4])>,
    /// The term and the field of each place. A search looks up each place of 200 chunks.
    fields: FxHashMap<u32, (usize, Field)>,
}

impl QueryTerms {
    pub(super) fn new(terms: &retrieval::QueryTerms) -> Self {
        let places = |term: &QueryTerm| FIELDS.map(|field| place(field, &term.text));
        let terms: Vec<_> = terms.iter().map(|term| (term.clone(), places(term))).collect();
        let each = |(n, (_, places)): (usize, &(QueryTerm, [u32; 4]))| {
            let fields = places.iter().zip(FIELDS);
            fields.map(|(place, field)| (*place, (n, field))).collect::<Vec<_>>()
        };
        let fields = terms.iter().enumerate().flat_map(each).collect();
        Self { terms, fields }
    }

    /// All places, for reading their statistics.
    pub(super) fn places(&self) -> Vec<u32> {
        self.terms.iter().flat_map(|(_, places)| places).copied().collect()
    }

    /// Adds the weights of the terms.
    pub(super) fn weighted(self, statistics: &TermStatistics) -> WeightedTerms {
        let frequency = |place: &u32| statistics.frequencies.get(place).copied().unwrap_or(0);
        let weights = |(term, places): &(QueryTerm, [u32; 4])| {
            let [body, title, lead, heading] = places.map(|place| frequency(&place));
            TermWeights::of(term, Frequencies { body, title, lead, heading }, &statistics.totals)
        };
        let worths = self.terms.iter().map(weights).collect();
        WeightedTerms { query: self, worths, totals: statistics.totals }
    }
}

/// The terms of a query with their weights in the collection.
pub(super) struct WeightedTerms {
    query: QueryTerms,
    worths: Vec<TermWeights>,
    pub(super) totals: CorpusStatistics,
}

impl WeightedTerms {
    /// The vector that selects candidates.
    pub(super) fn vector(&self) -> SparseVector {
        let mut weights = BTreeMap::new();
        for ((_, places), worth) in self.query.terms.iter().zip(&self.worths) {
            weights.extend(places.iter().copied().zip([worth.body, worth.title, worth.lead, worth.heading]));
        }
        let (indices, values) = weights.into_iter().unzip();
        SparseVector { values, indices }
    }

    /// The weights of each term, and its occurrences in a chunk with this vector.
    pub(super) fn occurrences(&self, vector: &SparseVector) -> Vec<(TermWeights, Occurrence)> {
        let mut found: Vec<_> = self.worths.iter().map(|worth| (*worth, Occurrence::default())).collect();
        for (place, weight) in vector.indices.iter().zip(&vector.values) {
            if let Some((n, field)) = self.query.fields.get(place)
                && let Some((_, occurrence)) = found.get_mut(*n)
            {
                match field {
                    Field::Body => occurrence.body = frequency(*weight),
                    Field::Title => occurrence.title = true,
                    Field::Lead => occurrence.lead = true,
                    Field::Heading => occurrence.heading = true,
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::{entry, query_terms, terms};

    fn fields() -> Fields {
        Fields {
            body: terms("pump valve pump pump"),
            title: terms("valve manual"),
            lead: terms("pump"),
            headings: terms("valve"),
        }
    }

    #[test]
    fn places_are_stable_and_differ_between_fields() {
        // SHA-256 of "babc" begins with d8f4c9b1.
        assert_eq!(place(Field::Body, "abc"), 0xd8f4_c9b1);
        assert_ne!(place(Field::Title, "abc"), place(Field::Lead, "abc"));
    }

    #[test]
    fn vector_has_sorted_distinct_places() {
        let vector = vector(&fields());
        assert!(vector.indices.is_sorted() && vector.indices.len() == 6);
        let weight = |field, term| {
            let at = vector.indices.iter().position(|known| *known == place(field, term)).unwrap();
            vector.values[at]
        };
        assert_eq!(weight(Field::Body, "pump"), saturated(3));
        assert_eq!(weight(Field::Title, "manual"), 1.0);
        assert_eq!(weight(Field::Lead, "pump"), 1.0);
    }

    #[test]
    fn frequency_inverts_weight() {
        for n in [1, 2, 3, 50, 1000] {
            assert_eq!(frequency(saturated(n)), n);
        }
    }

    #[test]
    fn query_finds_its_terms_by_field() {
        let totals = CorpusStatistics { documents: 3, chunks: 9, length: 900 };
        let statistics = TermStatistics { totals, ..TermStatistics::default() };
        let query = QueryTerms::new(&query_terms("lathe pump valve")).weighted(&statistics);
        let found: Vec<_> =
            query.occurrences(&vector(&fields())).into_iter().map(|(_, found)| found).collect();
        let nowhere = Occurrence::default();
        let pump = Occurrence { body: 3, lead: true, ..nowhere };
        let valve = Occurrence { body: 1, title: true, heading: true, ..nowhere };
        assert_eq!(found, [nowhere, pump, valve]);
        assert_eq!(query.vector().indices.len(), 12);
    }

    #[test]
    fn contribution_counts_document_terms_once() {
        let mut entries = [entry(1, 0, ""), entry(1, 1, "")];
        entries[0].embedding.sparse = Some(fields());
        entries[1].embedding.sparse = Some(Fields { body: terms("pump lathe"), ..fields() });
        let added = contribution(&entries);
        assert_eq!((added.chunks, added.length), (2, 6));
        let of = |field, term| added.places.get(&place(field, term)).copied();
        assert_eq!(
            [of(Field::Body, "pump"), of(Field::Body, "valve"), of(Field::Body, "lathe")],
            [Some(2), Some(1), Some(1)]
        );
        assert_eq!(of(Field::Heading, "valve"), Some(2));
        assert_eq!(
            [of(Field::Title, "valve"), of(Field::Lead, "pump"), of(Field::Title, "pump")],
            [Some(1), Some(1), None]
        );
    }
}
