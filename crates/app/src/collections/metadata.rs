//! Collections as clients of the OpenAI API see them: with texts of their own, an expiry and counts of files.

use super::{managed, not_found};
use crate::App;
use crate::audit::{AuditTarget, Changes};
use crate::error::Result;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Actor, ChangeCollections};
use docent_domain::audit::AuditAction;
use docent_domain::collection::Collection;
use docent_domain::fault::Fault;
use docent_domain::file_batch::CollectionMetadata;
use docent_domain::id::CollectionId;
use docent_domain::scope::Scope;
use docent_ports::documents::FileCounts;

/// How long after a recorded use the next one is recorded. Collections expire after days.
const USE_PAUSE: TimeDelta = TimeDelta::hours(1);

/// A collection with its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedCollection {
    /// The collection.
    pub collection: Collection,
    /// Its metadata.
    pub metadata: CollectionMetadata,
    /// Its files.
    pub files: FileCounts,
}

/// These collections, which the actor may see, with their metadata and files, in their order.
///
/// # Errors
/// When the database cannot be reached.
pub async fn describe(app: &App, collections: Vec<Collection>) -> Result<Vec<DescribedCollection>> {
    let ids: Vec<CollectionId> = collections.iter().map(|collection| collection.id).collect();
    let mut view = app.store.read().await?;
    let mut metadata = view.collections().metadata(&ids).await?;
    let files = view.documents().file_counts(&ids, None).await?;
    let described = |collection: Collection| DescribedCollection {
        metadata: metadata
            .remove(&collection.id)
            .unwrap_or_else(|| CollectionMetadata::new(collection.updated_at)),
        files: files.get(&collection.id).copied().unwrap_or_default(),
        collection,
    };
    Ok(collections.into_iter().map(described).collect())
}

/// Changes the metadata of a collection.
///
/// # Errors
/// As [`change`](super::change).
pub async fn change(
    app: &App,
    actor: &Actor,
    id: CollectionId,
    change: impl FnOnce(CollectionMetadata) -> CollectionMetadata + Send,
) -> Result<()> {
    let mut work = app.store.begin().await?;
    let (collection, initiator) = managed::<ChangeCollections>(&mut *work, actor, id).await?;
    let before = work.collections().metadata(&[id]).await?.remove(&id);
    let before = before.unwrap_or_else(|| CollectionMetadata::new(collection.updated_at));
    let after = change(before.clone());
    if after == before {
        return Ok(());
    }
    work.collections().set_metadata(id, &after).await?;
    let days = |of: &CollectionMetadata| of.expires_after_days.map(|days| days.to_string());
    let changes = Changes::default().changed("metadata", text(&before), text(&after)).field(
        "expires_after_days",
        days(&before),
        days(&after),
    );
    if !changes.is_empty() {
        let target = AuditTarget::collection(&collection);
        app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    }
    Ok(work.commit().await?)
}

/// The texts of a client, for the audit log.
fn text(metadata: &CollectionMetadata) -> String {
    let entries = metadata.entries.entries().iter();
    entries.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ")
}

/// Records that a collection of the scope is used. Returns false, and records nothing, if it has expired.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for a collection outside the scope; or when the database cannot be reached.
pub async fn record_use(app: &App, scope: &Scope, id: CollectionId) -> Result<bool> {
    if scope.role_in(id).is_none() {
        return Err(not_found());
    }
    let stored = app.store.read_latest().await?.collections().metadata(&[id]).await?.remove(&id);
    let Some(metadata) = stored.filter(|of| of.expires_after_days.is_some()) else { return Ok(true) };
    let now = app.now();
    if metadata.is_expired(now) {
        return Ok(false);
    }
    if now - metadata.last_active_at >= USE_PAUSE
        && let Err(fault) = write_use(app, id, now).await
    {
        // A search needs no more than to read.
        tracing::warn!(collection = %id, fault = %fault.report(), "cannot record the use of a vector store");
    }
    Ok(true)
}

async fn write_use(app: &App, id: CollectionId, now: DateTime<Utc>) -> std::result::Result<(), Fault> {
    let mut work = app.store.begin().await?;
    // Changes of the metadata wait for the lock of the collection.
    if work.collections().get(id).await?.is_none() {
        return Ok(());
    }
    if let Some(metadata) = work.collections().metadata(&[id]).await?.remove(&id) {
        let used = CollectionMetadata { last_active_at: now, ..metadata };
        work.collections().set_metadata(id, &used).await?;
        work.commit().await?;
    }
    Ok(())
}
