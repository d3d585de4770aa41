//! Activates a new index generation.

use crate::App;
use docent_domain::document::DocumentState;
use docent_domain::extraction::Coverage;
use docent_domain::fault::Fault;
use docent_domain::generation::{GenerationState, IndexGeneration, IndexedRevision};
use docent_domain::id::VersionId;
use docent_ports::store::UnitOfWork;
use std::collections::{HashMap, HashSet};

/// Revisions that one query reads.
const PAGE: u64 = 1000;

/// A version of a document in the new index. Kept in memory for all documents: a few dozen bytes each.
pub(super) struct IndexedVersion {
    pub(super) revision: IndexedRevision,
    /// Its new coverage, if that has changed.
    pub(super) coverage: Option<Coverage>,
}

/// The result of an attempt to activate a generation.
pub(super) enum Switch {
    /// The new generation is active.
    Done,
    /// The new index does not match the records.
    Behind {
        /// Documents that are missing from the index or outdated in it.
        missing: Vec<IndexedRevision>,
        /// Indexed versions that no longer exist.
        deleted: Vec<VersionId>,
    },
    /// Another process has retired or replaced the generation.
    EndedElsewhere,
}

/// Activates `generation` in one transaction, if its `indexed` documents match the records.
pub(super) async fn switch(
    app: &App,
    generation: &IndexGeneration,
    indexed: &HashMap<VersionId, IndexedVersion>,
) -> Result<Switch, Fault> {
    let mut work = app.store.begin().await?;
    // This locks the generations: jobs that complete concurrently have committed, or wait for this transaction.
    let all = work.generations().all().await?;
    match all.iter().find(|it| it.id == generation.id).map(|it| it.state) {
        Some(GenerationState::Building) => {}
        // An earlier attempt may have been committed although it reported an error.
        Some(GenerationState::Active { .. }) => return Ok(Switch::Done),
        Some(GenerationState::Retired { .. }) | None => return Ok(Switch::EndedElsewhere),
    }
    let (missing, deleted) = compare(&mut *work, indexed).await?;
    if !missing.is_empty() || !deleted.is_empty() {
        return Ok(Switch::Behind { missing, deleted });
    }
    update_coverage(&mut *work, indexed).await?;
    let now = app.now();
    for active in all.into_iter().filter(|it| matches!(it.state, GenerationState::Active { .. })) {
        work.generations().update(&active.retired(now)).await?;
    }
    work.generations().update(&generation.clone().active(now)).await?;
    // Labels may have changed since they were written to the new index.
    work.documents().forget_indexed_labels().await?;
    work.commit().await?;
    Ok(Switch::Done)
}

/// Compares the index with the records: the missing revisions and the deleted documents.
async fn compare(
    work: &mut dyn UnitOfWork,
    indexed: &HashMap<VersionId, IndexedVersion>,
) -> Result<(Vec<IndexedRevision>, Vec<VersionId>), Fault> {
    let (mut missing, mut recorded, mut after) = (Vec::new(), HashSet::with_capacity(indexed.len()), None);
    loop {
        let page = work.documents().indexed_revisions(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.document);
        for revision in page {
            recorded.insert(revision.version);
            if indexed.get(&revision.version).is_none_or(|document| document.revision != revision) {
                missing.push(revision);
            }
        }
    }
    let deleted = indexed.keys().filter(|id| !recorded.contains(id)).copied().collect();
    Ok((missing, deleted))
}

/// Updates the documents whose coverage has changed.
async fn update_coverage(
    work: &mut dyn UnitOfWork,
    indexed: &HashMap<VersionId, IndexedVersion>,
) -> Result<(), Fault> {
    let changed = indexed.values().filter_map(|version| Some((version.revision, version.coverage.as_ref()?)));
    for (revision, coverage) in changed {
        if let Some(mut document) = work.documents().get(revision.document).await?
            && matches!(document.state, DocumentState::Ingested(_))
            && document.version_id == revision.version
        {
            document.coverage = Some(coverage.clone());
            work.documents().update(&document).await?;
        }
    }
    Ok(())
}
