//! The collection's contents by document.

use super::points::{self, DOCUMENT, name};
use super::{QdrantIndex, filters, query};
use docent_domain::fault::Result;
use docent_domain::id::VersionId;
use docent_domain::retrieval::StoredChunk;
use docent_ports::vector_index::IndexPage;
use qdrant_client::qdrant::point_id::PointIdOptions;
use qdrant_client::qdrant::{
    FacetCounts, FacetHit, Filter, PointId, ScrollPoints, ScrollResponse, facet_value,
};
use std::collections::{BTreeSet, HashMap};

/// Number of chunks per request; with their vectors the largest have about 30 KB.
const CHUNKS: u32 = 64;

impl QdrantIndex {
    /// Counts the chunks of several documents in one request.
    pub(super) async fn count_each(&self, documents: &[VersionId]) -> Result<HashMap<VersionId, u64>> {
        if documents.is_empty() {
            return Ok(HashMap::new());
        }
        let request = FacetCounts {
            collection_name: self.collection.name().to_owned(),
            key: DOCUMENT.to_owned(),
            filter: Some(filters::any_of(documents)),
            limit: Some(documents.len() as u64),
            exact: Some(true),
            ..FacetCounts::default()
        };
        let counted = self.connection.read(self.connection.points().facet(request)).await;
        let hits = self.unless_absent("count chunks", counted)?.map(|answer| answer.hits).unwrap_or_default();
        hits.into_iter().map(|hit| count_of(&hit).ok_or_else(points::invalid)).collect()
    }

    /// Reads the documents of a page of `limit` points, in the order of their IDs.
    pub(super) async fn page(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        let request = ScrollPoints {
            offset: after.map(point),
            limit: Some(u32::try_from(limit.max(1)).unwrap_or(u32::MAX)),
            with_payload: Some(points::only(&[DOCUMENT])),
            with_vectors: Some(false.into()),
            ..self.scroll()
        };
        let Some(answer) = self.scrolled(request).await? else { return Ok(IndexPage::default()) };
        let ids =
            answer.result.iter().map(|point| points::document(&point.payload).ok_or_else(points::invalid));
        let documents = ids.collect::<Result<BTreeSet<_>>>()?;
        let next = match answer.next_page_offset.and_then(|point| point.point_id_options) {
            None => None,
            Some(PointIdOptions::Uuid(id)) => Some(id),
            Some(PointIdOptions::Num(_)) => return Err(points::invalid()),
        };
        Ok(IndexPage { versions: documents.into_iter().collect(), next })
    }

    /// Reads the matching chunks in the order of their ordinals.
    pub(super) async fn read_back(&self, filter: Filter) -> Result<Vec<StoredChunk>> {
        // The server rejects names of vectors that the collection does not have.
        let has_dense = self.collection.dimensions(&self.connection).await?.is_some();
        let (mut chunks, mut offset) = (Vec::new(), None);
        loop {
            let request = ScrollPoints {
                filter: Some(filter.clone()),
                offset: offset.take(),
                limit: Some(CHUNKS),
                with_payload: Some(true.into()),
                with_vectors: Some(if has_dense { query::vectors([name::DENSE]) } else { false.into() }),
                ..self.scroll()
            };
            let Some(answer) = self.scrolled(request).await? else { return Ok(Vec::new()) };
            for point in answer.result {
                chunks.push(points::stored(point).ok_or_else(points::invalid)?);
            }
            offset = answer.next_page_offset;
            if offset.is_none() {
                break;
            }
        }
        chunks.sort_by_key(|chunk| chunk.ordinal);
        Ok(chunks)
    }

    pub(super) async fn size_of_vectors(&self) -> Result<Option<usize>> {
        let size = self.collection.dimensions(&self.connection).await?;
        Ok(size.and_then(|size| usize::try_from(size).ok()))
    }

    fn scroll(&self) -> ScrollPoints {
        ScrollPoints { collection_name: self.collection.name().to_owned(), ..ScrollPoints::default() }
    }

    async fn scrolled(&self, request: ScrollPoints) -> Result<Option<ScrollResponse>> {
        let answer = self.connection.read(self.connection.points().scroll(request)).await;
        self.unless_absent("read chunks", answer)
    }
}

fn point(id: &str) -> PointId {
    PointId { point_id_options: Some(PointIdOptions::Uuid(id.to_owned())) }
}

fn count_of(hit: &FacetHit) -> Option<(VersionId, u64)> {
    match hit.value.as_ref()?.variant.as_ref()? {
        facet_value::Variant::StringValue(id) => Some((id.parse().ok()?, hit.count)),
        _ => None,
    }
}
