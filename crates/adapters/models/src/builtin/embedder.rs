//! The built-in lexical embedder.

use super::spans;
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::passage_text::without_extension;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector, TermCounts};
use docent_domain::spelling::SpelledWord;
use docent_ports::embedder::{Embedder, Speller};
use docent_text::lexical::{self, Analyzer, Lexicon, beginning};
use std::collections::BTreeSet;
use tokio::task::spawn_blocking;
use tracing::Instrument;

/// The names of all versions of the embedder begin with it. The terms of a query are found in indexes of earlier versions too.
pub const NAME_PREFIX: &str = "builtin-lexical-";

/// Number of characters at the start of a document that are indexed as its lead.
const LEAD_CHARS: usize = 3000;
/// Texts up to this size are analysed on the async thread: moving them to another one would cost more.
const INLINE_BYTES: usize = 16 * 1024;
/// Longer queries are cut, because the cost of a query grows with its terms.
const QUERY_CHARS: usize = 8 * 1024;

/// An embedder that returns sparse vectors only.
///
/// The body contains the terms of a header (title and page) and of the chunk. Title, lead and headings contain each of
/// their terms once; the lead begins with the title. A chunk is analysed in the document's language, as detected in its lead, unless the chunk is
/// clearly in another language.
#[derive(Clone, Debug)]
pub struct BuiltinEmbedder {
    lexicon: Lexicon,
}

impl Default for BuiltinEmbedder {
    fn default() -> Self {
        Self::new(Lexicon::builtin())
    }
}

impl BuiltinEmbedder {
    /// Creates an embedder whose queries also search for the terms of a lexicon.
    pub fn new(lexicon: Lexicon) -> Self {
        Self { lexicon }
    }

    fn embed<'a>(
        title: &str,
        lead: &str,
        chunks: impl Iterator<Item = (u32, &'a str)>,
        headings: &[String],
    ) -> Vec<Embedding> {
        let (title, lead) = (without_extension(title), beginning(lead, LEAD_CHARS));
        let analyzer = Analyzer::of(lead);
        let title_terms = TermCounts::count(analyzer.distinct_terms(title));
        let header_terms = analyzer.terms(title);
        let distinct: BTreeSet<String> = header_terms.iter().cloned().chain(analyzer.terms(lead)).collect();
        let lead_terms = TermCounts::count(distinct);
        let embed = |((page, text), headings): ((u32, &str), &String)| {
            let mut body = header_terms.clone();
            body.push(page.to_string());
            body.extend(analyzer.terms(text));
            let sparse = SparseVector {
                body: TermCounts::count(body),
                title: title_terms.clone(),
                lead: lead_terms.clone(),
                headings: TermCounts::count(analyzer.distinct_terms(headings)),
            };
            Embedding { sparse: Some(sparse), ..Embedding::default() }
        };
        chunks.zip(headings).map(embed).collect()
    }

    /// The headings of each chunk. Chunks without an entry have none.
    fn heading_lines(passages: Passages<'_>) -> Vec<String> {
        let of_chunk = |n: usize| passages.headings.get(n).cloned().unwrap_or_default();
        (0..passages.chunks.len()).map(of_chunk).collect()
    }

    fn embed_query_text(&self, query: &str) -> QueryEmbedding {
        let terms = lexical::weighted_query_terms(beginning(query, QUERY_CHARS), &self.lexicon);
        QueryEmbedding { sparse: Some(terms.into_iter().collect()), dense: None }
    }
}

#[async_trait]
impl Embedder for BuiltinEmbedder {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let span = spans::embeddings(self.model());
        let bytes: usize = passages.chunks.iter().map(|(_, text)| text.len()).sum();
        let lead = beginning(passages.lead, LEAD_CHARS);
        let headings = Self::heading_lines(passages);
        if bytes <= INLINE_BYTES {
            let _entered = span.enter();
            return Ok(Self::embed(passages.title, lead, passages.chunks.iter().copied(), &headings));
        }
        let (title, lead) = (passages.title.to_owned(), lead.to_owned());
        let chunks: Vec<(u32, String)> =
            passages.chunks.iter().map(|(page, text)| (*page, (*text).to_owned())).collect();
        spawn_blocking(move || {
            Self::embed(&title, &lead, chunks.iter().map(|(page, text)| (*page, text.as_str())), &headings)
        })
        .instrument(span)
        .await
        .map_err(|error| {
            Fault::new(Component::Embedder, FaultKind::Internal, "cannot analyse passages").caused_by(error)
        })
    }

    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        Ok(self.embed_passages(passages).await?.into_iter().map(|embedding| embedding.sparse).collect())
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        Ok(spans::embeddings(self.model()).in_scope(|| self.embed_query_text(query)))
    }

    fn makes_vectors(&self) -> bool {
        false
    }

    fn model(&self) -> &'static str {
        "builtin-lexical-5"
    }

    fn speller(&self) -> Option<&dyn Speller> {
        Some(self)
    }
}

impl Speller for BuiltinEmbedder {
    fn words(&self, query: &str) -> Vec<SpelledWord> {
        lexical::spelled_words(beginning(query, QUERY_CHARS), &self.lexicon)
    }

    fn meant_by(&self, word: &str, query: &str) -> Vec<SpelledWord> {
        lexical::meant_by(word, query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    docent_testkit::embedder_contract!(async { (Arc::new(BuiltinEmbedder::default()) as _, ()) });

    fn terms(counts: &TermCounts) -> Vec<(&str, u32)> {
        counts.iter().collect()
    }

    #[tokio::test]
    async fn embedding_contains_terms_of_text_title_page_headings_and_lead() {
        let passages = Passages {
            title: "Pump_manual_2018.PDF",
            lead: "Pumps. Pumps and valves.",
            chunks: &[(7, "Close the valve; the valve leaks.")],
            headings: &["Leaks\nValve Leaks".to_owned()],
        };
        let embedding = BuiltinEmbedder::default().embed_passages(passages).await.unwrap().remove(0);
        assert_eq!(embedding.dense, None);
        let sparse = embedding.sparse.unwrap();
        assert_eq!(
            terms(&sparse.body),
            [("2018", 1), ("7", 1), ("close", 1), ("leak", 1), ("manual", 1), ("pump", 1), ("valv", 2)]
        );
        assert_eq!(terms(&sparse.title), [("2018", 1), ("manual", 1), ("pump", 1)]);
        assert_eq!(terms(&sparse.lead), [("2018", 1), ("manual", 1), ("pump", 1), ("valv", 1)]);
        assert_eq!(terms(&sparse.headings), [("leak", 1), ("valv", 1)]);
    }

    #[tokio::test]
    async fn document_and_query_share_terms_of_their_language() {
        let passages = Passages {
            title: "Handbuch.pdf",
            lead: "Dieses Handbuch ist für alle, die mit den Pumpen arbeiten und sie warten.",
            chunks: &[
                (1, "Die Pumpen werden alle sechs Monate gewartet, wenn es nicht anders bestimmt ist."),
                (2, "Pumpen, Ventile"),
            ],
            headings: &[],
        };
        let embeddings = BuiltinEmbedder::default().embed_passages(passages).await.unwrap();
        let question = BuiltinEmbedder::default()
            .embed_query("Wann wird die Pumpe gewartet?")
            .await
            .unwrap()
            .sparse
            .unwrap();
        let query_terms: Vec<&str> = question.iter().map(|term| &*term.text).collect();
        assert_eq!(query_terms, ["gewart", "pump", "pumpegewart", "~gewart", "~pump"]);
        for (embedding, shared) in embeddings.iter().zip([&["gewart", "pump"][..], &["pump"]]) {
            let body = &embedding.sparse.as_ref().unwrap().body;
            let has = |term: &&str| body.iter().any(|(other, _)| other == *term);
            assert_eq!(query_terms.iter().copied().filter(has).collect::<Vec<_>>(), shared);
        }
    }

    #[tokio::test]
    async fn large_documents_are_embedded_like_small_ones() {
        let long = "pump ".repeat(INLINE_BYTES);
        let chunks = [(1, long.as_str()), (2, "valve")];
        let all = Passages { title: "t", lead: "", chunks: &chunks, headings: &[] };
        let small = Passages { chunks: &chunks[1..], ..all };
        let embedder = BuiltinEmbedder::default();
        let large = embedder.embed_passages(all).await.unwrap();
        assert_eq!(large[1..], embedder.embed_passages(small).await.unwrap()[..]);
    }
}
