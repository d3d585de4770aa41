//! Fills the new index in rounds.

use super::switch::{IndexedVersion, Switch, switch};
use super::{ReindexError, Reindexed};
use crate::App;
use crate::generations::OpenIndex;
use crate::ingest::{self, IngestError};
use crate::maintenance::progress::Progress;
use docent_domain::document::{Document, DocumentState};
use docent_domain::extraction::IngestionStats;
use docent_domain::fault::{Fault, FaultKind};
use docent_domain::generation::{IndexGeneration, IndexedRevision};
use docent_domain::id::{DocumentId, VersionId};
use futures::{StreamExt, stream};
use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Documents that one query reads.
const PAGE: u64 = 256;
/// Documents that the vector index lists at a time.
const INDEX_PAGE: usize = 1000;
/// The maximum number of rounds. Each is shorter than the previous one unless documents change faster than they are
/// indexed.
const MAX_ROUNDS: usize = 100;
/// Attempts to index a document or to switch, when components fail.
const MAX_ATTEMPTS: u32 = 6;
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// The bounds of the wait after a rate limit response.
const MIN_RATE_LIMIT_WAIT: Duration = Duration::from_secs(5);
const MAX_RATE_LIMIT_WAIT: Duration = Duration::from_secs(600);

/// A build of an index generation.
pub(super) struct Build<'a> {
    app: &'a App,
    generation: IndexGeneration,
    concurrency: usize,
    stop: &'a CancellationToken,
    progress: &'a dyn Progress,
    indexed: HashMap<VersionId, IndexedVersion>,
    unreadable: Vec<(DocumentId, String)>,
    written: u64,
}

/// The result of indexing a document.
enum Indexing {
    Done(Box<IndexedVersion>),
    /// The document has changed since the round began; the next round covers it.
    Changed,
    Unreadable(DocumentId, String),
}

impl<'a> Build<'a> {
    pub(super) fn new(
        app: &'a App,
        generation: IndexGeneration,
        concurrency: usize,
        stop: &'a CancellationToken,
        progress: &'a dyn Progress,
    ) -> Self {
        let (indexed, unreadable) = (HashMap::new(), Vec::new());
        Self { app, generation, concurrency, stop, progress, indexed, unreadable, written: 0 }
    }

    pub(super) async fn run(mut self) -> Result<Reindexed, ReindexError> {
        let target = self.app.open(self.generation.clone()).await?;
        let missing = self.find_missing(&target).await?;
        self.index_all(&target, missing).await?;
        self.remove_deleted(&target).await?;
        // After the switch the service, which can be another process, opens it immediately.
        self.close(target).await?;
        for _ in 0..MAX_ROUNDS {
            if !self.unreadable.is_empty() {
                return Err(ReindexError::Unreadable(self.unreadable));
            }
            match self.try_switch().await? {
                Switch::Done => {
                    let documents = self.indexed.len() as u64;
                    let IndexGeneration { id, model, .. } = self.generation;
                    return Ok(Reindexed { generation: id, model, documents, written: self.written });
                }
                Switch::EndedElsewhere => return Err(ReindexError::EndedElsewhere),
                Switch::Behind { missing, deleted } => {
                    let target = self.app.open(self.generation.clone()).await?;
                    for id in deleted {
                        target.index.remove(id).await?;
                        self.indexed.remove(&id);
                    }
                    self.index_all(&target, missing).await?;
                    self.close(target).await?;
                }
            }
        }
        Err(ReindexError::TooManyChanges)
    }

    async fn close(&self, target: OpenIndex) -> Result<(), Fault> {
        drop(target);
        self.app.collections.close(&self.generation.collection).await
    }

    /// Finds the documents that earlier runs have indexed, and returns the missing ones.
    async fn find_missing(&mut self, target: &OpenIndex) -> Result<Vec<IndexedRevision>, Fault> {
        let (mut missing, mut after) = (Vec::new(), None);
        loop {
            let page = self.app.store.read_latest().await?.documents().indexed_revisions(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(missing) };
            after = Some(last.document);
            let ids: Vec<VersionId> = page.iter().map(|revision| revision.version).collect();
            let counts = target.index.counts(&ids).await?;
            for revision in page {
                if counts.get(&revision.version).is_some_and(|count| *count == u64::from(revision.chunks)) {
                    self.indexed.insert(revision.version, IndexedVersion { revision, coverage: None });
                } else {
                    missing.push(revision);
                }
            }
        }
    }

    async fn index_all(
        &mut self,
        target: &OpenIndex,
        missing: Vec<IndexedRevision>,
    ) -> Result<(), ReindexError> {
        if missing.is_empty() {
            return Ok(());
        }
        let total = (self.indexed.len() + missing.len()) as u64;
        self.progress.begin("building the index", Some(total));
        self.progress.advance(self.indexed.len() as u64);
        let (app, stop) = (self.app, self.stop);
        let work = missing.into_iter().map(|revision| index_document(app, target, revision, stop));
        let mut work = stream::iter(work).buffer_unordered(self.concurrency);
        let mut failed = None;
        while let Some(result) = work.next().await {
            match result {
                Ok(Indexing::Done(document)) => {
                    self.indexed.insert(document.revision.version, *document);
                    self.written += 1;
                }
                Ok(Indexing::Changed) => {}
                Ok(Indexing::Unreadable(id, reason)) => self.unreadable.push((id, reason)),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
            self.progress.advance(1);
        }
        drop(work);
        self.progress.end();
        failed.map_or(Ok(()), Err)
    }

    /// Removes chunks that an earlier run has written for documents that no longer exist.
    async fn remove_deleted(&self, target: &OpenIndex) -> Result<(), Fault> {
        let mut after: Option<String> = None;
        loop {
            let page = target.index.versions(after.as_deref(), INDEX_PAGE).await?;
            for id in page.versions.iter().filter(|id| !self.indexed.contains_key(id)) {
                target.index.remove(*id).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn try_switch(&self) -> Result<Switch, ReindexError> {
        let mut attempts = 0;
        loop {
            if self.stop.is_cancelled() {
                return Err(ReindexError::Stopped);
            }
            match switch(self.app, &self.generation, &self.indexed).await {
                Ok(switch) => return Ok(switch),
                Err(fault) => wait(self.app, fault, &mut attempts, self.stop).await?,
            }
        }
    }
}

/// Indexes one document, with retries.
async fn index_document(
    app: &App,
    target: &OpenIndex,
    revision: IndexedRevision,
    stop: &CancellationToken,
) -> Result<Indexing, ReindexError> {
    let mut attempts = 0;
    loop {
        match try_index(app, target, revision, stop).await {
            Some(Ok(indexing)) => return Ok(indexing),
            None => return Err(ReindexError::Stopped),
            Some(Err(IngestError::Suspended(pause))) => {
                let pause = app.sleep(pause.to_std().unwrap_or_default());
                stop.run_until_cancelled(pause).await.ok_or(ReindexError::Stopped)?;
            }
            Some(Err(IngestError::IndexReplaced)) => return Err(ReindexError::EndedElsewhere),
            Some(Err(IngestError::Document(failure, _))) => {
                // A deleted document has no file.
                return Ok(match at_revision(app, revision).await? {
                    Some(_) => Indexing::Unreadable(revision.document, failure.reason),
                    None => Indexing::Changed,
                });
            }
            Some(Err(IngestError::Fault(fault, _))) => wait(app, fault, &mut attempts, stop).await?,
        }
    }
}

async fn try_index(
    app: &App,
    target: &OpenIndex,
    revision: IndexedRevision,
    stop: &CancellationToken,
) -> Option<Result<Indexing, IngestError>> {
    if stop.is_cancelled() {
        return None;
    }
    let document = match at_revision(app, revision).await {
        Ok(Some(document)) => document,
        Ok(None) => return Some(Ok(Indexing::Changed)),
        Err(fault) => return Some(Err(fault.into())),
    };
    let coverage = match ingest::ingest(app, target, &document, stop, &mut IngestionStats::default()).await? {
        Ok(coverage) => coverage,
        Err(error) => return Some(Err(error)),
    };
    let coverage = (document.coverage.as_ref() != Some(&coverage)).then_some(coverage);
    Some(Ok(Indexing::Done(Box::new(IndexedVersion { revision, coverage }))))
}

/// The document, if it still has this revision.
async fn at_revision(app: &App, revision: IndexedRevision) -> Result<Option<Document>, Fault> {
    let document = app.store.read_latest().await?.documents().get(revision.document).await?;
    let is_same = |document: &Document| match &document.state {
        DocumentState::Ingested(ingested) => ingested.at == revision.at,
        DocumentState::Pending(_) | DocumentState::Failed(_) => false,
    };
    Ok(document.filter(is_same))
}

/// Waits before the next attempt, or returns the fault after the last one.
async fn wait(
    app: &App,
    fault: Fault,
    attempts: &mut u32,
    stop: &CancellationToken,
) -> Result<(), ReindexError> {
    let pause = if fault.kind() == FaultKind::RateLimited {
        fault.retry_after().unwrap_or_default().clamp(MIN_RATE_LIMIT_WAIT, MAX_RATE_LIMIT_WAIT)
    } else {
        *attempts += 1;
        if !fault.is_transient() || *attempts >= MAX_ATTEMPTS {
            return Err(fault.into());
        }
        fault.retry_after().unwrap_or(Duration::from_secs(1 << (*attempts - 1))).min(MAX_BACKOFF)
    };
    tracing::warn!(fault = %fault.report(), seconds = pause.as_secs(), "retrying after a fault");
    stop.run_until_cancelled(app.sleep(pause)).await.ok_or(ReindexError::Stopped)
}
