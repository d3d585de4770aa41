//! Shares the workers that draw pages between accounts.
//!
//! A hostile page takes all the time that a drawing has. Accounts therefore take turns, and none has all workers.

use crate::error::{Error, Result};
use docent_domain::id::UserId;
use docent_ports::clock::Clock;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Maximum number of drawings that an account has at the same time, however many workers there are.
const ACCOUNT_RUNNING: usize = 2;
/// Maximum number of requests of an account that wait. A reader who scrolls has two.
const ACCOUNT_WAITING: usize = 16;
/// Maximum number of requests that wait.
const WAITING: usize = 256;
/// How long a request waits.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How long the refusal of a request beyond those takes. A client that asks again at once then costs little.
const REFUSAL_DELAY: Duration = Duration::from_secs(1);
/// When a refused client should try again.
const RETRY_AFTER: Duration = Duration::from_secs(3);

/// The drawings of this process, and the requests that wait for one.
#[derive(Debug)]
pub(crate) struct DrawingQueue {
    /// Maximum number of drawings at the same time.
    workers: usize,
    /// The same of one account.
    per_account: usize,
    state: Mutex<State>,
    /// Notified when a drawing starts or ends, or a request stops waiting.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The numbers of drawings by account.
    running: HashMap<UserId, usize>,
    /// The accounts with waiting requests in the order of their turns, and the requests of each in the order of arrival.
    waiting: VecDeque<(UserId, VecDeque<u64>)>,
    last_request: u64,
}

impl State {
    /// The account whose turn it is: the first that has no more drawings than it may have.
    fn next(&self, queue: &DrawingQueue) -> Option<usize> {
        let all: usize = self.running.values().sum();
        let has_room = |account| self.running.get(account).is_none_or(|count| *count < queue.per_account);
        self.waiting.iter().position(|(account, _)| has_room(account)).filter(|_| all < queue.workers)
    }

    fn waiting_of(&mut self, account: UserId) -> Option<&mut VecDeque<u64>> {
        self.waiting.iter_mut().find(|(of, _)| *of == account).map(|(_, requests)| requests)
    }
}

impl DrawingQueue {
    /// Creates a queue for this number of workers, at least two, so that no account has all of them.
    pub(crate) fn new(workers: usize) -> Self {
        let workers = workers.max(2);
        let per_account = (workers / 2).min(ACCOUNT_RUNNING);
        Self { workers, per_account, state: Mutex::default(), changed: Notify::new() }
    }

    /// Waits until it is the account's turn. Cancel-safe: a dropped request no longer waits.
    ///
    /// # Errors
    /// [`Error::DrawingQueueFull`] when too many requests wait, or this one has waited too long.
    pub(crate) async fn enter(&self, clock: &dyn Clock, account: UserId) -> Result<DrawingTurn<'_>> {
        let Some(mut turn) = self.join(account) else {
            clock.sleep(REFUSAL_DELAY).await;
            return Err(full());
        };
        let wait = async {
            loop {
                // Created before the check, so that no change after it is missed.
                let changed = self.changed.notified();
                if turn.start() {
                    break;
                }
                changed.await;
            }
        };
        tokio::select! {
            biased;
            () = wait => Ok(turn),
            () = clock.sleep(WAIT_MAX) => Err(full()),
        }
    }

    /// `None` when too many requests wait.
    fn join(&self, account: UserId) -> Option<DrawingTurn<'_>> {
        let mut state = self.lock();
        let all: usize = state.waiting.iter().map(|(_, requests)| requests.len()).sum();
        let own = state.waiting_of(account).map_or(0, |requests| requests.len());
        if all >= WAITING || own >= ACCOUNT_WAITING {
            return None;
        }
        state.last_request += 1;
        let request = state.last_request;
        match state.waiting_of(account) {
            Some(requests) => requests.push_back(request),
            None => state.waiting.push_back((account, VecDeque::from([request]))),
        }
        Some(DrawingTurn { queue: self, account, request, is_running: false })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn full() -> Error {
    Error::DrawingQueueFull { retry_after: RETRY_AFTER }
}

/// A request that waits for its turn, or the permission to draw. Dropping it lets the next request start.
#[derive(Debug)]
pub(crate) struct DrawingTurn<'a> {
    queue: &'a DrawingQueue,
    account: UserId,
    request: u64,
    is_running: bool,
}

impl DrawingTurn<'_> {
    /// Starts the drawing if it is its turn; returns whether it is.
    fn start(&mut self) -> bool {
        let mut state = self.queue.lock();
        let next = state.next(self.queue);
        let is_next = |(_, requests): &(_, VecDeque<u64>)| requests.front() == Some(&self.request);
        let Some(at) = next.filter(|at| state.waiting.get(*at).is_some_and(is_next)) else { return false };
        if let Some((account, mut requests)) = state.waiting.remove(at) {
            requests.pop_front();
            if !requests.is_empty() {
                // The other accounts have their turns before its next request.
                state.waiting.push_back((account, requests));
            }
        }
        *state.running.entry(self.account).or_default() += 1;
        self.is_running = true;
        drop(state);
        // There may be another free worker for the request that is next now.
        self.queue.changed.notify_waiters();
        true
    }
}

impl Drop for DrawingTurn<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        if self.is_running {
            if let Some(count) = state.running.get_mut(&self.account) {
                *count = count.saturating_sub(1);
            }
            state.running.retain(|_, count| *count > 0);
        } else {
            if let Some(requests) = state.waiting_of(self.account) {
                requests.retain(|request| *request != self.request);
            }
            state.waiting.retain(|(_, requests)| !requests.is_empty());
        }
        drop(state);
        self.queue.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::clock::TestClock;
    use futures::future::BoxFuture;
    use futures::{FutureExt, poll};
    use std::task::Poll;
    use uuid::Uuid;

    type Entering<'a> = BoxFuture<'a, Result<DrawingTurn<'a>>>;

    fn account(number: u128) -> UserId {
        UserId::from_uuid(Uuid::from_u128(number))
    }

    /// Whether a request has its turn, which is then held.
    async fn has_turn<'a>(request: &mut Entering<'a>, held: &mut Vec<DrawingTurn<'a>>) -> bool {
        match poll!(request) {
            Poll::Ready(turn) => held.push(turn.unwrap()),
            Poll::Pending => return false,
        }
        true
    }

    #[tokio::test]
    async fn accounts_take_turns_and_none_has_all_workers() {
        let (clock, queue) = (TestClock::default(), DrawingQueue::new(2));
        let enter = |number| queue.enter(&clock, account(number)).boxed();
        let [mut ada, mut bob, mut carl] = [Vec::new(), Vec::new(), Vec::new()];
        let [mut first, mut second, mut third] = [enter(1), enter(1), enter(1)];
        assert!(has_turn(&mut first, &mut ada).await);
        assert!(!has_turn(&mut second, &mut ada).await, "the other worker is for other accounts");
        assert!(!has_turn(&mut third, &mut ada).await);
        assert!(has_turn(&mut enter(2), &mut bob).await);
        let mut of_carl = enter(3);
        assert!(!has_turn(&mut of_carl, &mut carl).await);
        ada.clear();
        assert!(has_turn(&mut second, &mut ada).await, "it has waited longest");
        assert!(!has_turn(&mut of_carl, &mut carl).await);
        ada.clear();
        assert!(!has_turn(&mut third, &mut ada).await, "it is the turn of another account");
        assert!(has_turn(&mut of_carl, &mut carl).await);
        bob.clear();
        assert!(has_turn(&mut third, &mut ada).await);
    }

    #[tokio::test]
    async fn dropped_request_no_longer_waits() {
        let (clock, queue) = (TestClock::default(), DrawingQueue::new(2));
        let enter = || queue.enter(&clock, account(1)).boxed();
        let mut held = Vec::new();
        let [mut first, mut second, mut third] = [enter(), enter(), enter()];
        assert!(has_turn(&mut first, &mut held).await);
        assert!(!has_turn(&mut second, &mut held).await && !has_turn(&mut third, &mut held).await);
        drop(second);
        held.clear();
        assert!(has_turn(&mut third, &mut held).await);
        held.clear();
        let state = queue.lock();
        assert!(state.running.is_empty() && state.waiting.is_empty());
    }

    #[tokio::test]
    async fn request_that_waits_too_long_or_behind_too_many_is_refused() {
        let (clock, queue) = (TestClock::default(), DrawingQueue::new(2));
        let mut held = Vec::new();
        let mut requests: Vec<_> =
            (0..=ACCOUNT_WAITING).map(|_| queue.enter(&clock, account(1)).boxed()).collect();
        assert!(has_turn(&mut requests[0], &mut held).await);
        for request in &mut requests[1..] {
            assert!(!has_turn(request, &mut held).await);
        }
        let refused = |turn: Poll<Result<DrawingTurn<'_>>>| match turn {
            Poll::Ready(Err(Error::DrawingQueueFull { retry_after })) => assert_eq!(retry_after, RETRY_AFTER),
            other => panic!("{other:?}"),
        };
        let mut beyond = queue.enter(&clock, account(1)).boxed();
        assert!(!has_turn(&mut beyond, &mut held).await);
        clock.advance(REFUSAL_DELAY);
        refused(poll!(beyond));
        assert!(has_turn(&mut queue.enter(&clock, account(2)).boxed(), &mut held).await);
        clock.advance(WAIT_MAX);
        for request in &mut requests[1..] {
            refused(poll!(request));
        }
        assert!(queue.lock().waiting.is_empty());
    }

    #[tokio::test]
    async fn account_has_at_most_two_of_many_workers() {
        let (clock, queue) = (TestClock::default(), DrawingQueue::new(8));
        let mut held = Vec::new();
        let mut turns = Vec::new();
        for _ in 0..3 {
            turns.push(has_turn(&mut queue.enter(&clock, account(1)).boxed(), &mut held).await);
        }
        assert_eq!(turns, [true, true, false]);
    }
}
