//! Stands in for a store that could not be opened: it says so whenever it is asked for anything.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    token_store::{Rotation, RotationOutcome, TokenStore},
};

/// A store that is not there, and why.
#[derive(Debug)]
pub(super) struct Absent {
    part: Component,
    kind: FaultKind,
    message: String,
}

impl Absent {
    pub(super) fn because(fault: &Fault) -> Self {
        let told = fault.report();
        let prefix = format!("{}: ", fault.component().name());
        let message = told.strip_prefix(&prefix).unwrap_or(&told).to_owned();
        Self { part: fault.component(), kind: fault.kind(), message }
    }

    fn fault<T>(&self) -> Result<T> {
        Err(Fault::new(self.part, self.kind, self.message.clone()))
    }
}

#[async_trait]
impl TokenStore for Absent {
    async fn start(
        &self,
        _user: UserId,
        _family: FamilyId,
        _token: TokenId,
        _expires_at: DateTime<Utc>,
        _now: DateTime<Utc>,
    ) -> Result<()> {
        self.fault()
    }

    async fn rotate(&self, _rotation: Rotation) -> Result<RotationOutcome> {
        self.fault()
    }

    async fn revoke(&self, _family: FamilyId) -> Result<()> {
        self.fault()
    }

    async fn revoke_all(&self, _user: UserId, _now: DateTime<Utc>) -> Result<()> {
        self.fault()
    }

    async fn check(&self) -> Result<()> {
        self.fault()
    }
}
