//! Queues ingestions.
//!
//! A document has at most one unfinished ingestion: two could ingest the same version, and a failing one remove the chunks of the
//! other. A unit of work calls [`restart`] before it reads the document, since runners lock a job before its document, and [`add`] if
//! there was nothing to restart.

use crate::App;
use docent_domain::fault::Result;
use docent_domain::id::{DocumentId, JobId, UserId};
use docent_domain::job::{Job, JobKind};
use docent_domain::trace::TraceParent;
use docent_ports::store::UnitOfWork;

/// Restarts the unfinished ingestion of a document. Returns whether there is one.
///
/// # Errors
/// If the database fails; the unit of work cannot be used any more.
pub(crate) async fn restart(app: &App, work: &mut dyn UnitOfWork, document: DocumentId) -> Result<bool> {
    work.jobs().restart_ingestion(document, app.now()).await
}

/// Queues the ingestion of a document on behalf of an account.
///
/// # Errors
/// If the database fails; the unit of work cannot be used any more.
pub(crate) async fn add(
    app: &App,
    work: &mut dyn UnitOfWork,
    document: DocumentId,
    owner: Option<UserId>,
    trace: Option<TraceParent>,
) -> Result<()> {
    let job = Job::new(app.new_id(JobId::generate), JobKind::Ingest, document, owner, app.now());
    work.jobs().insert(&Job { trace, ..job }).await
}
