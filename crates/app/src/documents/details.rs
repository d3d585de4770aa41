//! A document with its jobs, for staff.

use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Grant, ViewDocuments};
use docent_domain::document::Document;
use docent_domain::id::DocumentId;
use docent_domain::job::Job;
use docent_domain::metrics::Stage;
use docent_domain::permission::RecordKind;

/// A document and its ingestion.
#[derive(Debug)]
pub struct DocumentDetails {
    /// The document.
    pub document: Document,
    /// Its jobs, newest first.
    pub jobs: Vec<Job>,
    /// The current step of its ingestion, if this process runs it.
    pub stage: Option<Stage>,
}

/// The document with this ID and its ingestion.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewDocuments>, id: DocumentId) -> Result<DocumentDetails> {
    let mut view = app.store.read().await?;
    let document = view.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let jobs = view.jobs().of_document(id).await?;
    let stage = app.process.running.progress(id).map(|progress| progress.stage);
    Ok(DocumentDetails { document, jobs, stage })
}
