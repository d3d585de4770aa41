//! Accounts.

use crate::{error::ValidationError, id::UserId, text::Email};
use chrono::{DateTime, Utc};
use std::fmt;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// Its address; no two accounts share one.
    pub email: Email,
    /// Its password, hashed.
    pub password: PasswordHash,
    /// Whether it may be used at all.
    pub is_active: bool,
    /// Whether it may enter the admin panel.
    pub is_staff: bool,
    /// Whether it bypasses all permission checks.
    pub is_superuser: bool,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last logged in with its password.
    pub last_login_at: Option<DateTime<Utc>>,
    /// When its address was shown to be right; none when it never was.
    pub email_verified_at: Option<DateTime<Utc>>,
    /// Tokens and sessions from before this are refused: a new password and a deactivation move it.
    pub sessions_from: DateTime<Utc>,
}

impl User {
    /// Whether something that was issued at `at` (tokens say it to the second) may still stand for the account.
    pub fn honours(&self, at: DateTime<Utc>) -> bool {
        at.timestamp() >= self.sessions_from.timestamp()
    }
}

/// A password hash in the PHC string format.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps what a password hasher made.
    pub fn from_phc(text: String) -> Self {
        Self(text)
    }

    /// The PHC string.
    pub fn as_phc(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// A password in the clear. It shows nothing of itself in logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The fewest characters of a new password.
    pub const MIN: usize = 8;
    /// The most bytes of any password: hashing longer ones would only cost time.
    pub const MAX_BYTES: usize = 1024;

    /// A password that somebody claims to have; any length up to [`Self::MAX_BYTES`].
    ///
    /// # Errors
    /// When it is longer.
    pub fn claimed(text: String) -> Result<Self, ValidationError> {
        if text.len() > Self::MAX_BYTES {
            return Err(ValidationError::new(
                "password",
                format!("must have at most {} bytes", Self::MAX_BYTES),
            ));
        }
        Ok(Self(text))
    }

    /// A password that somebody chose for an account.
    ///
    /// # Errors
    /// When it has under [`Self::MIN`] characters or over [`Self::MAX_BYTES`] bytes.
    pub fn chosen(text: String) -> Result<Self, ValidationError> {
        if text.chars().count() < Self::MIN {
            return Err(ValidationError::new(
                "password",
                format!("must have at least {} characters", Self::MIN),
            ));
        }
        Self::claimed(text)
    }

    /// The clear text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_bounded_and_never_shown() {
        assert!(Password::chosen("1234567".into()).is_err());
        let password = Password::chosen("12345678".into()).unwrap();
        assert!(!format!("{password:?}").contains('1'));
        assert!(Password::claimed(String::new()).is_ok());
        assert!(Password::claimed("x".repeat(1025)).is_err());
    }
}
