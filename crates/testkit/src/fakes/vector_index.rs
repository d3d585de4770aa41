//! In-memory vector index.

use async_trait::async_trait;
use docent_domain::explanation::FieldScores;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::ranking::{
    CorpusStatistics, Frequencies, Fusion, Occurrence, TermWeights, length_norm, lexical, rounded_length,
};
use docent_domain::retrieval::{
    ChunkFilter, Embedding, FoundChunk, IndexEntry, IndexedVersion, QueryEmbedding, QueryTerm, QueryTerms,
    SparseVector, StoredChunk, TermCounts,
};
use docent_ports::vector_index::{IndexPage, VectorIndex};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, Range};
use std::sync::Mutex;

/// Scores every chunk and recounts all terms for each search.
#[derive(Debug, Default)]
pub struct FakeVectorIndex {
    documents: Mutex<BTreeMap<VersionId, (IndexedVersion, Vec<IndexEntry>)>>,
}

impl FakeVectorIndex {
    /// Returns the stored chunks of a document in order.
    pub fn entries(&self, document: VersionId) -> Vec<IndexEntry> {
        self.documents.lock().unwrap().get(&document).map_or_else(Vec::new, |(_, entries)| entries.clone())
    }
}

/// Returns the corpus statistics and the weights of the query's terms.
fn weighed<'q>(
    query: &'q QueryTerms,
    chunks: &[(VersionId, &SparseVector)],
) -> (CorpusStatistics, Vec<(&'q str, TermWeights)>) {
    // All chunks of a document have its title and lead.
    let documents: BTreeMap<VersionId, &SparseVector> = chunks.iter().map(|(id, of)| (*id, *of)).collect();
    let totals = CorpusStatistics {
        documents: documents.len() as u64,
        chunks: chunks.len() as u64,
        length: chunks.iter().map(|(_, of)| of.body.total()).sum(),
    };
    let worth = |term: &'q QueryTerm| {
        let has = |terms: &TermCounts| frequency(terms, &term.text) > 0;
        let frequencies = Frequencies {
            body: chunks.iter().filter(|(_, of)| has(&of.body)).count() as u64,
            title: documents.values().filter(|of| has(&of.title)).count() as u64,
            lead: documents.values().filter(|of| has(&of.lead)).count() as u64,
            heading: chunks.iter().filter(|(_, of)| has(&of.headings)).count() as u64,
        };
        (&*term.text, TermWeights::of(term, frequencies, &totals))
    };
    (totals, query.iter().map(worth).collect())
}

fn frequency(terms: &TermCounts, sought: &str) -> u32 {
    terms.iter().find(|(term, _)| *term == sought).map_or(0, |(_, n)| n)
}

fn lexical_of(terms: &[(&str, TermWeights)], totals: &CorpusStatistics, chunk: &SparseVector) -> f32 {
    let (found, norm) = occurrences(terms, totals, chunk);
    lexical(&found, norm)
}

/// Returns the weights and occurrences of the query's terms in a chunk, and the norm of its length.
fn occurrences(
    terms: &[(&str, TermWeights)],
    totals: &CorpusStatistics,
    chunk: &SparseVector,
) -> (Vec<(TermWeights, Occurrence)>, f32) {
    let found = terms.iter().map(|(term, worth)| {
        let has = |terms: &TermCounts| frequency(terms, term) > 0;
        let occurrence = Occurrence {
            body: frequency(&chunk.body, term),
            title: has(&chunk.title),
            lead: has(&chunk.lead),
            heading: has(&chunk.headings),
        };
        (*worth, occurrence)
    });
    let length = rounded_length(u32::try_from(chunk.body.total()).unwrap());
    (found.collect(), length_norm(length, totals.average_length()))
}

#[async_trait]
impl VectorIndex for FakeVectorIndex {
    async fn replace(&self, document: &IndexedVersion, entries: Vec<IndexEntry>) -> Result<()> {
        let mut documents = self.documents.lock().unwrap();
        let stored = documents.values().flat_map(|(_, entries)| entries);
        let mut sizes =
            stored.chain(&entries).filter_map(|entry| entry.embedding.dense.as_ref()).map(Vec::len);
        if let Some(size) = sizes.next()
            && sizes.any(|other| other != size)
        {
            return Err(Fault::new(Component::VectorStore, FaultKind::Rejected, "other dimensions"));
        }
        documents.insert(document.id, (document.clone(), entries));
        Ok(())
    }

    async fn relabel(&self, document: &IndexedVersion) -> Result<()> {
        if let Some((known, _)) = self.documents.lock().unwrap().get_mut(&document.id) {
            known.clone_from(document);
        }
        Ok(())
    }

    async fn remove(&self, document: VersionId) -> Result<()> {
        self.documents.lock().unwrap().remove(&document);
        Ok(())
    }

    async fn search(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>> {
        let ChunkFilter { scope, condition, versions: wanted, limit } = filter;
        let documents = self.documents.lock().unwrap();
        let stored =
            || documents.values().flat_map(|(of, entries)| entries.iter().map(move |entry| (of, entry)));
        let sizes = |entry: &IndexEntry| entry.embedding.dense.as_ref().map(Vec::len);
        if let Some(query) = &query.dense
            && stored().filter_map(|(_, entry)| sizes(entry)).any(|size| size != query.len())
        {
            return Err(Fault::new(Component::VectorStore, FaultKind::Rejected, "other dimensions"));
        }
        let sparse: Vec<_> =
            stored().filter_map(|(of, entry)| Some((of.id, entry.embedding.sparse.as_ref()?))).collect();
        let terms = query.sparse.clone().unwrap_or_default();
        let (totals, terms) = weighed(&terms, &sparse);
        let mut found: Vec<_> = stored()
            .filter(|(of, _)| wanted.is_none_or(|wanted| wanted.contains(&of.id)))
            .filter(|(of, _)| scope.contains(&of.labels.collections))
            .filter(|(of, _)| condition.is_none_or(|condition| condition.is_met_by(&of.labels)))
            .map(|(of, entry)| {
                let sparse = entry.embedding.sparse.as_ref();
                let lexical = sparse.map_or(0.0, |chunk| lexical_of(&terms, &totals, chunk));
                (entry.ordinal, scored(of, entry, lexical))
            })
            .collect();
        match &query.dense {
            Some(vector) => {
                let highest = found.iter().map(|(_, chunk)| chunk.score).fold(0.0, f32::max);
                let cosine = |chunk: &FoundChunk| {
                    let entry = stored().find(|(_, entry)| entry.id == chunk.id);
                    let dense = entry.and_then(|(_, entry)| entry.embedding.dense.as_ref());
                    dense.map_or(0.0, |dense| dense.iter().zip(vector).map(|(a, b)| a * b).sum())
                };
                let fusion = Fusion::new(highest, found.iter().map(|(_, chunk)| cosine(chunk)));
                found.retain_mut(|(_, chunk)| {
                    let (lexical, cosine) = (chunk.score, cosine(chunk));
                    chunk.score = fusion.score(lexical, cosine);
                    lexical > 0.0 || cosine > 0.0
                });
            }
            None => found.retain(|(_, chunk)| chunk.score > 0.0),
        }
        found.sort_by(|(n, a), (m, b)| {
            b.score.total_cmp(&a.score).then_with(|| (a.version, n).cmp(&(b.version, m)))
        });
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, chunk)| chunk).collect())
    }

    async fn explain(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<HashMap<ChunkId, FieldScores>> {
        let found = self.search(query, filter).await?;
        let documents = self.documents.lock().unwrap();
        let entries =
            || documents.iter().flat_map(|(id, (_, entries))| entries.iter().map(|entry| (*id, entry)));
        let sparse: Vec<_> =
            entries().filter_map(|(id, entry)| Some((id, entry.embedding.sparse.as_ref()?))).collect();
        let terms = query.sparse.clone().unwrap_or_default();
        let (totals, terms) = weighed(&terms, &sparse);
        let explained = |chunk: FoundChunk| {
            let (_, entry) = entries().find(|(_, entry)| entry.id == chunk.id)?;
            let Embedding { sparse, dense, .. } = &entry.embedding;
            let scores = sparse.as_ref().map(|sparse| {
                let (found, norm) = occurrences(&terms, &totals, sparse);
                FieldScores::lexical(&found, norm)
            });
            let cosine = query.dense.as_ref().zip(dense.as_ref());
            let cosine = cosine.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum());
            Some((chunk.id, FieldScores { dense: cosine, ..scores.unwrap_or_default() }))
        };
        Ok(found.into_iter().filter_map(explained).collect())
    }

    async fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        let documents = self.documents.lock().unwrap();
        let bodies: Vec<_> = documents
            .values()
            .flat_map(|(_, entries)| entries)
            .filter_map(|entry| Some(&entry.embedding.sparse.as_ref()?.body))
            .collect();
        let with = |term: &String| {
            bodies.iter().filter(|body| body.iter().any(|(other, _)| other == term)).count() as u64
        };
        Ok(terms.iter().map(with).collect())
    }

    async fn count(&self, document: VersionId) -> Result<u64> {
        Ok(self.entries(document).len() as u64)
    }

    async fn counts(&self, documents: &[VersionId]) -> Result<HashMap<VersionId, u64>> {
        let counts = documents.iter().map(|id| (*id, self.entries(*id).len() as u64));
        Ok(counts.filter(|(_, count)| *count > 0).collect())
    }

    async fn versions(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        let after = after.map(|after| after.parse::<VersionId>().expect("it gave this itself"));
        let all = self.documents.lock().unwrap();
        let rest = all.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded));
        let filled = rest.filter(|(_, (_, entries))| !entries.is_empty());
        let versions: Vec<VersionId> = filled.take(limit).map(|(id, _)| *id).collect();
        let next = versions.last().filter(|_| versions.len() == limit).map(VersionId::to_string);
        Ok(IndexPage { versions, next })
    }

    async fn chunks(&self, document: VersionId) -> Result<Vec<StoredChunk>> {
        let chunk = |entry: IndexEntry| StoredChunk {
            ordinal: entry.ordinal,
            text: entry.text,
            span: entry.span,
            pages: entry.pages,
            dense: entry.embedding.dense,
        };
        let mut chunks: Vec<_> = self.entries(document).into_iter().map(chunk).collect();
        chunks.sort_by_key(|chunk| chunk.ordinal);
        Ok(chunks)
    }

    async fn chunk_range(&self, document: VersionId, ordinals: Range<u32>) -> Result<Vec<StoredChunk>> {
        let chunks = self.chunks(document).await?;
        Ok(chunks.into_iter().filter(|chunk| ordinals.contains(&chunk.ordinal)).collect())
    }

    async fn dimensions(&self) -> Result<Option<usize>> {
        let documents = self.documents.lock().unwrap();
        let mut entries = documents.values().flat_map(|(_, entries)| entries);
        Ok(entries.find_map(|entry| entry.embedding.dense.as_ref().map(Vec::len)))
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

fn scored(document: &IndexedVersion, entry: &IndexEntry, score: f32) -> FoundChunk {
    FoundChunk {
        id: entry.id,
        version: document.id,
        title: document.labels.title.clone(),
        text: entry.text.clone(),
        span: entry.span,
        pages: entry.pages.clone(),
        headings: entry.headings.clone(),
        score,
    }
}
