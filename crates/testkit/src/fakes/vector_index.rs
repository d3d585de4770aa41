//! A vector store in memory.

use async_trait::async_trait;
use docent_domain::{
    id::DocumentId,
    retrieval::{
        IndexEntry, IndexedDocument, QueryEmbedding, ScoredChunk, SparseVector, StoredChunk, TermCounts,
    },
};
use docent_ports::{
    error::{Fault, FaultKind, Part, Result},
    vector_index::{IndexPage, VectorIndex},
};
use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::Mutex,
};

/// Scores by the share of the query's terms that a chunk has, with half as much for its length and
/// its title, plus the cosine. It compares with every chunk.
#[derive(Debug, Default)]
pub struct FakeVectorIndex {
    documents: Mutex<BTreeMap<DocumentId, (IndexedDocument, Vec<IndexEntry>)>>,
}

impl FakeVectorIndex {
    /// All chunks of a document as they were stored, in their order.
    pub fn entries(&self, document: DocumentId) -> Vec<IndexEntry> {
        self.documents.lock().unwrap().get(&document).map_or_else(Vec::new, |(_, entries)| entries.clone())
    }
}

fn overlap(query: &TermCounts, field: &TermCounts) -> f32 {
    let shared = query.iter().filter(|(term, _)| field.iter().any(|(other, _)| other == *term)).count();
    shared as f32 / query.iter().len().max(1) as f32
}

fn lexical(query: &TermCounts, chunk: &SparseVector) -> f32 {
    let body = overlap(query, &chunk.body);
    let brevity = 1.0 + 0.5 / (1.0 + chunk.body.total() as f32);
    body * brevity + overlap(query, &chunk.title) / 2.0 + overlap(query, &chunk.lead) / 4.0
}

fn score(query: &QueryEmbedding, entry: &IndexEntry) -> f32 {
    let sparse = query.sparse.as_ref().zip(entry.embedding.sparse.as_ref());
    let dense = query.dense.as_ref().zip(entry.embedding.dense.as_ref());
    let lexical = sparse.map_or(0.0, |(query, chunk)| lexical(query, chunk));
    let cosine: f32 = dense.map_or(0.0, |(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum());
    if lexical > 0.0 { lexical + cosine } else { cosine }
}

#[async_trait]
impl VectorIndex for FakeVectorIndex {
    async fn replace(&self, document: &IndexedDocument, entries: Vec<IndexEntry>) -> Result<()> {
        let mut documents = self.documents.lock().unwrap();
        let stored = documents.values().flat_map(|(_, entries)| entries);
        let mut sizes =
            stored.chain(&entries).filter_map(|entry| entry.embedding.dense.as_ref()).map(Vec::len);
        if let Some(size) = sizes.next()
            && sizes.any(|other| other != size)
        {
            return Err(Fault::new(Part::VectorStore, FaultKind::Rejected, "other dimensions"));
        }
        documents.insert(document.id, (document.clone(), entries));
        Ok(())
    }

    async fn remove(&self, document: DocumentId) -> Result<()> {
        self.documents.lock().unwrap().remove(&document);
        Ok(())
    }

    async fn search(
        &self,
        query: &QueryEmbedding,
        wanted: Option<&[DocumentId]>,
        limit: usize,
    ) -> Result<Vec<ScoredChunk>> {
        let documents = self.documents.lock().unwrap();
        let mut found = Vec::new();
        for (document, entries) in documents.values() {
            for entry in entries {
                if let (Some(query), Some(stored)) = (&query.dense, &entry.embedding.dense)
                    && query.len() != stored.len()
                {
                    return Err(Fault::new(Part::VectorStore, FaultKind::Rejected, "other dimensions"));
                }
                let score = score(query, entry);
                if score > 0.0 && wanted.is_none_or(|wanted| wanted.contains(&document.id)) {
                    found.push((entry.ordinal, scored(document, entry, score)));
                }
            }
        }
        found.sort_by(|(n, a), (m, b)| {
            b.score.total_cmp(&a.score).then_with(|| (a.document_id, n).cmp(&(b.document_id, m)))
        });
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, chunk)| chunk).collect())
    }

    async fn count(&self, document: DocumentId) -> Result<u64> {
        Ok(self.entries(document).len() as u64)
    }

    async fn counts(&self, documents: &[DocumentId]) -> Result<HashMap<DocumentId, u64>> {
        let counts = documents.iter().map(|id| (*id, self.entries(*id).len() as u64));
        Ok(counts.filter(|(_, count)| *count > 0).collect())
    }

    async fn documents(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        let after = after.map(|after| after.parse::<DocumentId>().expect("it gave this itself"));
        let all = self.documents.lock().unwrap();
        let rest = all.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded));
        let filled = rest.filter(|(_, (_, entries))| !entries.is_empty());
        let documents: Vec<DocumentId> = filled.take(limit).map(|(id, _)| *id).collect();
        let next = documents.last().filter(|_| documents.len() == limit).map(DocumentId::to_string);
        Ok(IndexPage { documents, next })
    }

    async fn chunks(&self, document: DocumentId) -> Result<Vec<StoredChunk>> {
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

    async fn dimensions(&self) -> Result<Option<usize>> {
        let documents = self.documents.lock().unwrap();
        let mut entries = documents.values().flat_map(|(_, entries)| entries);
        Ok(entries.find_map(|entry| entry.embedding.dense.as_ref().map(Vec::len)))
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

fn scored(document: &IndexedDocument, entry: &IndexEntry, score: f32) -> ScoredChunk {
    ScoredChunk {
        id: entry.id,
        document_id: document.id,
        title: document.title.as_str().to_owned(),
        text: entry.text.clone(),
        span: entry.span,
        pages: entry.pages.clone(),
        score,
    }
}
