//! Terms as places and weights of a sparse vector.
//!
//! A term's place is the first four bytes of its SHA-256, so that it is the same on every machine and
//! in every version. Two terms of a vocabulary of a million share a place for some 230 pairs; those
//! count as one term, which changes a ranking now and then and breaks nothing.

use docent_domain::retrieval::TermCounts;
use qdrant_client::qdrant::SparseVector;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// How soon repetitions of a term stop counting (BM25's k1).
const K1: f32 = 1.2;

fn place(term: &str) -> u32 {
    let [a, b, c, d, ..]: [u8; 32] = Sha256::digest(term).into();
    u32::from_be_bytes([a, b, c, d])
}

/// A term frequency as BM25 has it. Lengths play no part, since chunks are about equally long; so a
/// frequency can be had back from its weight: `n = K1 * weight / (K1 + 1 - weight)`.
fn saturated(n: u32) -> f32 {
    let n = n as f32;
    n * (K1 + 1.0) / (n + K1)
}

/// The vector of a text: each term with its saturated frequency.
pub(super) fn body(terms: &TermCounts) -> SparseVector {
    vector(terms, saturated)
}

/// The vector of a set of terms: each 1.
pub(super) fn distinct(terms: &TermCounts) -> SparseVector {
    vector(terms, |_| 1.0)
}

fn vector(terms: &TermCounts, weight: impl Fn(u32) -> f32) -> SparseVector {
    let mut counts = BTreeMap::<u32, u32>::new();
    for (term, n) in terms.iter() {
        let count = counts.entry(place(term)).or_default();
        *count = count.saturating_add(n);
    }
    let (indices, values) = counts.into_iter().map(|(place, n)| (place, weight(n))).unzip();
    SparseVector { values, indices }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_never_change() {
        // SHA-256 of "abc" begins with ba7816bf.
        assert_eq!(place("abc"), 0xba78_16bf);
    }

    #[test]
    fn each_place_occurs_once_and_in_order() {
        let terms = TermCounts::count(["pump", "valve", "pump", "pump"].map(String::from));
        let body = body(&terms);
        assert!(body.indices.is_sorted() && body.indices.len() == 2);
        let pump = body.indices.iter().position(|place| *place == super::place("pump")).unwrap();
        assert_eq!(body.values[pump], saturated(3));
        assert_eq!(distinct(&terms).values, [1.0, 1.0]);
        assert_eq!(body.indices, distinct(&terms).indices);
    }

    #[test]
    fn a_frequency_can_be_had_back_from_its_weight() {
        for n in [1, 2, 3, 50, 1000] {
            let weight = saturated(n);
            assert_eq!((K1 * weight / (K1 + 1.0 - weight)).round() as u32, n);
        }
    }
}
