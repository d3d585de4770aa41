//! Batched reads of single records.
//!
//! Calls that arrive during a read wait, and the next read answers all of them. Results are not cached: each
//! read starts after the calls it answers.

use super::fault::late;
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

/// Maximum number of keys per read.
pub(super) const BATCH: usize = 64;

/// Maximum number of queued calls per lane; further calls wait for a place in the queue.
const WAITING: usize = 1024;

/// Number of lanes. The calls of one thread share a lane, and its reads run on that thread, so that an answer
/// wakes no other thread. Threads beyond this number share lanes.
const LANES: usize = 16;

/// Reads records by their keys.
#[async_trait]
pub(super) trait ReadMany<K, V>: Send {
    /// Reads the existing records among these keys, in any order. An invalid record is a fault of that record
    /// only.
    ///
    /// There are 1 to [`BATCH`] distinct keys.
    async fn read(&mut self, keys: &[K]) -> Result<Vec<(K, Result<V>)>>;
}

/// Creates a reader, which is used until the queue is empty.
type NewReader<K, V> = dyn Fn() -> Box<dyn ReadMany<K, V>> + Send + Sync;

/// Reads single records of one kind. Clones share their reads.
pub(super) struct Lookup<K, V> {
    shared: Arc<Shared<K, V>>,
    statement_timeout: Duration,
    doing: &'static str,
}

struct Shared<K, V> {
    lanes: [Lane<K, V>; LANES],
    reader: Box<NewReader<K, V>>,
}

struct Lane<K, V> {
    queue: Mutex<Queue<K, V>>,
    places: Arc<Semaphore>,
}

struct Queue<K, V> {
    waiting: Vec<Waiting<K, V>>,
    /// Whether a task is reading and will take from this queue next.
    is_served: bool,
}

struct Waiting<K, V> {
    key: K,
    answer: oneshot::Sender<Result<Option<V>>>,
    _place: OwnedSemaphorePermit,
}

impl<K, V> Lookup<K, V>
where
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Creates a lookup that reads with `reader`. Faults are named after `doing`, and `statement_timeout` limits
    /// each call.
    pub(super) fn new(
        doing: &'static str,
        statement_timeout: Duration,
        reader: impl Fn() -> Box<dyn ReadMany<K, V>> + Send + Sync + 'static,
    ) -> Self {
        let lanes = std::array::from_fn(|_| Lane {
            queue: Mutex::new(Queue { waiting: Vec::new(), is_served: false }),
            places: Arc::new(Semaphore::new(WAITING)),
        });
        Self { shared: Arc::new(Shared { lanes, reader: Box::new(reader) }), statement_timeout, doing }
    }

    /// Reads the record with this key, as committed at the time of the call or later.
    ///
    /// # Errors
    /// Those of the read; `Timeout` if there is no answer in time.
    pub(super) async fn get(&self, key: K) -> Result<Option<V>> {
        timeout(self.statement_timeout, self.ask(key)).await.unwrap_or_else(|_| Err(late(self.doing)))
    }

    async fn ask(&self, key: K) -> Result<Option<V>> {
        // A read is cancelled when its runtime shuts down. The second attempt runs on the caller's runtime.
        for _ in 0..2 {
            let lane = lane();
            let Ok(place) = Arc::clone(&self.shared.lanes[lane].places).acquire_owned().await else { break };
            let (answer, answered) = oneshot::channel();
            let is_served = {
                let mut queue = self.shared.lanes[lane].queue();
                queue.waiting.push(Waiting { key, answer, _place: place });
                mem::replace(&mut queue.is_served, true)
            };
            if !is_served {
                tokio::spawn(serve(Service { shared: Arc::clone(&self.shared), lane, is_over: false }));
            }
            if let Ok(answer) = answered.await {
                return answer;
            }
        }
        Err(Fault::new(Component::Database, FaultKind::Unavailable, self.doing)
            .caused_by("the read was cancelled"))
    }
}

impl<K, V> Clone for Lookup<K, V> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            statement_timeout: self.statement_timeout,
            doing: self.doing,
        }
    }
}

impl<K, V> Debug for Lookup<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookup").field("doing", &self.doing).finish_non_exhaustive()
    }
}

impl<K, V> Lane<K, V> {
    fn queue(&self) -> MutexGuard<'_, Queue<K, V>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane of this thread.
fn lane() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static LANE: usize = THREADS.fetch_add(1, Ordering::Relaxed) % LANES;
    }
    LANE.with(|lane| *lane)
}

/// The task that reads for a lane.
struct Service<K, V> {
    shared: Arc<Shared<K, V>>,
    lane: usize,
    /// Whether the queue was empty; another task may be reading already.
    is_over: bool,
}

impl<K, V> Drop for Service<K, V> {
    /// If the runtime shuts down, the waiting calls lose their channels and ask again.
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut queue = self.shared.lanes[self.lane].queue();
        queue.is_served = false;
        let lost = mem::take(&mut queue.waiting);
        drop(queue);
        drop(lost);
    }
}

async fn serve<K, V>(mut service: Service<K, V>)
where
    K: Copy + Eq + Hash + Send + Sync,
    V: Clone + Send + Sync,
{
    let mut reader = (service.shared.reader)();
    while let Some((keys, callers)) = service.next() {
        let found = match reader.read(&keys).await {
            Ok(found) => Ok(found.into_iter().collect::<HashMap<_, _>>()),
            Err(fault) => Err(fault),
        };
        for caller in callers {
            let answer = match &found {
                Ok(found) => found.get(&caller.key).cloned().transpose(),
                Err(fault) => Err(fault.clone()),
            };
            // The caller may have been cancelled.
            let _ = caller.answer.send(answer);
        }
    }
}

/// Distinct keys and the calls for them.
type Batch<K, V> = (Vec<K>, Vec<Waiting<K, V>>);

impl<K: Copy + Eq + Hash, V> Service<K, V> {
    /// Takes the next batch; none if the queue is empty, and then another task may read.
    fn next(&mut self) -> Option<Batch<K, V>> {
        let mut queue = self.shared.lanes[self.lane].queue();
        let mut keys = Vec::new();
        let mut callers = Vec::new();
        let mut later = Vec::new();
        for caller in mem::take(&mut queue.waiting) {
            if caller.answer.is_closed() {
                continue;
            }
            let is_known = keys.contains(&caller.key);
            if !is_known && keys.len() == BATCH {
                later.push(caller);
                continue;
            }
            if !is_known {
                keys.push(caller.key);
            }
            callers.push(caller);
        }
        queue.waiting = later;
        queue.is_served = !keys.is_empty();
        self.is_over = keys.is_empty();
        (!self.is_over).then_some((keys, callers))
    }
}

#[cfg(test)]
mod tests;
