//! Email verification and password reset tokens.

use crate::id::{UserId, VerificationId};
use crate::text::Email;
use chrono::{DateTime, Utc};

/// A verification token. The secret is only in the emailed link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationToken {
    /// ID of the token.
    pub id: VerificationId,
    /// Account that it was issued for.
    pub user: UserId,
    /// Purpose.
    pub purpose: VerificationPurpose,
    /// For [`VerificationPurpose::ChangeEmail`], the new address, which it was sent to.
    pub new_email: Option<Email>,
    /// SHA-256 digest of the secret, which has 256 random bits.
    pub sha256: [u8; 32],
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
}

impl VerificationToken {
    /// Whether the token is valid at `now`. Used tokens are deleted.
    pub fn is_valid(&self, now: DateTime<Utc>) -> bool {
        now < self.expires_at
    }
}

/// What a verification token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VerificationPurpose {
    /// Verifying the email address.
    VerifyEmail,
    /// Setting a new password.
    ResetPassword,
    /// Replacing the email address of the account.
    ChangeEmail,
}

impl VerificationPurpose {
    /// All purposes.
    pub const ALL: &[Self] = &[Self::VerifyEmail, Self::ResetPassword, Self::ChangeEmail];

    /// Name as stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::VerifyEmail => "verify_email",
            Self::ResetPassword => "reset_password",
            Self::ChangeEmail => "change_email",
        }
    }

    /// Returns the purpose with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|purpose| purpose.name() == name)
    }
}
