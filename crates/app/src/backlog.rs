//! The number of unfinished jobs, for monitoring.

use crate::App;
use crate::error::Result;
use chrono::TimeDelta;
use docent_domain::fault::{Component, Fault, FaultKind};
use std::time::Duration;

/// Monitoring must get a response soon, even if it is an error.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Numbers of unfinished jobs of the whole installation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Queued jobs, including those that wait for a retry.
    pub queued: u64,
    /// Jobs leased by a runner.
    pub leased: u64,
    /// The age of the oldest of these jobs; zero if there is none.
    pub oldest_age: Duration,
}

/// Counts the unfinished jobs with one query, whose cost does not depend on the number of finished jobs.
///
/// # Errors
/// When the database cannot be reached, or takes longer than a second.
pub async fn read(app: &App) -> Result<Backlog> {
    let counts = async { app.store.read().await?.jobs().counts().await };
    let late = |_| Err(Fault::new(Component::Database, FaultKind::Timeout, "counting jobs took over 1 s"));
    let counts = tokio::time::timeout(TIMEOUT, counts).await.unwrap_or_else(late)?;
    let age = counts.oldest.map_or(TimeDelta::zero(), |oldest| app.now() - oldest);
    Ok(Backlog { queued: counts.queued, leased: counts.leased, oldest_age: age.to_std().unwrap_or_default() })
}
