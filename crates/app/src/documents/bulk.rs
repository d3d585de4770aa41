//! Actions on many documents at once.
//!
//! Each document has its own unit of work: a failure of one does not affect the others, and each has its own result.

use super::{delete, retry};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, ChangeDocuments, DeleteDocuments, Grant, ViewDocuments};
use docent_domain::document::{Document, DocumentState};
use docent_domain::error::ValidationError;
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;

/// The maximum number of documents per request.
pub const BULK_MAX: usize = 200;

/// An action on many documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAction {
    /// Retry their ingestion.
    Retry,
    /// Delete them.
    Delete,
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
    let scope = scope::of(app, actor).await?;
    let mut view = app.store.read().await?;
    let mut items = Vec::with_capacity(ids.len());
    for id in ids {
        let document = view.documents().get(id).await?;
        let error = check(actor, &scope, action, document.as_ref());
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
            item.error =
                Some(ValidationError::new("document", "was not processed because a component failed").into());
            continue;
        }
        let result = match action {
            BulkAction::Retry => retry::retry(app, actor, item.id).await.map(drop),
            BulkAction::Delete => delete::delete(app, actor, item.id).await,
        };
        has_fault = matches!(result, Err(Error::Fault(_)));
        item.error = result.err();
    }
    Ok(items)
}

/// The error that the action would have in the document's current state.
fn check(actor: &Actor, scope: &Scope, action: BulkAction, document: Option<&Document>) -> Option<Error> {
    let Some(document) = document else { return Some(Error::NotFound(RecordKind::Document)) };
    let authorized = match action {
        BulkAction::Retry => actor.authorize_on::<ChangeDocuments>(scope, document).map(drop),
        BulkAction::Delete => actor.authorize_on::<DeleteDocuments>(scope, document).map(drop),
    };
    match (authorized, &document.state) {
        (Err(forbidden), _) => Some(forbidden.into()),
        (Ok(()), DocumentState::Failed(_)) => None,
        (Ok(()), state) => (action == BulkAction::Retry).then(|| Error::NotFailed { state: state.name() }),
    }
}

fn distinct(ids: &[DocumentId]) -> Result<Vec<DocumentId>> {
    let mut seen = std::collections::HashSet::new();
    let ids: Vec<_> = ids.iter().copied().filter(|id| seen.insert(*id)).collect();
    if ids.len() > BULK_MAX {
        return Err(ValidationError::new("documents", format!("must be at most {BULK_MAX}")).into());
    }
    Ok(ids)
}
