//! Writing down what answers cost.

use crate::{App, error::Result};
use docent_domain::usage::UsageRecord;

/// Adds a line to the usage ledger.
///
/// # Errors
/// When the database cannot be reached.
pub async fn record(app: &App, record: &UsageRecord) -> Result<()> {
    let mut work = app.store.begin().await?;
    work.usage().insert(record).await?;
    work.commit().await?;
    Ok(())
}
