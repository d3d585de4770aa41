//! Rollbacks in progress.

use sea_orm::DatabaseTransaction;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

/// Timeout of a rollback, and of a new unit of work that waits for it.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// Rollbacks of dropped units of work.
///
/// A destructor cannot wait for the server, which holds the unit's locks until the rollback arrives. Instead
/// the next unit of work of this process waits, so that it sees the dropped one undone.
#[derive(Clone, Debug)]
pub(super) struct Rollbacks(Arc<watch::Sender<usize>>);

impl Default for Rollbacks {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Rollbacks {
    /// Rolls back in the background.
    pub(super) fn start(&self, transaction: DatabaseTransaction) {
        // Without a runtime the driver cannot roll back; the server does when the connection closes.
        let Ok(runtime) = Handle::try_current() else { return };
        self.0.send_modify(|running| *running += 1);
        let ended = Ended(Arc::clone(&self.0));
        runtime.spawn(async move {
            // A failure means a lost connection, and then the server drops the transaction.
            let _ = timeout(ROLLBACK_TIMEOUT, transaction.rollback()).await;
            drop(ended);
        });
    }

    /// Waits until no rollback is in progress.
    pub(super) async fn ended(&self) {
        let mut running = self.0.subscribe();
        // If the server does not answer, the next statement reports it.
        let _ = timeout(ROLLBACK_TIMEOUT, running.wait_for(|running| *running == 0)).await;
    }
}

/// Counts a rollback as ended, also when its task is cancelled.
struct Ended(Arc<watch::Sender<usize>>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}
