//! Requests that write and delete points.

use super::{QdrantIndex, filters, labels, value};
use docent_domain::fault::Result;
use docent_domain::retrieval::IndexedVersion;
use docent_ports::vector_index::VectorIndex;
use qdrant_client::qdrant::{DeletePoints, Filter, PointStruct, SetPayloadPoints, UpsertPoints};
use tonic::Code;

/// Number of points per request; the largest points have about 40 KB. Servers before 1.20 apply 32 points at a time and
/// can lose the rest of a request at a restart (qdrant#10402).
const BATCH: usize = 32;

impl QdrantIndex {
    /// Writes all points. Creates the collection again if it was deleted.
    pub(super) async fn upsert(&self, points: &[PointStruct], dimensions: Option<u64>) -> Result<()> {
        let mut recreated = false;
        loop {
            self.collection.ensure(&self.connection, dimensions).await?;
            match self.try_upsert(points).await {
                Err(status) if status.code() == Code::NotFound && !recreated => {
                    self.collection.invalidate();
                    recreated = true;
                }
                Err(status) => return Err(self.fault("write chunks", status)),
                Ok(()) => return Ok(()),
            }
        }
    }

    async fn try_upsert(&self, points: &[PointStruct]) -> Result<(), tonic::Status> {
        for batch in points.chunks(BATCH) {
            let request = UpsertPoints {
                collection_name: self.collection.name().to_owned(),
                wait: Some(true),
                points: batch.to_vec(),
                ..UpsertPoints::default()
            };
            self.connection.write(self.connection.points().upsert(request)).await?;
        }
        Ok(())
    }

    /// Deletes points. A missing collection counts as success.
    pub(super) async fn delete(&self, filter: Filter) -> Result<()> {
        self.collection.verify(&self.connection).await?;
        let request = DeletePoints {
            collection_name: self.collection.name().to_owned(),
            wait: Some(true),
            points: Some(filter.into()),
            ..DeletePoints::default()
        };
        let deleted = self.connection.write(self.connection.points().delete(request)).await;
        self.unless_absent("delete chunks", deleted).map(|_| ())
    }

    /// Replaces the labels of all points of a document, if it has any.
    pub(super) async fn set_labels(&self, document: &IndexedVersion) -> Result<()> {
        self.collection.verify(&self.connection).await?;
        // A write that matches nothing would let servers before 1.20 forget points just written, if they restart
        // (qdrant#10402).
        if self.count(document.id).await? == 0 {
            return Ok(());
        }
        self.collection.ensure(&self.connection, None).await?;
        let request = SetPayloadPoints {
            collection_name: self.collection.name().to_owned(),
            wait: Some(true),
            // Replaces both fields as a whole, including attributes that the document no longer has.
            payload: value::fields(labels::payload(&document.labels)),
            points_selector: Some(filters::all_of(document.id).into()),
            ..SetPayloadPoints::default()
        };
        let written = self.connection.write(self.connection.points().set_payload(request)).await;
        self.unless_absent("write labels", written).map(drop)
    }
}
