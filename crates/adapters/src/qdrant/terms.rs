//! Terms as places and weights of a sparse vector.
//!
//! One vector holds the terms of a chunk's text and headings, of its document's title and of its lead. A term's place is the
//! first four bytes of the SHA-256 of the field's mark and the term, so that it is the same on every machine and in
//! every version, and another one in each field. Two terms of a vocabulary of a million share a place for some 230
//! pairs; those count as one term, which changes a ranking now and then and breaks nothing.
//!
//! A query's weights are what its terms are worth. The server's product of the two vectors is then the lexical
//! score but for the chunk's length, which is good enough to choose candidates by.

use docent_domain::{
    ranking::{CorpusStatistics, Frequencies, Occurrence, TermWeights},
    retrieval::{IndexEntry, SparseVector as Fields, TermCounts},
};
use docent_ports::term_statistics::{Contribution, TermStatistics};
use qdrant_client::qdrant::SparseVector;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};

/// How soon repetitions of a term stop counting, as [`docent_domain::ranking`] has it.
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
    let mark = match field {
        Field::Body => b"b",
        Field::Title => b"t",
        Field::Lead => b"l",
        Field::Heading => b"h",
    };
    let [a, b, c, d, ..]: [u8; 32] = Sha256::new().chain_update(mark).chain_update(term).finalize().into();
    u32::from_be_bytes([a, b, c, d])
}

/// A term frequency as it is kept: lengths play no part yet, so that it can be had back.
fn saturated(n: u32) -> f32 {
    let n = n as f32;
    n * (K1 + 1.0) / (n + K1)
}

/// The frequency behind a weight.
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

/// What the chunks of a document add to the collection's statistics.
pub(super) fn contribution(entries: &[IndexEntry]) -> Contribution {
    let mut added = Contribution { chunks: entries.len() as u32, ..Contribution::default() };
    for fields in entries.iter().filter_map(|entry| entry.embedding.sparse.as_ref()) {
        added.length += fields.body.total();
        for place in body(&fields.body).into_keys().chain(places(Field::Heading, &fields.headings)) {
            *added.places.entry(place).or_default() += 1;
        }
    }
    // All chunks have the document's own terms.
    if let Some(fields) = entries.first().and_then(|entry| entry.embedding.sparse.as_ref()) {
        added.places.extend(of_document(fields).map(|place| (place, 1)));
    }
    added
}

/// The terms of a query.
pub(super) struct Sought {
    /// The places of each term in [`FIELDS`].
    terms: Vec<[u32; 4]>,
    /// Which term a place belongs to, and which field.
    fields: HashMap<u32, (usize, Field)>,
}

impl Sought {
    pub(super) fn of(terms: &TermCounts) -> Self {
        let terms: Vec<_> = terms.iter().map(|(term, _)| FIELDS.map(|field| place(field, term))).collect();
        let each = |(n, places): (usize, &[u32; 4])| {
            let fields = places.iter().zip(FIELDS);
            fields.map(|(place, field)| (*place, (n, field))).collect::<Vec<_>>()
        };
        let fields = terms.iter().enumerate().flat_map(each).collect();
        Self { terms, fields }
    }

    /// All places, to ask for their statistics.
    pub(super) fn places(&self) -> Vec<u32> {
        self.terms.iter().flatten().copied().collect()
    }

    /// The same with what each term is worth.
    pub(super) fn weighed(self, statistics: &TermStatistics) -> Weighed {
        let frequency = |place: &u32| statistics.frequencies.get(place).copied().unwrap_or(0);
        let worth = |places: &[u32; 4]| {
            let [body, title, lead, heading] = places.map(|place| frequency(&place));
            TermWeights::of(Frequencies { body, title, lead, heading }, &statistics.totals)
        };
        let worths = self.terms.iter().map(worth).collect();
        Weighed { sought: self, worths, totals: statistics.totals }
    }
}

/// The terms of a query with what each is worth in the collection.
pub(super) struct Weighed {
    sought: Sought,
    worths: Vec<TermWeights>,
    pub(super) totals: CorpusStatistics,
}

impl Weighed {
    /// What candidates are chosen by.
    pub(super) fn vector(&self) -> SparseVector {
        let mut weights = BTreeMap::new();
        for (places, worth) in self.sought.terms.iter().zip(&self.worths) {
            weights.extend(places.iter().copied().zip([worth.body, worth.title, worth.lead, worth.heading]));
        }
        let (indices, values) = weights.into_iter().unzip();
        SparseVector { values, indices }
    }

    /// What each term is worth, and where it occurs in a chunk with this vector.
    pub(super) fn occurrences(&self, vector: &SparseVector) -> Vec<(TermWeights, Occurrence)> {
        let mut found: Vec<_> = self.worths.iter().map(|worth| (*worth, Occurrence::default())).collect();
        for (place, weight) in vector.indices.iter().zip(&vector.values) {
            if let Some((n, field)) = self.sought.fields.get(place)
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
    use docent_testkit::retrieval::{entry, terms};

    fn fields() -> Fields {
        Fields {
            body: terms("pump valve pump pump"),
            title: terms("valve manual"),
            lead: terms("pump"),
            headings: terms("valve"),
        }
    }

    #[test]
    fn places_never_change_and_differ_between_fields() {
        // SHA-256 of "babc" begins with d8f4c9b1.
        assert_eq!(place(Field::Body, "abc"), 0xd8f4_c9b1);
        assert_ne!(place(Field::Title, "abc"), place(Field::Lead, "abc"));
    }

    #[test]
    fn each_place_occurs_once_and_in_order() {
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
    fn a_frequency_can_be_had_back_from_its_weight() {
        for n in [1, 2, 3, 50, 1000] {
            assert_eq!(frequency(saturated(n)), n);
        }
    }

    #[test]
    fn a_query_finds_its_terms_where_they_are() {
        let totals = CorpusStatistics { documents: 3, chunks: 9, length: 900 };
        let statistics = TermStatistics { totals, ..TermStatistics::default() };
        let query = Sought::of(&terms("lathe pump valve")).weighed(&statistics);
        let found: Vec<_> =
            query.occurrences(&vector(&fields())).into_iter().map(|(_, found)| found).collect();
        let nowhere = Occurrence::default();
        let pump = Occurrence { body: 3, lead: true, ..nowhere };
        let valve = Occurrence { body: 1, title: true, heading: true, ..nowhere };
        assert_eq!(found, [nowhere, pump, valve]);
        assert_eq!(query.vector().indices.len(), 12);
    }

    #[test]
    fn a_document_adds_its_chunks_and_itself_once() {
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
