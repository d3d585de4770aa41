//! Waits until a document is ingested, for clients that expect an upload to be searchable when it is answered.

use super::delete::delete;
use super::upload::{Upload, Uploaded};
use crate::App;
use crate::error::{Error, Result};
use chrono::TimeDelta;
use docent_domain::access::Actor;
use docent_domain::document::{Document, DocumentState};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::DocumentId;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument;

/// The longest time between two looks at a document that another process ingests.
const POLL: Duration = Duration::from_secs(1);

/// How a wait for the ingestion of a document has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum IngestionEnd {
    /// The document is searchable with its newest file.
    Ingested(Box<Document>),
    /// Its newest file cannot be ingested, for this reason.
    Failed(String),
    /// The document was deleted.
    Deleted,
    /// The time is over; the reason for the delay, if a component is unavailable.
    TimedOut(Option<String>),
}

/// Waits until the newest file of a document is ingested or has failed, at most for `timeout`.
///
/// # Errors
/// When the database cannot be reached.
pub async fn until_ingested(app: &App, id: DocumentId, timeout: Duration) -> Result<IngestionEnd> {
    let until = app.now() + TimeDelta::from_std(timeout).unwrap_or(TimeDelta::MAX);
    loop {
        // Registered before the document is read, so that no end is missed.
        let mut ended = pin!(app.process.ended_jobs.notified());
        ended.as_mut().enable();
        let document = app.store.read_latest().await?.documents().get(id).await?;
        let Some(document) = document else { return Ok(IngestionEnd::Deleted) };
        if document.upcoming().is_none() {
            return Ok(end_of(document));
        }
        let left = (until - app.now()).to_std().unwrap_or_default();
        if left.is_zero() {
            return Ok(IngestionEnd::TimedOut(reason_for_delay(app, id).await?));
        }
        tokio::select! {
            () = ended => {}
            () = app.sleep(left.min(POLL)) => {}
        }
    }
}

/// The end of the ingestion of a document that waits for no other.
fn end_of(document: Document) -> IngestionEnd {
    if let Some(failure) = document.failed_replacement() {
        return IngestionEnd::Failed(failure.reason.clone());
    }
    match &document.state {
        DocumentState::Failed(failed) => IngestionEnd::Failed(failed.failure.reason.clone()),
        DocumentState::Ingested(_) | DocumentState::Pending(_) => IngestionEnd::Ingested(Box::new(document)),
    }
}

async fn reason_for_delay(app: &App, id: DocumentId) -> Result<Option<String>, Fault> {
    let jobs = app.store.read_latest().await?.jobs().of_document(id).await?;
    Ok(jobs.into_iter().find_map(|job| job.wait).map(|wait| wait.reason))
}

/// A new document that is deleted again unless its client learns of it: dropping it deletes the document.
#[allow(missing_debug_implementations, reason = "the use cases have no debug form")]
pub struct Provisional {
    app: Arc<App>,
    actor: Actor,
    document: Option<DocumentId>,
}

impl Provisional {
    /// The actor's new document.
    pub fn new(app: Arc<App>, actor: Actor, document: DocumentId) -> Self {
        Self { app, actor, document: Some(document) }
    }

    /// Keeps the document.
    pub fn keep(mut self) {
        self.document = None;
    }
}

impl Drop for Provisional {
    fn drop(&mut self) {
        let Some(id) = self.document.take() else { return };
        let (app, actor) = (Arc::clone(&self.app), self.actor.clone());
        self.app.spawn(async move {
            match discard(&app, &actor, id).await {
                Ok(()) | Err(Error::NotFound(_)) => {}
                Err(error) => {
                    app.note_error(&error);
                    tracing::warn!(document = %id, error = %docent_domain::fault::report(&error), "a document that its client does not know could not be deleted");
                }
            }
        });
    }
}

/// Finishes an upload for a client that has to learn of the document. A new document is deleted when the guard is dropped, also if
/// the client stops waiting before the upload is finished.
///
/// # Errors
/// As [`Upload::finish`].
pub async fn finish(
    upload: Upload,
    app: &Arc<App>,
    actor: &Actor,
) -> Result<(Uploaded, Option<Provisional>)> {
    let (app, actor) = (Arc::clone(app), actor.clone());
    let work = async move {
        let uploaded = upload.finish().await?;
        let id = uploaded.document.id;
        let provisional = is_first_version(&uploaded.document).then(|| Provisional::new(app, actor, id));
        Ok((uploaded, provisional))
    };
    tokio::spawn(work.in_current_span()).await.map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "finishing an upload failed").caused_by(error)
    })?
}

/// Deletes a document, unless another upload has given it a new file meanwhile.
async fn discard(app: &App, actor: &Actor, id: DocumentId) -> Result<()> {
    let document = app.store.read_latest().await?.documents().get(id).await?;
    match document.is_some_and(|document| is_first_version(&document)) {
        true => delete(app, actor, id).await,
        false => Ok(()),
    }
}

/// Whether a document has no other file than its first.
fn is_first_version(document: &Document) -> bool {
    document.version == 1 && document.replacement.is_none()
}
