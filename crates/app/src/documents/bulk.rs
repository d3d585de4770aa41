//! Doing something to many documents at once.
//!
//! Each document is a unit of work of its own: what cannot be done to one does not hold up the others, and the
//! outcome tells of each.

use super::{delete, retry};
use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    access::{Actor, ChangeDocuments, DeleteDocuments, Grant, ViewDocuments},
    document::{Document, DocumentState},
    error::ValidationError,
    id::DocumentId,
    permission::RecordKind,
};

/// The most documents at once.
pub const BULK_MAX: usize = 200;

/// What is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkAct {
    /// Their ingestion is tried anew.
    Retry,
    /// They are deleted.
    Delete,
}

/// What would become of one document, or became of it.
#[derive(Debug)]
pub struct BulkItem {
    /// Which one.
    pub id: DocumentId,
    /// Its title; none when there is no such document.
    pub title: Option<String>,
    /// Why nothing would be done to it, or was.
    pub refusal: Option<Error>,
}

/// What would happen, document by document, in the order given and each once.
///
/// # Errors
/// [`Error::Invalid`] for more than [`BULK_MAX`] documents, or when the database cannot be reached.
pub async fn preview(
    app: &App,
    actor: &Actor,
    _grant: Grant<ViewDocuments>,
    act: BulkAct,
    ids: &[DocumentId],
) -> Result<Vec<BulkItem>> {
    let ids = distinct(ids)?;
    let mut view = app.store.read().await?;
    let mut items = Vec::with_capacity(ids.len());
    for id in ids {
        let document = view.documents().get(id).await?;
        let refusal = refusal(actor, act, document.as_ref());
        items.push(BulkItem { id, title: document.map(|found| found.title.as_str().to_owned()), refusal });
    }
    Ok(items)
}

/// Does it, document by document. A store that does not work ends it: what comes after is not tried, and told
/// as refused for the same reason.
///
/// # Errors
/// [`Error::Invalid`] for more than [`BULK_MAX`] documents, or when the database cannot be reached at all.
pub async fn run(
    app: &App,
    actor: &Actor,
    grant: Grant<ViewDocuments>,
    act: BulkAct,
    ids: &[DocumentId],
) -> Result<Vec<BulkItem>> {
    let mut items = preview(app, actor, grant, act, ids).await?;
    let mut is_broken = false;
    for item in items.iter_mut().filter(|item| item.refusal.is_none()) {
        if is_broken {
            item.refusal =
                Some(ValidationError::new("document", "not tried, since a part is not working").into());
            continue;
        }
        let done = match act {
            BulkAct::Retry => retry::retry(app, actor, item.id).await.map(drop),
            BulkAct::Delete => delete::delete(app, actor, item.id).await,
        };
        is_broken = matches!(done, Err(Error::Fault(_)));
        item.refusal = done.err();
    }
    Ok(items)
}

/// Why nothing can be done to a document, by what is known of it now.
fn refusal(actor: &Actor, act: BulkAct, document: Option<&Document>) -> Option<Error> {
    let Some(document) = document else { return Some(Error::NotFound(RecordKind::Document)) };
    let allowed = match act {
        BulkAct::Retry => actor.authorize_for::<ChangeDocuments>(document.owner).map(drop),
        BulkAct::Delete => actor.authorize_for::<DeleteDocuments>(document.owner).map(drop),
    };
    match (allowed, &document.state) {
        (Err(forbidden), _) => Some(forbidden.into()),
        (Ok(()), DocumentState::Failed(_)) => None,
        (Ok(()), state) => (act == BulkAct::Retry).then(|| Error::NotFailed { state: state.name() }),
    }
}

fn distinct(ids: &[DocumentId]) -> Result<Vec<DocumentId>> {
    let mut known = std::collections::HashSet::new();
    let ids: Vec<_> = ids.iter().copied().filter(|id| known.insert(*id)).collect();
    if ids.len() > BULK_MAX {
        return Err(ValidationError::new("documents", format!("at most {BULK_MAX} at once")).into());
    }
    Ok(ids)
}
