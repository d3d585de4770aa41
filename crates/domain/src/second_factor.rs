//! The second factor of an account: an authenticator app, and recovery codes for when it is lost.

use chrono::{DateTime, TimeDelta, Utc};
use std::fmt;

/// How long after its begin a setup can be finished.
const SETUP_MAX_AGE: TimeDelta = TimeDelta::minutes(10);

/// The second factor of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondFactor {
    /// Shared with the authenticator app.
    pub secret: TotpSecret,
    /// When its setup was begun, unless an earlier version did not record it.
    pub begun_at: Option<DateTime<Utc>>,
    /// When its first code was entered. Until then logins do not ask for a code.
    pub confirmed_at: Option<DateTime<Utc>>,
    /// The time step of the last accepted code: each code is accepted once.
    pub last_step: u64,
    /// SHA-256 digests of the unused recovery codes.
    pub recovery_codes: Vec<[u8; 32]>,
}

impl SecondFactor {
    /// Whether its setup was begun, and can still be finished.
    pub fn is_being_set_up(&self, now: DateTime<Utc>) -> bool {
        self.confirmed_at.is_none() && self.begun_at.is_some_and(|at| now - at < SETUP_MAX_AGE)
    }
}

/// The secret of an authenticator app (RFC 6238), redacted in debug output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TotpSecret([u8; 20]);

impl TotpSecret {
    /// Wraps the bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn expose(&self) -> &[u8; 20] {
        &self.0
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSecret(…)")
    }
}

/// The accounts that must have a second factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecondFactorRule {
    /// None.
    #[default]
    Optional,
    /// Accounts with access to the panel.
    Staff,
    /// All accounts.
    Everyone,
}
