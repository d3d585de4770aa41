//! Mutual exclusion by key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// One lock per key, within this process.
#[derive(Debug, Default)]
pub struct KeyedLocks {
    locks: Mutex<HashMap<String, Arc<AsyncMutex<()>>>>,
}

impl KeyedLocks {
    /// Waits for the key's lock, which is held until the guard is dropped. Cancel-safe.
    pub async fn lock(&self, key: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            // A lock that is held or awaited has more than one owner; the others are removed.
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry(key.to_owned()).or_default())
        };
        lock.lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn locks_of_one_key_exclude_each_other_and_unused_ones_are_removed() {
        let locks = KeyedLocks::default();
        let first = locks.lock("a").await;
        let _other = locks.lock("b").await;
        {
            let second = locks.lock("a");
            tokio::pin!(second);
            assert!(futures::poll!(&mut second).is_pending());
            drop(first);
            second.await;
        }
        let _third = locks.lock("c").await;
        assert_eq!(locks.locks.lock().unwrap().len(), 2);
    }
}
