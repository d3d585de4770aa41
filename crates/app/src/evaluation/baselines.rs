//! Baseline rankings: BM25 and vector cosine.
//!
//! They rank the same passages as the service, by the terms that its embedder extracts from the text alone, without
//! title, page and lead.

use super::Passage;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::{QueryTerms, StoredChunk, TermCounts};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// All passages in memory, with their postings and vectors.
#[derive(Debug, Default)]
pub(super) struct Baselines {
    passages: Vec<Passage>,
    documents: HashMap<DocumentId, Range<usize>>,
    /// For each term: the passages it occurs in, and how often.
    postings: HashMap<Box<str>, Vec<(u32, u32)>>,
    /// The number of terms of each passage.
    lengths: Vec<u64>,
    vectors: Vec<Option<Vec<f32>>>,
}

impl Baselines {
    /// Adds a document's passages with the terms of each.
    pub(super) fn add(&mut self, document: DocumentId, chunks: Vec<StoredChunk>, terms: &[TermCounts]) {
        let first = self.passages.len();
        for (chunk, terms) in chunks.into_iter().zip(terms) {
            let number = self.passages.len() as u32;
            for (term, count) in terms.iter() {
                self.postings.entry(term.into()).or_default().push((number, count));
            }
            self.lengths.push(terms.total());
            self.vectors.push(chunk.dense);
            let pages = chunk.span.start.page..=chunk.span.end.page;
            self.passages.push(Passage { document, pages, text: chunk.text, score: 0.0 });
        }
        self.documents.insert(document, first..self.passages.len());
    }

    /// The number of passages.
    pub(super) fn len(&self) -> usize {
        self.passages.len()
    }

    /// Whether any passage has a vector.
    pub(super) fn has_vectors(&self) -> bool {
        self.vectors.iter().any(Option::is_some)
    }

    /// Ranks by Okapi BM25 over all passages or those of one document. Omits passages that share no term with the
    /// query.
    pub(super) fn by_terms(
        &self,
        query: &QueryTerms,
        document: Option<DocumentId>,
        limit: usize,
    ) -> Vec<Passage> {
        let range = self.range(document);
        let count = self.passages.len() as f64;
        let average = self.lengths.iter().sum::<u64>() as f64 / count.max(1.0);
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        // Plain: all words alike, without the terms that a lexicon adds.
        for term in query.iter().filter(|term| term.is_own) {
            let Some(postings) = self.postings.get(&term.text) else { continue };
            let matching = postings.len() as f64;
            let idf = (1.0 + (count - matching + 0.5) / (matching + 0.5)).ln();
            for (number, frequency) in postings {
                let (number, frequency) = (*number as usize, f64::from(*frequency));
                if range.contains(&number) {
                    let norm = K1 * (1.0 - B + B * self.lengths[number] as f64 / average);
                    let gain = idf * frequency * (K1 + 1.0) / (frequency + norm);
                    *scores.entry(number).or_default() += gain;
                }
            }
        }
        self.top(scores.into_iter().collect(), limit)
    }

    /// Ranks by the cosine of vectors, which have unit length.
    pub(super) fn by_vector(
        &self,
        query: &[f32],
        document: Option<DocumentId>,
        limit: usize,
    ) -> Vec<Passage> {
        let cosine = |number: usize| {
            let vector = self.vectors[number].as_ref()?;
            Some((number, vector.iter().zip(query).map(|(a, b)| f64::from(a * b)).sum()))
        };
        self.top(self.range(document).filter_map(cosine).collect(), limit)
    }

    fn range(&self, document: Option<DocumentId>) -> Range<usize> {
        match document {
            None => 0..self.passages.len(),
            Some(document) => self.documents.get(&document).cloned().unwrap_or_default(),
        }
    }

    /// The passages with the highest scores; ties are broken by insertion order.
    fn top(&self, mut scores: Vec<(usize, f64)>, limit: usize) -> Vec<Passage> {
        scores.sort_by(|(n, a), (m, b)| b.total_cmp(a).then(n.cmp(m)));
        let passage = |(number, score): &(usize, f64)| Passage {
            score: *score as f32,
            ..self.passages[*number].clone()
        };
        scores.iter().take(limit).map(passage).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chunk::{Position, Span};
    use docent_testkit::retrieval::{document_id, query_terms, terms};

    fn baselines(documents: &[&[(&str, &[f32])]]) -> Baselines {
        let mut baselines = Baselines::default();
        for (n, chunks) in (1..).zip(documents) {
            let stored = chunks.iter().zip(0..).map(|((text, vector), ordinal)| {
                let place = Position { page: ordinal + 1, offset: 0 };
                let dense = (!vector.is_empty()).then(|| vector.to_vec());
                let span = Span { start: place, end: place };
                StoredChunk { ordinal, text: (*text).to_owned(), span, pages: Vec::new(), dense }
            });
            let terms: Vec<TermCounts> = chunks.iter().map(|(text, _)| terms(text)).collect();
            baselines.add(document_id(n), stored.collect(), &terms);
        }
        baselines
    }

    #[test]
    fn bm25_scores_match_the_formula() {
        let baselines = baselines(&[&[("a b", &[]), ("a a a a", &[])], &[("c c c", &[])]]);
        let found = baselines.by_terms(&query_terms("a b x"), None, 9);
        let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
        assert_eq!(texts, ["a b", "a a a a"]);
        // Of three passages with three terms on average two have `a`, ln(1 + 1.5/2.5), and one `b`, ln(1 + 2.5/1.5).
        let norm = 1.2 * (0.25 + 0.75 * 2.0 / 3.0);
        let expected = (0.470_003_6 + 0.980_829_3) * 2.2 / (1.0 + norm);
        assert!((f64::from(found[0].score) - expected).abs() < 1e-5, "{found:?}");
        let norm = 1.2 * (0.25 + 0.75 * 4.0 / 3.0);
        let expected = 0.470_003_6 * 4.0 * 2.2 / (4.0 + norm);
        assert!((f64::from(found[1].score) - expected).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn document_filter_limits_the_ranking_and_ties_keep_insertion_order() {
        let baselines = baselines(&[&[("a", &[]), ("a", &[])], &[("a", &[]), ("b", &[])]]);
        let pages = |document, limit| -> Vec<(DocumentId, u32)> {
            let found = baselines.by_terms(&query_terms("a"), document, limit);
            found.iter().map(|passage| (passage.document, *passage.pages.start())).collect()
        };
        let (first, second) = (document_id(1), document_id(2));
        assert_eq!(pages(None, 9), [(first, 1), (first, 2), (second, 1)]);
        assert_eq!(pages(Some(second), 9), [(second, 1)]);
        assert_eq!(pages(None, 1), [(first, 1)]);
        assert_eq!(pages(Some(document_id(3)), 9), []);
        assert_eq!(baselines.len(), 4);
    }

    #[test]
    fn vectors_rank_by_cosine() {
        let baselines = baselines(&[&[("a", &[1.0, 0.0]), ("b", &[0.0, 1.0]), ("c", &[])]]);
        let found = baselines.by_vector(&[0.6, 0.8], None, 9);
        let found: Vec<(&str, f32)> =
            found.iter().map(|passage| (passage.text.as_str(), passage.score)).collect();
        assert_eq!(found, [("b", 0.8), ("a", 0.6)]);
        assert!(baselines.has_vectors() && !Baselines::default().has_vectors());
    }
}
