//! One at a time, by key.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Lets those with the same key take turns, within this process.
#[derive(Debug, Default)]
pub struct Turns {
    locks: Mutex<HashMap<String, Arc<AsyncMutex<()>>>>,
}

impl Turns {
    /// Waits for the key's turn; it lasts until the guard is dropped. Cancel-safe.
    pub async fn turn(&self, key: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            // Only those that somebody holds or waits for are shared.
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
    async fn one_key_takes_turns_and_others_do_not_wait() {
        let turns = Turns::default();
        let first = turns.turn("a").await;
        let _other = turns.turn("b").await;
        {
            let second = turns.turn("a");
            tokio::pin!(second);
            assert!(futures::poll!(&mut second).is_pending());
            drop(first);
            second.await;
        }
        let _third = turns.turn("c").await;
        assert_eq!(turns.locks.lock().unwrap().len(), 2, "what nobody uses is forgotten");
    }
}
