//! Filling a collection, round by round.

use super::{
    ReindexError, Reindexed,
    switch::{Switch, switch},
};
use crate::{
    App,
    generations::Opened,
    ingest::{self, IngestError},
    upkeep::progress::Progress,
};
use docent_domain::{
    document::{Document, DocumentState},
    extraction::{Coverage, IngestionStats},
    generation::{IndexGeneration, IndexedRevision},
    id::DocumentId,
};
use docent_ports::error::{Fault, FaultKind};
use futures::{StreamExt, stream};
use std::{collections::HashMap, time::Duration};
use tokio_util::sync::CancellationToken;

/// Documents that are looked up at a time.
const PAGE: u64 = 256;
/// Chunks, or documents, that the vector store shows at a time.
const INDEX_PAGE: usize = 1000;
/// Each round is shorter than the one before, unless documents come as fast as they are taken over.
const ROUNDS: usize = 100;
/// Tries at a document, or at the switch, when parts do not work.
const TRIES: u32 = 6;
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A back end that asks for fewer calls is waited for, between these two.
const HELD_UP: Duration = Duration::from_secs(5);
const LONGEST_HELD_UP: Duration = Duration::from_secs(600);

/// A document that the collection holds, as it was when it was written: some dozens of bytes each.
pub(super) struct Held {
    pub(super) mark: IndexedRevision,
    /// What is to be recorded of it now, where that has changed.
    pub(super) coverage: Option<Coverage>,
}

/// A generation being built.
pub(super) struct Build<'a> {
    app: &'a App,
    generation: IndexGeneration,
    concurrency: usize,
    stop: &'a CancellationToken,
    progress: &'a dyn Progress,
    held: HashMap<DocumentId, Held>,
    unreadable: Vec<(DocumentId, String)>,
    written: u64,
}

/// What became of a document.
enum Taken {
    Held(Held),
    /// It is not what it was when the round began; another round will see.
    Changed,
    Unreadable(DocumentId, String),
}

impl<'a> Build<'a> {
    pub(super) fn of(
        app: &'a App,
        generation: IndexGeneration,
        concurrency: usize,
        stop: &'a CancellationToken,
        progress: &'a dyn Progress,
    ) -> Self {
        let (held, unreadable) = (HashMap::new(), Vec::new());
        Self { app, generation, concurrency, stop, progress, held, unreadable, written: 0 }
    }

    pub(super) async fn run(mut self) -> Result<Reindexed, ReindexError> {
        let opened = self.app.open(self.generation.clone()).await?;
        let missing = self.survey(&opened).await?;
        self.take(&opened, missing).await?;
        self.remove_strays(&opened).await?;
        // Whoever serves opens it right after the switch, which can be in another process.
        self.close(opened).await?;
        for _ in 0..ROUNDS {
            if !self.unreadable.is_empty() {
                return Err(ReindexError::Unreadable(self.unreadable));
            }
            match self.try_switch().await? {
                Switch::Done => {
                    let documents = self.held.len() as u64;
                    let IndexGeneration { id, model, .. } = self.generation;
                    return Ok(Reindexed { generation: id, model, documents, written: self.written });
                }
                Switch::Elsewhere => return Err(ReindexError::Elsewhere),
                Switch::Behind { missing, gone } => {
                    let opened = self.app.open(self.generation.clone()).await?;
                    for id in gone {
                        opened.index.remove(id).await?;
                        self.held.remove(&id);
                    }
                    self.take(&opened, missing).await?;
                    self.close(opened).await?;
                }
            }
        }
        Err(ReindexError::Restless)
    }

    async fn close(&self, opened: Opened) -> Result<(), Fault> {
        drop(opened);
        self.app.collections.close(&self.generation.collection).await
    }

    /// What an earlier run has written is held; gives what is not.
    async fn survey(&mut self, opened: &Opened) -> Result<Vec<IndexedRevision>, Fault> {
        let (mut missing, mut after) = (Vec::new(), None);
        loop {
            let page = self.app.store.read_latest().await?.documents().indexed_revisions(after, PAGE).await?;
            let Some(last) = page.last() else { return Ok(missing) };
            after = Some(last.document);
            let ids: Vec<DocumentId> = page.iter().map(|mark| mark.document).collect();
            let counts = opened.index.counts(&ids).await?;
            for mark in page {
                if counts.get(&mark.document).is_some_and(|count| *count == u64::from(mark.chunks)) {
                    self.held.insert(mark.document, Held { mark, coverage: None });
                } else {
                    missing.push(mark);
                }
            }
        }
    }

    async fn take(&mut self, opened: &Opened, missing: Vec<IndexedRevision>) -> Result<(), ReindexError> {
        if missing.is_empty() {
            return Ok(());
        }
        let all = (self.held.len() + missing.len()) as u64;
        self.progress.begin("building the index", Some(all));
        self.progress.advance(self.held.len() as u64);
        let (app, stop) = (self.app, self.stop);
        let work = missing.into_iter().map(|mark| one(app, opened, mark, stop));
        let mut work = stream::iter(work).buffer_unordered(self.concurrency);
        let mut failed = None;
        while let Some(taken) = work.next().await {
            match taken {
                Ok(Taken::Held(held)) => {
                    self.held.insert(held.mark.document, held);
                    self.written += 1;
                }
                Ok(Taken::Changed) => {}
                Ok(Taken::Unreadable(id, why)) => self.unreadable.push((id, why)),
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

    /// Removes what an earlier run wrote of documents that are gone.
    async fn remove_strays(&self, opened: &Opened) -> Result<(), Fault> {
        let mut after: Option<String> = None;
        loop {
            let page = opened.index.documents(after.as_deref(), INDEX_PAGE).await?;
            for id in page.documents.iter().filter(|id| !self.held.contains_key(id)) {
                opened.index.remove(*id).await?;
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn try_switch(&self) -> Result<Switch, ReindexError> {
        let mut tries = 0;
        loop {
            if self.stop.is_cancelled() {
                return Err(ReindexError::Stopped);
            }
            match switch(self.app, &self.generation, &self.held).await {
                Ok(switch) => return Ok(switch),
                Err(fault) => wait(self.app, fault, &mut tries, self.stop).await?,
            }
        }
    }
}

/// Writes one document.
async fn one(
    app: &App,
    opened: &Opened,
    mark: IndexedRevision,
    stop: &CancellationToken,
) -> Result<Taken, ReindexError> {
    let mut tries = 0;
    loop {
        match try_one(app, opened, mark, stop).await {
            Some(Ok(taken)) => return Ok(taken),
            None => return Err(ReindexError::Stopped),
            Some(Err(IngestError::Moved)) => return Err(ReindexError::Elsewhere),
            Some(Err(IngestError::Document(failure, _))) => {
                // Its file goes when it is deleted.
                return Ok(match as_marked(app, mark).await? {
                    Some(_) => Taken::Unreadable(mark.document, failure.reason),
                    None => Taken::Changed,
                });
            }
            Some(Err(IngestError::Fault(fault, _))) => wait(app, fault, &mut tries, stop).await?,
        }
    }
}

async fn try_one(
    app: &App,
    opened: &Opened,
    mark: IndexedRevision,
    stop: &CancellationToken,
) -> Option<Result<Taken, IngestError>> {
    if stop.is_cancelled() {
        return None;
    }
    let document = match as_marked(app, mark).await {
        Ok(Some(document)) => document,
        Ok(None) => return Some(Ok(Taken::Changed)),
        Err(fault) => return Some(Err(fault.into())),
    };
    let coverage = match ingest::ingest(app, opened, &document, stop, &mut IngestionStats::default()).await? {
        Ok(coverage) => coverage,
        Err(error) => return Some(Err(error)),
    };
    let coverage = (document.coverage.as_ref() != Some(&coverage)).then_some(coverage);
    Some(Ok(Taken::Held(Held { mark, coverage })))
}

/// The document, if it is still what the mark says.
async fn as_marked(app: &App, mark: IndexedRevision) -> Result<Option<Document>, Fault> {
    let document = app.store.read_latest().await?.documents().get(mark.document).await?;
    let is_same = |document: &Document| match &document.state {
        DocumentState::Ingested(ingested) => ingested.at == mark.at,
        DocumentState::Pending(_) | DocumentState::Failed(_) => false,
    };
    Ok(document.filter(is_same))
}

/// Waits before the next try, or gives up.
async fn wait(
    app: &App,
    fault: Fault,
    tries: &mut u32,
    stop: &CancellationToken,
) -> Result<(), ReindexError> {
    let pause = if fault.kind() == FaultKind::RateLimited {
        fault.retry_after().unwrap_or_default().clamp(HELD_UP, LONGEST_HELD_UP)
    } else {
        *tries += 1;
        if !fault.is_transient() || *tries >= TRIES {
            return Err(fault.into());
        }
        fault.retry_after().unwrap_or(Duration::from_secs(1 << (*tries - 1))).min(LONGEST_PAUSE)
    };
    tracing::warn!(fault = %fault.report(), seconds = pause.as_secs(), "trying again");
    stop.run_until_cancelled(app.clock.sleep(pause)).await.ok_or(ReindexError::Stopped)
}
