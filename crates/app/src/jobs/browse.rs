//! Jobs as staff see them.

use crate::App;
use crate::error::Result;
use docent_domain::access::{Grant, ViewJobs};
use docent_domain::job::Job;
use docent_domain::listing::{JobFilter, Page, PageRequest};

/// Jobs of a kind, the one that changed last first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewJobs>,
    filter: JobFilter,
    page: PageRequest,
) -> Result<Page<Job>> {
    Ok(app.store.read().await?.jobs().list(filter, page).await?)
}

/// The number of jobs that are queued or running.
///
/// # Errors
/// When the database cannot be reached.
pub async fn unfinished(app: &App) -> Result<u64> {
    let counts = app.store.read().await?.jobs().counts().await?;
    Ok(counts.queued + counts.leased)
}
