use super::*;
use std::sync::atomic::AtomicU32;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, yield_now};

/// Records with a changeable value, and reads that can be paused after they have seen it.
#[derive(Clone)]
struct Table(Arc<State>);

struct State {
    value: AtomicU32,
    reads: Mutex<Vec<Vec<u32>>>,
    began: Notify,
    may_end: Semaphore,
    fails: bool,
}

struct Reader(Table);

#[async_trait]
impl ReadMany<u32, (u32, u32)> for Reader {
    async fn read(&mut self, keys: &[u32]) -> Result<Vec<(u32, Result<(u32, u32)>)>> {
        let Table(state) = &self.0;
        let value = state.value.load(Ordering::SeqCst);
        state.reads.lock().unwrap().push(keys.to_vec());
        state.began.notify_one();
        state.may_end.acquire().await.unwrap().forget();
        if state.fails {
            return Err(Fault::new(Component::Database, FaultKind::Unavailable, "read").caused_by("cut off"));
        }
        // There is no record 0.
        Ok(keys.iter().filter(|key| **key > 0).map(|key| (*key, Ok((*key, value)))).collect())
    }
}

impl Table {
    fn new(fails: bool) -> (Self, Lookup<u32, (u32, u32)>) {
        let state = State {
            value: AtomicU32::new(1),
            reads: Mutex::default(),
            began: Notify::new(),
            may_end: Semaphore::new(0),
            fails,
        };
        let table = Self(Arc::new(state));
        let reader = table.clone();
        let lookup = Lookup::new("read", Duration::from_secs(60), move || Box::new(Reader(reader.clone())));
        (table, lookup)
    }

    /// Waits until a read has seen the records and is paused.
    async fn began(&self) {
        self.0.began.notified().await;
    }

    fn let_end(&self, reads: usize) {
        self.0.may_end.add_permits(reads);
    }

    fn reads(&self) -> Vec<Vec<u32>> {
        self.0.reads.lock().unwrap().clone()
    }
}

type Asked = JoinHandle<Result<Option<(u32, u32)>>>;

/// Starts a call, and returns once it is queued.
async fn ask(lookup: &Lookup<u32, (u32, u32)>, key: u32) -> Asked {
    let lookup = lookup.clone();
    let asked = tokio::spawn(async move { lookup.get(key).await });
    yield_now().await;
    asked
}

// Invariant: Concurrent requests share database reads, but never a read that started before the request.
#[tokio::test]
async fn calls_during_a_read_share_the_next_read() {
    let (table, lookup) = Table::new(false);
    let first = ask(&lookup, 1).await;
    table.began().await;
    let mut asked = Vec::new();
    for key in [2, 3, 0, 2, 3] {
        asked.push(ask(&lookup, key).await);
    }
    table.let_end(2);
    assert_eq!(first.await.unwrap().unwrap(), Some((1, 1)));
    let mut answers = Vec::new();
    for asked in asked {
        answers.push(asked.await.unwrap().unwrap().map(|(key, _)| key));
    }
    assert_eq!(answers, [Some(2), Some(3), None, Some(2), Some(3)]);
    assert_eq!(table.reads(), [vec![1], vec![2, 3, 0]]);
}

// Invariant: Concurrent requests share database reads, but never a read that started before the request.
#[tokio::test]
async fn earlier_read_does_not_answer_later_call() {
    let (table, lookup) = Table::new(false);
    let before = ask(&lookup, 1).await;
    table.began().await;
    table.0.value.store(2, Ordering::SeqCst);
    let after = ask(&lookup, 1).await;
    table.let_end(2);
    assert_eq!(before.await.unwrap().unwrap(), Some((1, 1)));
    assert_eq!(after.await.unwrap().unwrap(), Some((1, 2)));
    table.0.value.store(3, Ordering::SeqCst);
    table.let_end(1);
    assert_eq!(lookup.get(1).await.unwrap(), Some((1, 3)), "nothing is kept");
}

#[tokio::test]
async fn fault_reaches_every_call_of_the_read() {
    let (table, lookup) = Table::new(true);
    let mut asked = vec![ask(&lookup, 1).await];
    table.began().await;
    for key in [2, 2, 3] {
        asked.push(ask(&lookup, key).await);
    }
    table.let_end(2);
    for asked in asked {
        let fault = asked.await.unwrap().unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Unavailable);
        assert_eq!(fault.report(), "database: read: cut off");
    }
    assert_eq!(table.reads().len(), 2);
}

#[tokio::test]
async fn cancelled_calls_are_not_read() {
    let (table, lookup) = Table::new(false);
    let first = ask(&lookup, 1).await;
    table.began().await;
    let (leaves, stays) = (ask(&lookup, 2).await, ask(&lookup, 3).await);
    first.abort();
    leaves.abort();
    assert!(first.await.unwrap_err().is_cancelled() && leaves.await.unwrap_err().is_cancelled());
    table.let_end(2);
    assert_eq!(stays.await.unwrap().unwrap(), Some((3, 1)));
    assert_eq!(table.reads(), [vec![1], vec![3]]);
}

#[tokio::test]
async fn excess_keys_are_read_next() {
    let (table, lookup) = Table::new(false);
    let mut asked = vec![ask(&lookup, 1).await];
    table.began().await;
    for key in 2..=200 {
        asked.push(ask(&lookup, key).await);
    }
    table.let_end(10);
    for (asked, key) in asked.into_iter().zip(1..) {
        assert_eq!(asked.await.unwrap().unwrap(), Some((key, 1)));
    }
    let sizes: Vec<usize> = table.reads().iter().map(Vec::len).collect();
    assert_eq!(sizes, [1, BATCH, BATCH, BATCH, 7]);
}

#[tokio::test]
async fn queue_is_bounded() {
    let (table, lookup) = Table::new(false);
    let mut asked = vec![ask(&lookup, 1).await];
    table.began().await;
    for _ in 0..WAITING + 10 {
        asked.push(ask(&lookup, 2).await);
    }
    let waiting: usize = lookup.shared.lanes.iter().map(|lane| lane.queue().waiting.len()).sum();
    // The first one keeps its place until its read has ended.
    assert_eq!(waiting, WAITING - 1);
    table.let_end(10);
    for asked in asked {
        assert!(asked.await.unwrap().unwrap().is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn call_times_out() {
    let (table, lookup) = Table::new(false);
    let asked = ask(&lookup, 1).await;
    table.began().await;
    let late = asked.await.unwrap().unwrap_err();
    assert_eq!(late.kind(), FaultKind::Timeout);
}

#[test]
fn read_of_ended_runtime_is_repeated_on_another() {
    let (table, lookup) = Table::new(false);
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ending = runtime();
    ending.block_on(async {
        ask(&lookup, 1).await;
        table.began().await;
    });
    // It shares the lane, for it is on the same thread.
    let lasting = runtime();
    let waiting = lasting.block_on(ask(&lookup, 2));
    drop(ending);
    table.let_end(1);
    assert_eq!(lasting.block_on(waiting).unwrap().unwrap(), Some((2, 1)));
    assert_eq!(table.reads(), [vec![1], vec![2]]);
}
