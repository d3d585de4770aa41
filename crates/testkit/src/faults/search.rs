//! Vector store, embedder, reranker, text recognizer and chat model with scripted faults.

use super::Faulty;
use async_trait::async_trait;
use docent_domain::explanation::FieldScores;
use docent_domain::fault::Result;
use docent_domain::id::{ChunkId, GenerationId, VersionId};
use docent_domain::recognition::{Languages, RecognizedPage};
use docent_domain::retrieval::{
    ChunkFilter, Embedding, FoundChunk, IndexEntry, IndexedVersion, Passages, QueryEmbedding, SparseVector,
    StoredChunk,
};
use docent_ports::chat_model::{ChatModel, ChatRequest, ChatStream, OptionalPart};
use docent_ports::embedder::{Embedder, Speller};
use docent_ports::reranker::Reranker;
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use docent_ports::vector_index::{IndexPage, VectorIndex};
use docent_ports::vector_indexes::VectorIndexes;
use futures::StreamExt;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

#[async_trait]
impl VectorIndex for Faulty<dyn VectorIndex> {
    async fn replace(&self, document: &IndexedVersion, entries: Vec<IndexEntry>) -> Result<()> {
        self.switch.write(self.inner.replace(document, entries)).await
    }

    async fn relabel(&self, document: &IndexedVersion) -> Result<()> {
        self.switch.write(self.inner.relabel(document)).await
    }

    async fn remove(&self, document: VersionId) -> Result<()> {
        self.switch.write(self.inner.remove(document)).await
    }

    async fn search(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>> {
        self.switch.call(self.inner.search(query, filter)).await
    }

    async fn explain(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<HashMap<ChunkId, FieldScores>> {
        self.switch.call(self.inner.explain(query, filter)).await
    }

    async fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.switch.call(self.inner.frequencies(terms)).await
    }

    async fn count(&self, document: VersionId) -> Result<u64> {
        self.switch.call(self.inner.count(document)).await
    }

    async fn counts(&self, documents: &[VersionId]) -> Result<HashMap<VersionId, u64>> {
        self.switch.call(self.inner.counts(documents)).await
    }

    async fn versions(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        self.switch.call(self.inner.versions(after, limit)).await
    }

    async fn chunks(&self, document: VersionId) -> Result<Vec<StoredChunk>> {
        self.switch.call(self.inner.chunks(document)).await
    }

    async fn chunk_range(&self, document: VersionId, ordinals: Range<u32>) -> Result<Vec<StoredChunk>> {
        self.switch.call(self.inner.chunk_range(document, ordinals)).await
    }

    async fn dimensions(&self) -> Result<Option<usize>> {
        self.switch.call(self.inner.dimensions()).await
    }

    async fn check(&self) -> Result<()> {
        self.switch.call(self.inner.check()).await
    }
}

/// Opening an index always succeeds; its calls fail according to the switch.
#[async_trait]
impl VectorIndexes for Faulty<dyn VectorIndexes> {
    async fn open(&self, name: &str, owner: GenerationId) -> Result<Arc<dyn VectorIndex>> {
        Ok(Arc::new(Faulty::new(self.inner.open(name, owner).await?, &self.switch)))
    }

    async fn close(&self, name: &str) -> Result<()> {
        self.inner.close(name).await
    }

    async fn exists(&self, name: &str) -> Result<bool> {
        self.pass()?.exists(name).await
    }

    async fn remove(&self, name: &str) -> Result<()> {
        self.pass()?.remove(name).await
    }

    async fn check(&self) -> Result<()> {
        self.pass()?.check().await
    }

    async fn version(&self) -> Result<Option<String>> {
        self.pass()?.version().await
    }
}

#[async_trait]
impl Embedder for Faulty<dyn Embedder> {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        self.pass()?.embed_passages(passages).await
    }

    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        self.pass()?.embed_sparse(passages).await
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        self.pass()?.embed_query(query).await
    }

    fn makes_vectors(&self) -> bool {
        self.inner.makes_vectors()
    }

    fn speller(&self) -> Option<&dyn Speller> {
        self.inner.speller()
    }

    fn model(&self) -> &str {
        self.inner.model()
    }
}

#[async_trait]
impl Reranker for Faulty<dyn Reranker> {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>> {
        self.pass()?.rerank(query, passages).await
    }

    async fn check(&self) -> Result<()> {
        self.pass()?.check().await
    }

    fn model(&self) -> &str {
        self.inner.model()
    }
}

#[async_trait]
impl TextRecognizer for Faulty<dyn TextRecognizer> {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        self.pass()?.recognize(scan).await
    }

    async fn check(&self, languages: &Languages) -> Result<()> {
        self.pass()?.check(languages).await
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

/// The switch is checked at the start of an answer and before each event: `fail_after(2, …)` fails the second event.
#[async_trait]
impl ChatModel for Faulty<dyn ChatModel> {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let stream = self.pass()?.stream(request).await?;
        let switch = self.switch.clone();
        // An answer ends with its first error.
        let mut broken = false;
        let checked = stream.map(move |event| switch.check().and(event));
        Ok(checked
            .take_while(move |event| std::future::ready(!std::mem::replace(&mut broken, event.is_err())))
            .boxed())
    }

    fn model(&self) -> &str {
        self.inner.model()
    }

    fn address(&self) -> Option<String> {
        self.inner.address()
    }

    async fn models(&self) -> Result<Vec<String>> {
        self.pass()?.models().await
    }

    async fn context_length(&self) -> Option<u64> {
        self.inner.context_length().await
    }

    fn refused_parts(&self) -> Vec<OptionalPart> {
        self.inner.refused_parts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::chat_model::{ScriptedChatModel, Turn};
    use crate::fakes::vector_index::FakeVectorIndex;
    use crate::faults::FaultSwitch;
    use crate::retrieval::{entry, indexed, version_id};
    use docent_domain::fault::{Component, FaultKind};

    #[tokio::test]
    async fn a_failed_replace_stores_nothing() {
        let switch = FaultSwitch::new(Component::VectorStore);
        let inner: Arc<dyn VectorIndex> = Arc::new(FakeVectorIndex::default());
        let index = Faulty::new(Arc::clone(&inner), &switch);
        switch.fail_next(1, FaultKind::Unavailable);
        assert!(index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.is_err());
        assert_eq!(inner.count(version_id(1)).await.unwrap(), 0);
        index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
        assert_eq!(inner.count(version_id(1)).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn an_answer_breaks_where_the_script_says() {
        let switch = FaultSwitch::new(Component::ChatModel);
        let inner: Arc<dyn ChatModel> = Arc::new(ScriptedChatModel::always(Turn::saying("one two three")));
        let model = Faulty::new(inner, &switch);
        let request = || ChatRequest::default();
        switch.fail_after(2, 1, FaultKind::Timeout);
        let events: Vec<_> = model.stream(request()).await.unwrap().collect().await;
        assert_eq!(events.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
        switch.fail_next(1, FaultKind::Timeout);
        assert!(model.stream(request()).await.is_err());
        assert_eq!(model.stream(request()).await.unwrap().count().await, 4);
    }
}
