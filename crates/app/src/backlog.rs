//! How much work waits, for those who watch the service.

use crate::{App, error::Result};
use chrono::TimeDelta;
use docent_domain::fault::{Component, Fault, FaultKind};
use std::time::Duration;

/// Whoever watches wants an answer soon, also when it is that there is none.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The job ledger in numbers, over all processes that share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Jobs that wait, also for a retry.
    pub queued: u64,
    /// Jobs that a runner holds.
    pub leased: u64,
    /// How long ago the oldest of all these was promised; zero when there is none.
    pub oldest_age: Duration,
}

/// Reads the ledger by one query, which costs what waits and not what is done.
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
