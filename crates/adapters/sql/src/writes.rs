//! The outcome of recent writes, which says whether the database can be written without another write.

use docent_domain::fault::{Fault, FaultKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// For this long after a write succeeded, the database counts as writable.
const SUCCEEDED: Duration = Duration::from_secs(10);
/// For this long after a write found no room, the database counts as full, unless a later one succeeds.
const FULL: Duration = Duration::from_secs(60);

/// Shared by the transactions of a store.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes(Arc<Mutex<Recent>>);

#[derive(Debug, Default)]
struct Recent {
    succeeded: Option<Instant>,
    full: Option<(Instant, Fault)>,
}

impl Writes {
    pub(super) fn succeeded(&self) {
        *self.recent() = Recent { succeeded: Some(Instant::now()), full: None };
    }

    pub(super) fn failed(&self, fault: &Fault) {
        let mut recent = self.recent();
        recent.succeeded = None;
        if fault.kind() == FaultKind::Full {
            recent.full = Some((Instant::now(), fault.clone()));
        }
    }

    /// Whether a write has succeeded lately, and none has failed since.
    pub(super) fn has_succeeded(&self) -> bool {
        self.recent().succeeded.is_some_and(|at| at.elapsed() < SUCCEEDED)
    }

    /// The fault of a write that found no room lately.
    pub(super) fn full(&self) -> Option<Fault> {
        let recent = self.recent();
        recent.full.as_ref().filter(|(at, _)| at.elapsed() < FULL).map(|(_, fault)| fault.clone())
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        // Each change is one assignment.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::fault::Component;

    #[test]
    fn last_write_decides() {
        let writes = Writes::default();
        let fail = |kind| writes.failed(&Fault::new(Component::Database, kind, "commit"));
        assert!(!writes.has_succeeded() && writes.full().is_none());
        writes.succeeded();
        assert!(writes.has_succeeded());
        fail(FaultKind::Timeout);
        assert!(!writes.has_succeeded() && writes.full().is_none());
        fail(FaultKind::Full);
        assert_eq!(writes.full().unwrap().kind(), FaultKind::Full);
        writes.succeeded();
        assert!(writes.has_succeeded() && writes.full().is_none());
    }
}
