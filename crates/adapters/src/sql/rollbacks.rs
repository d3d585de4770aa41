//! Rollbacks that a server has not answered yet.

use sea_orm::DatabaseTransaction;
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, sync::watch, time::timeout};

/// How long the server may take to roll back, and how long a new unit waits for that.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// The rollbacks of dropped units that are under way.
///
/// A destructor cannot wait for the server, which holds the unit's locks until it has heard of the
/// rollback. So that a unit is undone for the next one of this process, that one waits for it.
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
        // Without a runtime the driver could not do it either; the server does when the connection ends.
        let Ok(runtime) = Handle::try_current() else { return };
        self.0.send_modify(|running| *running += 1);
        let ended = Ended(Arc::clone(&self.0));
        runtime.spawn(async move {
            // What fails here is a lost connection, and with it the server drops the transaction.
            let _ = timeout(ROLLBACK_TIMEOUT, transaction.rollback()).await;
            drop(ended);
        });
    }

    /// Waits until none is under way.
    pub(super) async fn ended(&self) {
        let mut running = self.0.subscribe();
        // A server that does not answer is the business of whoever asks it next.
        let _ = timeout(ROLLBACK_TIMEOUT, running.wait_for(|running| *running == 0)).await;
    }
}

/// Counts a rollback off, also when its task is stopped.
struct Ended(Arc<watch::Sender<usize>>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}
