//! Letting a new generation take over.

use super::build::Held;
use crate::App;
use docent_domain::{
    document::DocumentState,
    generation::{GenerationState, IndexGeneration, IndexedRevision},
    id::DocumentId,
};
use docent_ports::{error::Fault, store::UnitOfWork};
use std::collections::{HashMap, HashSet};

/// Marks that one statement reads.
const PAGE: u64 = 1000;

/// What came of a try at it.
pub(super) enum Switch {
    /// The new generation serves.
    Done,
    /// It is behind what is recorded.
    Behind {
        /// Documents that it lacks, or holds in an earlier form.
        missing: Vec<IndexedRevision>,
        /// Documents that it holds and that are no more.
        gone: Vec<DocumentId>,
    },
    /// Somebody else has retired it, or let it take over.
    Elsewhere,
}

/// Lets `generation`, which holds `held`, take over, if that is what is recorded: all in one transaction.
pub(super) async fn switch(
    app: &App,
    generation: &IndexGeneration,
    held: &HashMap<DocumentId, Held>,
) -> Result<Switch, Fault> {
    let mut work = app.store.begin().await?;
    // From here on whoever ends an ingestion or a removal has done so, or waits for us.
    let all = work.generations().all().await?;
    match all.iter().find(|it| it.id == generation.id).map(|it| it.state) {
        Some(GenerationState::Building) => {}
        // The answer to an earlier try at the commit may have been lost.
        Some(GenerationState::Active { .. }) => return Ok(Switch::Done),
        Some(GenerationState::Retired { .. }) | None => return Ok(Switch::Elsewhere),
    }
    let (missing, gone) = compare(&mut *work, held).await?;
    if !missing.is_empty() || !gone.is_empty() {
        return Ok(Switch::Behind { missing, gone });
    }
    record(&mut *work, held).await?;
    let now = app.clock.now();
    for active in all.into_iter().filter(|it| matches!(it.state, GenerationState::Active { .. })) {
        work.generations().update(&active.retired(now)).await?;
    }
    work.generations().update(&generation.clone().active(now)).await?;
    work.commit().await?;
    Ok(Switch::Done)
}

/// What is missing and what is too much, beside the records.
async fn compare(
    work: &mut dyn UnitOfWork,
    held: &HashMap<DocumentId, Held>,
) -> Result<(Vec<IndexedRevision>, Vec<DocumentId>), Fault> {
    let (mut missing, mut recorded, mut after) = (Vec::new(), HashSet::with_capacity(held.len()), None);
    loop {
        let page = work.documents().indexed_revisions(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.document);
        for mark in page {
            recorded.insert(mark.document);
            if held.get(&mark.document).is_none_or(|held| held.mark != mark) {
                missing.push(mark);
            }
        }
    }
    let gone = held.keys().filter(|id| !recorded.contains(id)).copied().collect();
    Ok((missing, gone))
}

/// Writes down of the documents what has changed.
async fn record(work: &mut dyn UnitOfWork, held: &HashMap<DocumentId, Held>) -> Result<(), Fault> {
    let changed = held.iter().filter_map(|(id, held)| Some((*id, held.coverage.as_ref()?)));
    for (id, coverage) in changed {
        if let Some(mut document) = work.documents().get(id).await?
            && matches!(document.state, DocumentState::Ingested(_))
        {
            document.coverage = Some(coverage.clone());
            work.documents().update(&document).await?;
        }
    }
    Ok(())
}
