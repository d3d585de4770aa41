//! Tokens that prove that somebody reads the mail of an account.

use crate::id::{UserId, VerificationId};
use chrono::{DateTime, Utc};

/// A verification token, without its secret: that is in the link alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationToken {
    /// Its id.
    pub id: VerificationId,
    /// Whose address it was sent to.
    pub user: UserId,
    /// What it is good for. An account has at most one for each purpose.
    pub purpose: VerificationPurpose,
    /// The SHA-256 of the secret, which has 256 random bits.
    pub sha256: [u8; 32],
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// From when on it is refused.
    pub expires_at: DateTime<Utc>,
}

impl VerificationToken {
    /// Whether it is good at `now`; one that was used is there no more.
    pub fn is_good(&self, now: DateTime<Utc>) -> bool {
        now < self.expires_at
    }
}

/// What a verification token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerificationPurpose {
    /// Proving that the address is right.
    VerifyEmail,
    /// Choosing a new password.
    ResetPassword,
}

impl VerificationPurpose {
    /// All of them.
    pub const ALL: &[Self] = &[Self::VerifyEmail, Self::ResetPassword];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VerifyEmail => "verify_email",
            Self::ResetPassword => "reset_password",
        }
    }

    /// The purpose with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|purpose| purpose.name() == name)
    }
}
