//! Actions on many documents at once.
//!
//! Each document has its own unit of work: a failure of one does not affect the others, and each has its own result.

use super::label::{self, CollectionsChange, LabelChange};
use super::{delete, retry};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, ChangeDocuments, DeleteDocuments, Grant, ViewDocuments};
use docent_domain::document::{Document, DocumentState};
use docent_domain::error::{Rule, ValidationError};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use std::collections::BTreeSet;

/// The maximum number of documents per request.
pub const BULK_MAX: usize = 200;

/// An action on many documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    /// Retry their ingestion.
    Retry,
    /// Delete them.
    Delete,
    /// Put them into this collection instead of those that they are in.
    Move(CollectionId),
    /// Add them to this collection.
    Add(CollectionId),
    /// Take them out of this collection.
    Remove(CollectionId),
}

impl BulkAction {
    /// The collection that it is about.
    const fn collection(self) -> Option<CollectionId> {
        match self {
            Self::Retry | Self::Delete => None,
            Self::Move(id) | Self::Add(id) | Self::Remove(id) => Some(id),
        }
    }
}

/// The result for one document, or the expected one.
#[derive(Debug)]
pub struct BulkItem {
    /// The document.
    pub id: DocumentId,
    /// Its title; none when it does not exist.
    pub title: Option<String>,
    /// Why the action fails, if it does.
    pub error: Option<Error>,
}

/// The expected result for each document, in the given order and without duplicates.
///
/// # Errors
/// [`Error::Invalid`] for more than [`BULK_MAX`] documents, or when the database cannot be reached.
pub async fn preview(
    app: &App,
    actor: &Actor,
    _grant: Grant<ViewDocuments>,
    action: BulkAction,
    ids: &[DocumentId],
) -> Result<Vec<BulkItem>> {
    let ids = distinct(ids)?;
    let scope = scope::load(app, actor).await?;
    let mut view = app.store.read().await?;
    let exists = match action.collection() {
        Some(id) => view.collections().get(id).await?.is_some(),
        None => true,
    };
    let mut items = Vec::with_capacity(ids.len());
    for id in ids {
        let document = view.documents().get(id).await?;
        let error = match &document {
            Some(document) => check(actor, &scope, action, document, exists).err(),
            None => Some(Error::NotFound(RecordKind::Document)),
        };
        items.push(BulkItem { id, title: document.map(|found| found.title.as_str().to_owned()), error });
    }
    Ok(items)
}

/// Performs the action on each document. After a fault of a component the remaining documents are not attempted.
///
/// # Errors
/// [`Error::Invalid`] for more than [`BULK_MAX`] documents, or when the database cannot be reached at all.
pub async fn run(
    app: &App,
    actor: &Actor,
    grant: Grant<ViewDocuments>,
    action: BulkAction,
    ids: &[DocumentId],
) -> Result<Vec<BulkItem>> {
    let mut items = preview(app, actor, grant, action, ids).await?;
    let mut has_fault = false;
    for item in items.iter_mut().filter(|item| item.error.is_none()) {
        if has_fault {
            item.error = Some(ValidationError::of("document", Rule::Processed).into());
            continue;
        }
        let result = match action {
            BulkAction::Retry => retry::retry(app, actor, item.id).await.map(drop),
            BulkAction::Delete => delete::delete(app, actor, item.id).await,
            BulkAction::Move(id) => {
                relabel(app, actor, item.id, CollectionsChange::Set(BTreeSet::from([id]))).await
            }
            BulkAction::Add(id) => relabel(app, actor, item.id, CollectionsChange::Add(id)).await,
            BulkAction::Remove(id) => relabel(app, actor, item.id, CollectionsChange::Remove(id)).await,
        };
        has_fault = matches!(result, Err(Error::Fault(_)));
        item.error = result.err();
    }
    Ok(items)
}

async fn relabel(app: &App, actor: &Actor, id: DocumentId, collections: CollectionsChange) -> Result<()> {
    let change = LabelChange { collections: Some(collections), attributes: None };
    label::label(app, actor, id, change).await.map(drop)
}

/// Checks the action in the document's current state. `exists` tells whether its collection does.
fn check(actor: &Actor, scope: &Scope, action: BulkAction, document: &Document, exists: bool) -> Result<()> {
    let change = match action {
        BulkAction::Retry => {
            actor.authorize_on::<ChangeDocuments>(scope, document)?;
            return match &document.state {
                DocumentState::Failed(_) => Ok(()),
                state => Err(Error::NotFailed { state: state.name() }),
            };
        }
        BulkAction::Delete => {
            actor.authorize_on::<DeleteDocuments>(scope, document)?;
            return Ok(());
        }
        BulkAction::Move(id) => CollectionsChange::Set(BTreeSet::from([id])),
        BulkAction::Add(id) => CollectionsChange::Add(id),
        BulkAction::Remove(id) => CollectionsChange::Remove(id),
    };
    let after = change.apply(actor, scope, document);
    let invalid = |rule| Err(ValidationError::of("document", rule).into());
    match action {
        BulkAction::Remove(_) if after == document.collections => return invalid(Rule::InCollection),
        _ if after == document.collections => return invalid(Rule::NotInCollection),
        _ if after.is_empty() => return invalid(Rule::InOtherCollection),
        _ => {}
    }
    label::check(actor, scope, document, (&after, &document.attributes), |_| exists).map_err(|error| {
        match error {
            // An account that views all documents knows that it exists.
            Error::NotFound(RecordKind::Document) => Error::Forbidden,
            error => error,
        }
    })
}

fn distinct(ids: &[DocumentId]) -> Result<Vec<DocumentId>> {
    let mut seen = std::collections::HashSet::new();
    let ids: Vec<_> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
    if ids.len() > BULK_MAX {
        return Err(ValidationError::new("documents", format!("must be at most {BULK_MAX}")).into());
    }
    Ok(ids)
}
