//! Writes changed labels of documents to the vector store.

use super::Background;
use docent_domain::document::Document;
use docent_domain::fault::Fault;
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::IndexedVersion;
use futures::future::try_join_all;
use std::time::Duration;

/// Documents that are read at a time.
const BATCH: u64 = 100;
/// The pause before changes of other processes are looked for, and after a fault.
const INTERVAL: Duration = Duration::from_secs(5);

impl Background {
    /// Writes changed labels as soon as they change, until cancelled.
    pub(super) async fn label_regularly(&self) {
        loop {
            if let Err(fault) = self.write_labels().await {
                self.app.note(&fault);
                tracing::warn!(fault = %fault.report(), "changed labels could not be written to the vector store; trying again");
            }
            tokio::select! {
                () = self.app.process.new_labels.notified() => {}
                () = self.app.sleep(INTERVAL) => {}
            }
        }
    }

    /// Writes all labels that the vector store does not have yet.
    ///
    /// # Errors
    /// When a store fails. What was written stays.
    pub async fn write_labels(&self) -> Result<(), Fault> {
        let app = &*self.app;
        loop {
            let stale = app.store.read().await?.documents().stale_labels(BATCH).await?;
            if stale.is_empty() {
                return Ok(());
            }
            let active = app.active_index().await?;
            // Together, so that the embedded index has one commit for all.
            try_join_all(stale.iter().map(async |document| active.index.relabel(&indexed(document)).await))
                .await?;
            let mut work = app.store.begin().await?;
            // Labels written to an index that was replaced meanwhile are missing in the new one.
            if !work.generations().is_active(active.generation.id).await? {
                continue;
            }
            for document in &stale {
                let now = work.documents().get(document.id).await?;
                // A new version has the labels with which it was ingested.
                if now.is_some_and(|now| now.version_id == document.version_id) {
                    work.documents().set_indexed_labels(document.id, document.labels_revision).await?;
                }
            }
            work.commit().await?;
        }
    }
}

/// The document as the vector store has it.
fn indexed(document: &Document) -> IndexedVersion {
    IndexedVersion { id: document.version_id, labels: DocumentLabels::of(document) }
}
