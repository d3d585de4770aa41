//! Refresh tokens in memory, with a journal on disk.

use super::{
    families::{Change, Families, Family, Token},
    journal::Journal,
};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    token_store::{Rotation, RotationOutcome, TokenStore},
};
use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::task;

/// Keeps refresh-token families in memory and writes every change to a journal before it answers: a
/// token that was revoked stays so through any crash.
#[derive(Clone, Debug)]
pub struct MemoryTokenStore {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    families: Families,
    journal: Option<Journal>,
}

impl MemoryTokenStore {
    /// Opens the store whose journal is at `path`, which is made when it does not exist; the folder
    /// must. Blocks while it reads.
    ///
    /// # Errors
    /// When another process has it open, the file cannot be read or written, or a line of it is damaged.
    pub fn open(path: &Path) -> Result<Self> {
        let open = || {
            let mut families = Families::default();
            let mut journal = Journal::open(path, |change| families.apply(change))?;
            journal.rewrite(families.snapshot())?;
            Ok(State { families, journal: Some(journal) })
        };
        let state = open().map_err(|error| unavailable(format!("open {}", path.display()), error))?;
        Ok(Self { state: Arc::new(Mutex::new(state)) })
    }

    /// A store without a journal: a restart ends all logins.
    pub fn ephemeral() -> Self {
        Self { state: Arc::default() }
    }

    /// Runs one atomic step where waiting for the disk holds nobody up.
    async fn step<T: Send + 'static>(
        &self,
        step: impl FnOnce(&mut State) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let state = Arc::clone(&self.state);
        // A step applies its change last, so that the state is whole even after a panic.
        task::spawn_blocking(move || step(&mut state.lock().unwrap_or_else(PoisonError::into_inner)))
            .await
            .map_err(|error| {
                Fault::new(Component::KeyValueStore, FaultKind::Internal, "step").caused_by(error)
            })?
    }
}

impl State {
    fn make(&mut self, change: Change) -> Result<()> {
        if let Some(journal) = &mut self.journal {
            journal.append(&change).map_err(|error| unavailable("write the token journal", error))?;
        }
        self.families.apply(change);
        if let Some(journal) = self.journal.as_mut().filter(|journal| journal.is_long())
            && let Err(error) = journal.rewrite(self.families.snapshot())
        {
            // The change itself is durable; a journal that is too long does no harm yet.
            tracing::warn!(%error, "the token journal could not be rewritten");
        }
        Ok(())
    }
}

fn unavailable(doing: impl Into<std::borrow::Cow<'static, str>>, error: io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::ResourceBusy => FaultKind::InUse,
        _ => FaultKind::Unavailable,
    };
    Fault::new(Component::KeyValueStore, kind, doing).caused_by(error)
}

#[async_trait]
impl TokenStore for MemoryTokenStore {
    async fn start(
        &self,
        user: UserId,
        family: FamilyId,
        token: TokenId,
        expires_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.step(move |state| {
            state.families.sweep(now);
            let expires_at = expires_at.timestamp_micros();
            let first = Token { id: token.as_uuid(), expires_at, replaced_at: None };
            let family = Family { id: family.as_uuid(), user: user.as_uuid(), tokens: vec![first] };
            state.make(Change::Put(family))
        })
        .await
    }

    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome> {
        self.step(move |state| {
            state.families.sweep(rotation.now);
            let (rotated, change) = state.families.rotate(&rotation);
            change.map_or(Ok(()), |change| state.make(change))?;
            Ok(rotated)
        })
        .await
    }

    async fn revoke(&self, family: FamilyId) -> Result<()> {
        self.step(move |state| {
            let change = state.families.revoke(family.as_uuid());
            change.map_or(Ok(()), |change| state.make(change))
        })
        .await
    }

    async fn revoke_all(&self, user: UserId, _now: DateTime<Utc>) -> Result<()> {
        self.step(move |state| {
            let change = state.families.revoke_all(user.as_uuid());
            change.map_or(Ok(()), |change| state.make(change))
        })
        .await
    }

    async fn check(&self) -> Result<()> {
        self.step(|state| match &state.journal {
            Some(journal) => journal.check().map_err(|error| unavailable("the token journal", error)),
            None => Ok(()),
        })
        .await
    }
}

#[cfg(test)]
mod tests;
