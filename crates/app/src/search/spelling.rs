//! Corrects words of a query that no document has.

use docent_domain::fault::Result;
use docent_domain::retrieval::{ChunkFilter, QueryEmbedding, QueryTerm, QueryTerms};
use docent_domain::spelling::{Correction, SpelledWord};
use docent_ports::embedder::Embedder;
use docent_ports::vector_index::VectorIndex;

/// Maximum number of words that are corrected in a query: more are not mistakes in typing, but another language.
const MAX_CORRECTIONS: usize = 3;
/// Maximum number of words that are tried for a misspelled one.
const MAX_TRIED: usize = 4;
/// Number of chunks that are read to see whether a word is in the documents as it is spelled.
const READ_CHUNKS: usize = 10;
/// Minimum number of chunks with a word that is meant: a word that occurs once is often a mistake itself.
const MIN_CHUNKS: u64 = 2;
/// The same for a name. What a question names occurs often in documents about it.
const MIN_CHUNKS_OF_NAME: u64 = 3;

/// The embedding of a query with the terms of corrected words, and the corrections.
///
/// A word is corrected if no chunk of the whole index has it, and a chunk that the filter allows has a word that becomes it by one
/// mistake in typing. Of several such words, the most frequent one is meant.
///
/// # Errors
/// When the embedder or the vector store fails.
pub(super) async fn embed(
    embedder: &dyn Embedder,
    index: &dyn VectorIndex,
    query: &str,
    filter: ChunkFilter<'_>,
) -> Result<(QueryEmbedding, Vec<Correction>)> {
    let embedding = embedder.embed_query(query).await?;
    let (Some(speller), Some(terms)) = (embedder.speller(), &embedding.sparse) else {
        return Ok((embedding, Vec::new()));
    };
    let unknown = unknown(index, speller.words(query)).await?;
    let (mut corrections, mut added) = (Vec::new(), Vec::new());
    for unknown in unknown.iter().take(MAX_CORRECTIONS) {
        let is_of = |term: &&QueryTerm| unknown.terms.iter().any(|of| **of == *term.text);
        let is_name = terms.iter().filter(is_of).any(|term| term.is_name);
        let min_chunks = if is_name { MIN_CHUNKS_OF_NAME } else { MIN_CHUNKS };
        let words = speller.meant_by(&unknown.word, query);
        let Some(meant) = meant(index, words, min_chunks, filter).await? else { continue };
        let term = |text: &String| QueryTerm { is_name, ..QueryTerm::word(text.as_str()) };
        added.extend(meant.terms.iter().map(term));
        let is_common = meant.terms.is_empty();
        corrections.push(Correction { written: unknown.word.clone(), meant: meant.word, is_common });
    }
    let terms: QueryTerms = terms.iter().cloned().chain(added).collect();
    Ok((QueryEmbedding { sparse: Some(terms), ..embedding }, corrections))
}

/// The words without a term that a chunk has.
async fn unknown(index: &dyn VectorIndex, words: Vec<SpelledWord>) -> Result<Vec<SpelledWord>> {
    let terms: Vec<String> = words.iter().flat_map(|word| &word.terms).cloned().collect();
    let mut counts = frequencies(index, &terms).await?.into_iter();
    let mut is_unknown = |word: &SpelledWord| counts.by_ref().take(word.terms.len()).fold(0, u64::max) == 0;
    Ok(words.into_iter().filter(|word| is_unknown(word)).collect())
}

/// The word that is meant by a misspelled one, of these.
async fn meant(
    index: &dyn VectorIndex,
    words: Vec<SpelledWord>,
    min_chunks: u64,
    filter: ChunkFilter<'_>,
) -> Result<Option<SpelledWord>> {
    // Nothing is searched for in place of a word like "teh".
    let (common, words): (Vec<SpelledWord>, Vec<SpelledWord>) =
        words.into_iter().partition(|word| word.terms.is_empty());
    if let Some(common) = common.into_iter().next() {
        return Ok(Some(common));
    }
    let terms: Vec<String> = words.iter().flat_map(|word| &word.terms).cloned().collect();
    let mut counts = frequencies(index, &terms).await?.into_iter();
    let mut counted: Vec<(u64, SpelledWord)> = words
        .into_iter()
        .map(|word| (counts.by_ref().take(word.terms.len()).fold(0, u64::max), word))
        .filter(|(count, _)| *count >= min_chunks)
        .collect();
    // Stable: of equally frequent words, the likelier mistake comes first.
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    counted.dedup_by(|(_, other), (_, first)| other.terms == first.terms);
    for (_, word) in counted.into_iter().take(MAX_TRIED) {
        let terms = word.terms.iter().map(|term| QueryTerm::word(term.as_str())).collect();
        let query = QueryEmbedding { sparse: Some(terms), dense: None };
        let chunks = index.search(&query, ChunkFilter { limit: READ_CHUNKS, ..filter }).await?;
        if chunks.iter().any(|chunk| has_word(&chunk.text, &word.word)) {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// Whether a text has a word, or its singular or plural. Its terms are not enough: “drugged” has the term of “drug”.
fn has_word(text: &str, word: &str) -> bool {
    let singular = |ending| word.strip_suffix(ending).unwrap_or(word);
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .any(|other| other.starts_with(word) || other == singular("s") || other == singular("es"))
}

/// Without a call if there are no terms.
async fn frequencies(index: &dyn VectorIndex, terms: &[String]) -> Result<Vec<u64>> {
    if terms.is_empty() { Ok(Vec::new()) } else { index.frequencies(terms).await }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;
    use docent_domain::retrieval::{Embedding, Passages, SparseVector};
    use docent_testkit::fakes::embedder::FakeEmbedder;
    use docent_testkit::fakes::vector_index::FakeVectorIndex;
    use docent_testkit::retrieval::{entry, indexed, query_terms};

    /// An embedder with terms that does not know how they are spelled.
    struct WithoutSpeller(FakeEmbedder);

    #[async_trait]
    impl Embedder for WithoutSpeller {
        async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
            self.0.embed_passages(passages).await
        }

        async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
            self.0.embed_sparse(passages).await
        }

        async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
            self.0.embed_query(query).await
        }

        fn makes_vectors(&self) -> bool {
            self.0.makes_vectors()
        }

        fn model(&self) -> &str {
            self.0.model()
        }
    }

    async fn embedded(embedder: &dyn Embedder, query: &str) -> (QueryTerms, Vec<Correction>) {
        let index = FakeVectorIndex::default();
        let entries = vec![entry(1, 0, "warranty pump"), entry(1, 1, "warranty valve"), entry(1, 2, "crane")];
        index.replace(&indexed(1), entries).await.unwrap();
        let (embedding, corrections) = embed(embedder, &index, query, ChunkFilter::all(5)).await.unwrap();
        (embedding.sparse.unwrap(), corrections)
    }

    #[tokio::test]
    async fn frequent_word_replaces_its_misspelling_beside_the_known_ones() {
        let (terms, corrections) = embedded(&FakeEmbedder::default(), "pump warrnty crne").await;
        assert_eq!(terms, query_terms("pump warrnty crne warranty"), "crane occurs once");
        let written: Vec<&str> = corrections.iter().map(|correction| correction.written.as_str()).collect();
        assert_eq!(written, ["warrnty"]);
    }

    #[test]
    fn word_stands_in_a_text_in_singular_or_plural() {
        assert!(has_word("The Customer's pump", "customers") && has_word("all customers", "customer"));
        assert!(!has_word("The drug and the drugs", "drugged"));
    }

    #[tokio::test]
    async fn query_keeps_its_terms_without_a_speller() {
        let found = embedded(&WithoutSpeller(FakeEmbedder::default()), "pump warrnty").await;
        assert_eq!(found, (query_terms("pump warrnty"), Vec::new()));
    }
}
