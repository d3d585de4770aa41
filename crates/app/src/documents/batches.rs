//! Adds files to a collection, one or many at a time, and takes them out again.

use super::label::{self, CollectionsChange, LabelChange, label_in, label_known};
use crate::collections::{self, CollectionSettings, not_found};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, CreateCollections, Grant, ReadDocuments};
use docent_domain::attributes::Attributes;
use docent_domain::collection::Collection;
use docent_domain::document::{Document, DocumentState};
use docent_domain::error::ValidationError;
use docent_domain::file_batch::{BATCH_FILES_MAX, CollectionMetadata, FileBatch};
use docent_domain::id::{CollectionId, DocumentId, FileBatchId};
use docent_domain::listing::{DocumentFilter, FileFilter, TimeOrder};
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_ports::documents::DocumentCounts;
use docent_ports::store::UnitOfWork;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A file to add to a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct FileToAdd {
    /// Its document.
    pub id: DocumentId,
    /// The attributes that it is to have; `None` to keep those that it has.
    pub attributes: Option<Attributes>,
}

/// The state of a batch of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchProgress {
    /// The batch.
    pub batch: FileBatch,
    /// Its files that are still in the collection, by status.
    pub counts: DocumentCounts,
}

impl BatchProgress {
    /// Number of files that were deleted or taken out of the collection.
    pub fn cancelled(&self) -> u64 {
        let DocumentCounts { pending, ingested, failed } = self.counts;
        (self.batch.files.len() as u64).saturating_sub(pending + ingested + failed)
    }
}

/// Adds a file to a collection, or changes its attributes if the collection has it. It stays in its other collections.
///
/// # Errors
/// [`Error::NotFound`] for a collection or a file outside the scope; [`Error::Forbidden`] without the right to change the file or
/// to add to the collection; or when the database cannot be reached.
pub async fn add(app: &App, actor: &Actor, collection: CollectionId, file: FileToAdd) -> Result<Document> {
    let mut work = app.store.begin().await?;
    let added = add_in(app, &mut *work, actor, collection, &[file]).await?;
    work.commit().await?;
    notify(app, &added);
    added.into_iter().next().ok_or(Error::NotFound(RecordKind::Document))
}

/// Creates a shared collection with metadata and files, or nothing at all.
///
/// # Errors
/// As [`collections::create`] and [`add_batch`].
pub async fn create_collection(
    app: &App,
    actor: &Actor,
    settings: CollectionSettings,
    metadata: CollectionMetadata,
    files: &[FileToAdd],
) -> Result<Collection> {
    let grant = actor.authorize::<CreateCollections>()?;
    let mut work = app.store.begin().await?;
    let collection =
        collections::insert(app, &mut *work, actor, &grant, settings, Some(grant.user())).await?;
    work.collections().set_metadata(collection.id, &metadata).await?;
    let added = add_in(app, &mut *work, actor, collection.id, files).await?;
    work.commit().await?;
    notify(app, &added);
    Ok(collection)
}

/// Adds files to a collection, all or none. A file that is named several times with the same attributes counts once.
///
/// # Errors
/// As [`add`], and [`Error::Invalid`] for no or too many files, or one with different attributes.
pub async fn add_batch(
    app: &App,
    actor: &Actor,
    collection: CollectionId,
    files: &[FileToAdd],
) -> Result<BatchProgress> {
    if files.is_empty() {
        return Err(ValidationError::new("file_ids", "must have at least one file").into());
    }
    let mut work = app.store.begin().await?;
    let added = add_in(app, &mut *work, actor, collection, files).await?;
    let batch = FileBatch {
        id: app.new_id(FileBatchId::generate),
        collection,
        files: added.iter().map(|document| document.id).collect(),
        cancelled: BTreeSet::new(),
        is_cancelled: false,
        created_at: app.now(),
    };
    work.collections().put_file_batch(&batch).await?;
    work.commit().await?;
    notify(app, &added);
    progress(app, batch).await
}

/// Adds files to a collection in a unit of work.
pub(crate) async fn add_in(
    app: &App,
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    collection: CollectionId,
    files: &[FileToAdd],
) -> Result<Vec<Document>> {
    let attributes = distinct(files)?;
    let filter = DocumentFilter {
        ids: Some(attributes.keys().copied().collect()),
        files: Some(FileFilter::default()),
        // Units of work lock documents in the order of their creation, which their IDs have, too.
        order: TimeOrder::Oldest,
        ..DocumentFilter::of(Scope::SERVICE.clone())
    };
    let found = if files.is_empty() { Vec::new() } else { work.documents().list(&filter).await? };
    if found.len() < attributes.len() {
        return Err(Error::NotFound(RecordKind::Document));
    }
    let scope = scope::in_work(work, actor).await?;
    if scope.role_in(collection).is_none() {
        return Err(not_found());
    }
    // Read once: a batch has up to 2,000 files.
    let known =
        work.collections().get(collection).await?.map(|collection| collection.id).into_iter().collect();
    let mut added = Vec::with_capacity(found.len());
    for document in found {
        let document = super::get::readable(Some(document), &scope)?;
        let attributes = attributes.get(&document.id).copied().cloned().flatten();
        let change = LabelChange { collections: Some(CollectionsChange::Add(collection)), attributes };
        added.push(label_known(app, work, (actor, &scope), document, change, &known).await?);
    }
    Ok(added)
}

/// The attributes of the files.
fn distinct(files: &[FileToAdd]) -> Result<BTreeMap<DocumentId, &Option<Attributes>>> {
    let invalid = |reason: String| Err(ValidationError::new("file_ids", reason).into());
    if files.len() > BATCH_FILES_MAX {
        return invalid(format!("must have at most {BATCH_FILES_MAX} files"));
    }
    let mut distinct = BTreeMap::new();
    for FileToAdd { id, attributes } in files {
        if distinct.insert(*id, attributes).is_some_and(|other| other != attributes) {
            return invalid(format!("must not have the file {id} with different attributes"));
        }
    }
    Ok(distinct)
}

/// Returns which of these documents searches of a collection can miss, because the index does not have their labels yet.
///
/// # Errors
/// When the database cannot be reached.
pub async fn not_yet_searchable(app: &App, documents: &[Document]) -> Result<HashSet<DocumentId>> {
    let ids: Vec<_> = documents.iter().map(|document| document.id).collect();
    Ok(app.store.read_latest().await?.documents().with_stale_labels(&ids).await?)
}

/// Lets the background task write changed labels to the index.
pub(crate) fn notify(app: &App, documents: &[Document]) {
    documents.iter().for_each(|document| label::notify(app, document));
}

/// The file of a collection with this ID.
///
/// # Errors
/// [`Error::NotFound`] if the collection is outside the scope or does not have the file; or when the database cannot be reached.
pub async fn get(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    collection: CollectionId,
    id: DocumentId,
) -> Result<Document> {
    let within = scope.within(&[collection]).ok_or_else(not_found)?;
    let document = super::get::get(app, grant, &within, id).await?;
    Some(document).filter(|document| document.file.is_some()).ok_or(Error::NotFound(RecordKind::Document))
}

/// Gives a file of a collection these attributes, which it then has in all of its collections.
///
/// # Errors
/// As [`get`], and [`Error::Forbidden`] without the right to change the file.
pub async fn change(
    app: &App,
    actor: &Actor,
    (collection, id): (CollectionId, DocumentId),
    attributes: Attributes,
) -> Result<Document> {
    let mut work = app.store.begin().await?;
    let (document, scope) = in_collection(&mut *work, actor, collection, id).await?;
    let change = LabelChange { collections: None, attributes: Some(attributes) };
    let document = label_in(app, &mut *work, (actor, &scope), document, change).await?;
    work.commit().await?;
    label::notify(app, &document);
    Ok(document)
}

/// A file of a collection that the actor can see, and the scope of the actor.
async fn in_collection(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    collection: CollectionId,
    id: DocumentId,
) -> Result<(Document, Scope)> {
    let document = work.documents().get(id).await?;
    let scope = scope::in_work(work, actor).await?;
    if scope.role_in(collection).is_none() {
        return Err(not_found());
    }
    let has = |document: &Document| document.file.is_some() && document.collections.contains(&collection);
    Ok((document.filter(has).ok_or(Error::NotFound(RecordKind::Document))?, scope))
}

/// Takes a file out of a collection. A file of the actor that is in no other one goes to its personal collection.
///
/// # Errors
/// [`Error::NotFound`] if the collection is outside the scope or does not have the file; [`Error::Forbidden`] without the right;
/// [`Error::OnlyCollection`] for a file that is in no other one and has no other place; or when the database cannot be reached.
pub async fn remove(app: &App, actor: &Actor, collection: CollectionId, id: DocumentId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let (document, scope) = in_collection(&mut *work, actor, collection, id).await?;
    let document = remove_in(app, &mut *work, (actor, &scope), collection, document).await?;
    work.commit().await?;
    label::notify(app, &document);
    Ok(())
}

async fn remove_in(
    app: &App,
    work: &mut dyn UnitOfWork,
    (actor, scope): (&Actor, &Scope),
    collection: CollectionId,
    document: Document,
) -> Result<Document> {
    let personal = CollectionId::personal(actor.user());
    let is_moved = document.collections.iter().all(|id| *id == collection)
        && collection != personal
        && document.owner == Some(actor.user())
        && scope.role_in(personal).is_some();
    let is_only = document.collections.iter().all(|id| *id == collection);
    let change = match is_moved {
        true => CollectionsChange::Set(BTreeSet::from([personal])),
        false if is_only => return Err(Error::OnlyCollection),
        false => CollectionsChange::Remove(collection),
    };
    let change = LabelChange { collections: Some(change), attributes: None };
    label_in(app, work, (actor, scope), document, change).await
}

/// The batch of a collection with this ID.
///
/// # Errors
/// [`Error::NotFound`] if the collection is outside the scope; [`Error::BatchNotFound`]; or when the database cannot be reached.
pub async fn batch(
    app: &App,
    _grant: Grant<ReadDocuments>,
    scope: &Scope,
    collection: CollectionId,
    id: FileBatchId,
) -> Result<BatchProgress> {
    if scope.role_in(collection).is_none() {
        return Err(not_found());
    }
    let batch = app.store.read_latest().await?.collections().file_batch(id).await?;
    progress(app, of_collection(batch, collection)?).await
}

fn of_collection(batch: Option<FileBatch>, collection: CollectionId) -> Result<FileBatch> {
    batch.filter(|batch| batch.collection == collection).ok_or(Error::BatchNotFound)
}

async fn progress(app: &App, batch: FileBatch) -> Result<BatchProgress> {
    let mut view = app.store.read_latest().await?;
    let counts = view.documents().file_counts(&[batch.collection], Some(&batch.files)).await?;
    let counts = counts.get(&batch.collection).map(|counts| counts.documents).unwrap_or_default();
    Ok(BatchProgress { batch, counts })
}

/// Cancels a batch: takes its files that wait for ingestion out of the collection. They stay files of their owner. A batch whose
/// files are all processed stays as it is, and so does a file that the actor cannot take out.
///
/// # Errors
/// As [`batch`].
pub async fn cancel(
    app: &App,
    actor: &Actor,
    collection: CollectionId,
    id: FileBatchId,
) -> Result<BatchProgress> {
    let mut work = app.store.begin().await?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let within = scope.within(&[collection]).ok_or_else(not_found)?;
    let batch = of_collection(work.collections().file_batch(id).await?, collection)?;
    let filter = DocumentFilter {
        ids: Some(batch.files.clone()),
        status: Some("pending"),
        files: Some(FileFilter::default()),
        // Units of work lock documents in the order of their IDs.
        order: TimeOrder::Oldest,
        ..DocumentFilter::of(within)
    };
    let mut waiting = work.documents().list(&filter).await?;
    // Ingested files whose labels are not written yet stay.
    waiting.retain(|document| matches!(document.state, DocumentState::Pending(_)));
    if waiting.is_empty() {
        drop(work);
        return progress(app, batch).await;
    }
    let mut cancelled = batch.cancelled.clone();
    for document in waiting {
        let id = document.id;
        match remove_in(app, &mut *work, (actor, &scope), collection, document).await {
            Ok(_) => drop(cancelled.insert(id)),
            Err(Error::OnlyCollection | Error::Forbidden | Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let batch = FileBatch { cancelled, is_cancelled: true, ..batch };
    work.collections().put_file_batch(&batch).await?;
    work.commit().await?;
    progress(app, batch).await
}
