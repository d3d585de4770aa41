//! What staff see first: how much there is, what waits, and what went wrong lately.

use crate::{App, error::Result};
use docent_domain::{
    access::{EnterAdmin, Grant},
    document::Document,
};
use docent_ports::documents::DocumentFilter;
pub use docent_ports::{documents::DocumentCounts, jobs::JobCounts};

const RECENT: u64 = 5;

/// The numbers, all of one instant.
#[derive(Debug)]
pub struct Overview {
    /// Documents by state.
    pub documents: DocumentCounts,
    /// Work that waits or is under way.
    pub jobs: JobCounts,
    /// The newest documents that failed.
    pub failures: Vec<Document>,
}

/// Reads the numbers.
///
/// # Errors
/// When the database cannot be reached.
pub async fn overview(app: &App, _grant: Grant<EnterAdmin>) -> Result<Overview> {
    let mut view = app.store.read().await?;
    let failed = DocumentFilter { status: Some("failed"), limit: Some(RECENT), ..DocumentFilter::default() };
    Ok(Overview {
        documents: view.documents().counts().await?,
        jobs: view.jobs().counts().await?,
        failures: view.documents().list(&failed).await?,
    })
}
