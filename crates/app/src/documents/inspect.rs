//! Everything that staff can know about one document.

use crate::{
    App,
    error::{Error, Result},
    recorder::Stage,
};
use docent_domain::{
    access::{Grant, ViewDocuments},
    document::Document,
    id::DocumentId,
    job::Job,
    permission::RecordKind,
};

/// A document and the work on it.
#[derive(Debug)]
pub struct Inspection {
    /// The document.
    pub document: Document,
    /// Its jobs, newest first.
    pub jobs: Vec<Job>,
    /// The step that its ingestion is at, when that is under way in this process.
    pub stage: Option<Stage>,
}

/// Looks at one document.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn inspect(app: &App, _grant: Grant<ViewDocuments>, id: DocumentId) -> Result<Inspection> {
    let mut view = app.store.read().await?;
    let document = view.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let jobs = view.jobs().of_document(id).await?;
    let stage = app.running.stage(id);
    Ok(Inspection { document, jobs, stage })
}
