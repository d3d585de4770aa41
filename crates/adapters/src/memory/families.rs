//! Families of refresh tokens as plain state: what a call decides, and the changes that come of it.
//!
//! Decisions change nothing; they give a [`Change`], which is first written to the journal and then
//! applied. Replaying the journal applies the same changes, so that both ways lead to one state.

use super::sweep::Sweep;
use chrono::{DateTime, Utc};
use docent_ports::token_store::{Rotation, RotationOutcome};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use uuid::Uuid;

/// The most tokens that one family remembers: over a month of them at one refresh in 15 minutes. The
/// oldest are forgotten first and are refused from then on.
const TOKENS_MAX: usize = 4096;

/// One step from a state to the next. Instants are microseconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    /// A family as it is: a new one, or one carried over when the journal is rewritten.
    Put(Family),
    /// A token was used and has a successor.
    Rotate { family: Uuid, presented: Uuid, successor: Uuid, expires_at: i64, now: i64 },
    /// A family ended.
    Revoke { family: Uuid },
    /// Every family of an account ended.
    RevokeAll { user: Uuid },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Family {
    pub(super) id: Uuid,
    pub(super) user: Uuid,
    /// In the order they were issued.
    pub(super) tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Token {
    pub(super) id: Uuid,
    pub(super) expires_at: i64,
    /// When it got its first successor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaced_at: Option<i64>,
}

impl Family {
    fn is_alive(&self, now: i64) -> bool {
        self.tokens.iter().any(|token| now < token.expires_at)
    }
}

/// All families.
#[derive(Debug, Default)]
pub(super) struct Families {
    by_id: HashMap<Uuid, Family>,
    sweep: Sweep,
}

impl Families {
    /// What becomes of a use of a token, and the change that makes it so.
    pub(super) fn rotate(&self, rotation: &Rotation) -> (RotationOutcome, Option<Change>) {
        let family = rotation.family.as_uuid();
        let presented = rotation.presented.as_uuid();
        let now = rotation.now.timestamp_micros();
        let known = self
            .by_id
            .get(&family)
            .and_then(|family| family.tokens.iter().find(|token| token.id == presented))
            .filter(|token| now < token.expires_at);
        let Some(token) = known else { return (RotationOutcome::Unknown, None) };
        let grace = i64::try_from(rotation.grace.as_micros()).unwrap_or(i64::MAX);
        if token.replaced_at.is_some_and(|at| now.saturating_sub(at) > grace) {
            return (RotationOutcome::Reused, Some(Change::Revoke { family }));
        }
        let change = Change::Rotate {
            family,
            presented,
            successor: rotation.successor.as_uuid(),
            expires_at: rotation.expires_at.timestamp_micros(),
            now,
        };
        (RotationOutcome::Renewed, Some(change))
    }

    /// The change that ends a family, unless it has ended already.
    pub(super) fn revoke(&self, family: Uuid) -> Option<Change> {
        self.by_id.contains_key(&family).then_some(Change::Revoke { family })
    }

    /// The change that ends every family of an account, unless it has none.
    pub(super) fn revoke_all(&self, user: Uuid) -> Option<Change> {
        self.by_id.values().any(|family| family.user == user).then_some(Change::RevokeAll { user })
    }

    /// Makes a change. It never fails: a change that refers to nothing changes nothing.
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Put(family) => {
                self.by_id.insert(family.id, family);
            }
            Change::Rotate { family, presented, successor, expires_at, now } => {
                let Some(family) = self.by_id.get_mut(&family) else { return };
                if let Some(token) = family.tokens.iter_mut().find(|token| token.id == presented) {
                    token.replaced_at.get_or_insert(now);
                }
                family.tokens.retain(|token| now < token.expires_at);
                family.tokens.push(Token { id: successor, expires_at, replaced_at: None });
                if family.tokens.len() > TOKENS_MAX {
                    family.tokens.remove(0);
                }
            }
            Change::Revoke { family } => {
                self.by_id.remove(&family);
            }
            Change::RevokeAll { user } => self.by_id.retain(|_, family| family.user != user),
        }
    }

    /// Forgets expired families when that is due. The journal need not hear of it: they are as
    /// expired when they are read back.
    pub(super) fn sweep(&mut self, now: DateTime<Utc>) {
        if self.sweep.is_due() {
            let now = now.timestamp_micros();
            self.by_id.retain(|_, family| family.is_alive(now));
            self.sweep.done(self.by_id.len());
        }
    }

    /// The changes that lead from nothing to this state.
    pub(super) fn snapshot(&self) -> impl Iterator<Item = Change> + '_ {
        self.by_id.values().cloned().map(Change::Put)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_forgets_its_oldest_tokens_at_the_limit() {
        let mut families = Families::default();
        let id = |n: usize| Uuid::from_u128(n as u128);
        let first = Token { id: id(0), expires_at: i64::MAX, replaced_at: None };
        families.apply(Change::Put(Family { id: id(1), user: id(2), tokens: vec![first] }));
        for n in 0..TOKENS_MAX + 10 {
            families.apply(Change::Rotate {
                family: id(1),
                presented: id(n),
                successor: id(n + 1),
                expires_at: i64::MAX,
                now: 0,
            });
        }
        let tokens = &families.by_id[&id(1)].tokens;
        assert_eq!(tokens.len(), TOKENS_MAX);
        assert_eq!(tokens.last().unwrap().id, id(TOKENS_MAX + 10));
    }

    #[test]
    fn expired_tokens_of_a_living_family_are_forgotten() {
        let mut families = Families::default();
        let id = Uuid::from_u128;
        let first = Token { id: id(0), expires_at: 10, replaced_at: None };
        families.apply(Change::Put(Family { id: id(1), user: id(2), tokens: vec![first] }));
        for n in 0..100 {
            families.apply(Change::Rotate {
                family: id(1),
                presented: id(n),
                successor: id(n + 1),
                expires_at: 10 + n as i64,
                now: n as i64,
            });
        }
        assert!(families.by_id[&id(1)].tokens.len() <= 11);
    }
}
