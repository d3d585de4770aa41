//! Corrects words of a query that no document has.

use docent_domain::fault::Result;
use docent_domain::retrieval::{ChunkFilter, FoundChunk, QueryEmbedding, QueryTerm, QueryTerms};
use docent_domain::spelling::{Correction, SpelledWord};
use docent_ports::embedder::Embedder;
use docent_ports::vector_index::VectorIndex;
use std::slice::from_ref;

/// Maximum number of words that are corrected in a query: more are not mistakes in typing, but another language.
const MAX_CORRECTIONS: usize = 3;
/// Maximum number of words that no chunk has and that are looked for as words of other languages.
const MAX_FOREIGN: usize = 10;
/// Maximum number of words that are tried for a misspelled one.
const MAX_TRIED: usize = 4;
/// Number of chunks that are read to see whether a word is in the documents as it is spelled.
const READ_CHUNKS: usize = 10;
/// Minimum number of chunks with a short word that is meant: others become many words by one mistake.
const MIN_CHUNKS: u64 = 2;
/// Words of at least so many letters become few others by one mistake, so that one chunk with the word suffices.
const LONG_WORD: usize = 7;
/// The same for a name. What a question names occurs often in documents about it.
const MIN_CHUNKS_OF_NAME: u64 = 3;
/// Maximum number of chunks of the index with a word that is searched for in the scope: such a search costs little.
const RARE: u64 = 64;

/// The embedding of a query with the terms of corrected words, and the corrections.
///
/// A word is corrected if no chunk of the scope has it, and a chunk that the filter allows has a word that becomes it by one
/// mistake in typing. Of several such words, the most frequent one is meant. A word that the documents have in another language is searched for as
/// it is in that language, and is no correction.
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
    let unknown = unknown(index, speller.words(query), filter).await?;
    let (mut corrections, mut added) = (Vec::new(), Vec::new());
    for (at, unknown) in unknown.iter().take(MAX_FOREIGN).enumerate() {
        let is_of = |term: &&QueryTerm| unknown.terms.iter().any(|of| **of == *term.text);
        let is_name = terms.iter().filter(is_of).any(|term| term.is_name);
        let is_long = unknown.word.chars().count() >= LONG_WORD;
        let min_chunks = match (is_name, is_long) {
            (true, _) => MIN_CHUNKS_OF_NAME,
            (false, true) => 1,
            (false, false) => MIN_CHUNKS,
        };
        let words = speller.meant_by(&unknown.word, query);
        // The word itself in another language is no mistake.
        let (itself, others) = words.into_iter().partition(|word| word.word == unknown.word);
        let mut found = meant(index, itself, 1, filter).await?;
        if found.is_none() && at < MAX_CORRECTIONS {
            found = meant(index, others, min_chunks, filter).await?;
        }
        let Some(meant) = found else { continue };
        let term = |text: &String| QueryTerm { is_name, ..QueryTerm::word(text.as_str()) };
        added.extend(meant.terms.iter().map(term));
        if meant.word != unknown.word {
            let is_common = meant.terms.is_empty();
            corrections.push(Correction { written: unknown.word.clone(), meant: meant.word, is_common });
        }
    }
    let terms: QueryTerms = terms.iter().cloned().chain(added).collect();
    Ok((QueryEmbedding { sparse: Some(terms), ..embedding }, corrections))
}

/// The words without a term that a chunk of the scope has. Whether a hidden document has a word must not show in what is
/// corrected, so that rare words of the index are searched for in the scope.
async fn unknown(
    index: &dyn VectorIndex,
    words: Vec<SpelledWord>,
    filter: ChunkFilter<'_>,
) -> Result<Vec<SpelledWord>> {
    let terms: Vec<String> = words.iter().flat_map(|word| &word.terms).cloned().collect();
    let mut counts = frequencies(index, &terms).await?.into_iter();
    let is_limited = filter.scope.collections().is_some();
    let (mut unknown, mut rare) = (Vec::new(), Vec::new());
    for word in words {
        match counts.by_ref().take(word.terms.len()).fold(0, u64::max) {
            0 => unknown.push(word),
            1..=RARE if is_limited => rare.push(word),
            _ => {}
        }
    }
    if rare.is_empty() {
        return Ok(unknown);
    }
    let in_scope = ChunkFilter { versions: None, condition: None, ..filter };
    // One search shows most of them.
    let chunks = chunks_with(index, &rare, in_scope).await?;
    rare.retain(|word| !chunks.iter().any(|chunk| has_word(&chunk.text, &word.word)));
    for word in rare {
        if chunks_with(index, from_ref(&word), in_scope).await?.is_empty() {
            unknown.push(word);
        }
    }
    Ok(unknown)
}

/// Some chunks with terms of words.
async fn chunks_with(
    index: &dyn VectorIndex,
    words: &[SpelledWord],
    filter: ChunkFilter<'_>,
) -> Result<Vec<FoundChunk>> {
    let terms =
        words.iter().flat_map(|word| &word.terms).map(|term| QueryTerm::word(term.as_str())).collect();
    let query = QueryEmbedding { sparse: Some(terms), dense: None };
    index.search(&query, ChunkFilter { limit: READ_CHUNKS, ..filter }).await
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
        let chunks = chunks_with(index, from_ref(&word), filter).await?;
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
    use docent_domain::scope::Scope;
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
        assert_eq!(terms, query_terms("pump warrnty crne warranty"), "crane occurs once and is short");
        let written: Vec<&str> = corrections.iter().map(|correction| correction.written.as_str()).collect();
        assert_eq!(written, ["warrnty"]);
    }

    #[tokio::test]
    async fn word_of_a_hidden_document_is_corrected() {
        let index = FakeVectorIndex::default();
        let labelled = |n, collection| docent_testkit::retrieval::labelled(n, &[collection], 2020.0);
        let entries = vec![entry(1, 0, "warranty pump"), entry(1, 1, "warranty valve")];
        index.replace(&labelled(1, 1), entries).await.unwrap();
        let hidden = labelled(2, 2);
        index.replace(&hidden, vec![entry(2, 0, "warrnty memo")]).await.unwrap();
        let corrected = async |scope: &Scope| {
            let filter = ChunkFilter { scope, ..ChunkFilter::all(5) };
            let embedded = embed(&FakeEmbedder::default(), &index, "warrnty", filter).await.unwrap();
            embedded.1.len()
        };
        let scope = |collection| Scope::SERVICE.within(&[docent_testkit::builders::id(collection)]).unwrap();
        assert_eq!(corrected(&scope(1)).await, 1, "as if the other document did not exist");
        assert_eq!(corrected(&scope(2)).await, 0);
        assert_eq!(corrected(Scope::SERVICE).await, 0);
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
