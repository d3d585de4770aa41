//! The documents that this process recognises at the same time, and whose turn is next.

use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::id::UserId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long after its last attempt an owner counts as waiting. Several times the pause between two attempts.
const WAITING: TimeDelta = TimeDelta::seconds(10);

/// The owner of a document; `None` for documents whose account was deleted.
type Owner = Option<UserId>;

/// The places for documents that are recognised at the same time. Owners take turns, however many documents each has.
#[derive(Debug)]
pub(crate) struct Recognitions {
    places: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    /// When each waiting owner last asked for a place.
    waiting: HashMap<Owner, DateTime<Utc>>,
    /// The number of each owner's last turn, while one is waiting.
    turns: HashMap<Owner, u64>,
    last_turn: u64,
}

impl State {
    fn forget_absent(&mut self, now: DateTime<Utc>) {
        self.waiting.retain(|_, asked| now - *asked < WAITING);
        if self.waiting.is_empty() && self.taken == 0 {
            self.turns.clear();
        }
    }
}

impl Recognitions {
    /// Recognises this many documents at the same time, at least one.
    pub(crate) fn new(places: usize) -> Self {
        Self { places: places.max(1), state: Mutex::default() }
    }

    /// Takes a place for a document of this owner. Returns none if there is no free one, or if an owner who has waited
    /// longer is next; the owner then counts as waiting.
    pub(crate) fn begin(&self, owner: Owner, now: DateTime<Utc>) -> Option<Turn<'_>> {
        let mut state = self.state();
        state.forget_absent(now);
        let turn = |of: &Owner| state.turns.get(of).copied().unwrap_or(0);
        let is_next = state.waiting.keys().all(|other| turn(other) >= turn(&owner));
        if state.taken >= self.places || !is_next {
            state.waiting.insert(owner, now);
            return None;
        }
        state.waiting.remove(&owner);
        state.taken += 1;
        state.last_turn += 1;
        let number = state.last_turn;
        state.turns.insert(owner, number);
        Some(Turn { recognitions: self, owner })
    }

    // The state is consistent even if a thread panicked while holding the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A taken place, freed when dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    recognitions: &'a Recognitions,
    owner: Owner,
}

impl Turn<'_> {
    /// Whether another owner waits for a place.
    pub(crate) fn is_awaited(&self, now: DateTime<Utc>) -> bool {
        let mut state = self.recognitions.state();
        state.forget_absent(now);
        state.waiting.keys().any(|other| *other != self.owner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.recognitions.state().taken -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn owner(n: u128) -> Owner {
        Some(UserId::from_uuid(Uuid::from_u128(n)))
    }

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    #[test]
    fn places_are_limited_and_freed() {
        let recognitions = Recognitions::new(2);
        let first = recognitions.begin(owner(1), at(0)).unwrap();
        let _second = recognitions.begin(owner(1), at(0)).unwrap();
        assert!(recognitions.begin(owner(1), at(0)).is_none());
        drop(first);
        assert!(recognitions.begin(owner(1), at(0)).is_some());
        assert!(Recognitions::new(0).begin(owner(1), at(0)).is_some(), "at least one");
    }

    #[test]
    fn owner_who_waited_is_next() {
        let recognitions = Recognitions::new(1);
        let turn = recognitions.begin(owner(1), at(0)).unwrap();
        assert!(recognitions.begin(owner(1), at(1)).is_none());
        assert!(!turn.is_awaited(at(1)), "documents of the same owner do not interrupt each other");
        assert!(recognitions.begin(owner(2), at(1)).is_none());
        assert!(turn.is_awaited(at(1)));
        drop(turn);
        assert!(recognitions.begin(owner(1), at(2)).is_none(), "owner 2 has had no turn");
        let turn = recognitions.begin(owner(2), at(2)).unwrap();
        assert!(turn.is_awaited(at(2)));
        drop(turn);
        assert!(recognitions.begin(owner(2), at(3)).is_none(), "it is owner 1's turn again");
        assert!(recognitions.begin(owner(1), at(3)).is_some());
    }

    #[test]
    fn owner_who_stopped_asking_is_forgotten() {
        let recognitions = Recognitions::new(1);
        let turn = recognitions.begin(owner(1), at(0)).unwrap();
        assert!(recognitions.begin(owner(2), at(0)).is_none());
        assert!(!turn.is_awaited(at(10)));
        drop(turn);
        assert!(recognitions.begin(owner(1), at(10)).is_some());
    }
}
