//! Singleton tasks in memory.

use super::{Held, Transaction};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::LeaseId;
use docent_ports::singleton_tasks::{SingletonTask, SingletonTaskWriter, TaskClaim};

#[async_trait]
impl SingletonTaskWriter for Transaction {
    async fn acquire(&mut self, claim: TaskClaim) -> Result<bool> {
        let TaskClaim { task, lease, now, until, done_by } = claim;
        self.write(|tables| {
            let held = tables.singleton_tasks.get(task.as_str()).copied();
            let is_free = held.is_none_or(|held| {
                held.until <= now && held.done_at.is_none_or(|done_at| done_at <= done_by)
            });
            if is_free {
                let done_at = held.and_then(|held| held.done_at);
                tables.singleton_tasks.insert(task.as_str(), Held { lease, until, done_at });
            }
            Ok(is_free)
        })
    }

    async fn renew(&mut self, task: SingletonTask, lease: LeaseId, until: DateTime<Utc>) -> Result<bool> {
        self.change(task, lease, |held| held.until = until)
    }

    async fn complete(&mut self, task: SingletonTask, lease: LeaseId, at: DateTime<Utc>) -> Result<bool> {
        self.change(task, lease, |held| (held.until, held.done_at) = (at, Some(at)))
    }
}

impl Transaction {
    fn change(
        &mut self,
        task: SingletonTask,
        lease: LeaseId,
        change: impl FnOnce(&mut Held),
    ) -> Result<bool> {
        self.write(|tables| {
            let held = tables.singleton_tasks.get_mut(task.as_str()).filter(|held| held.lease == lease);
            Ok(held.map(change).is_some())
        })
    }
}
