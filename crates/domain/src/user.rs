//! Accounts.

use crate::common_passwords;
use crate::error::ValidationError;
use crate::id::UserId;
use crate::limits::AccountLimits;
use crate::second_factor::{SecondFactor, SecondFactorRule};
use crate::text::Email;
use chrono::{DateTime, Utc};
use std::fmt;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// ID of the account.
    pub id: UserId,
    /// Email address, unique among accounts.
    pub email: Email,
    /// Hashed password.
    pub password: PasswordHash,
    /// Whether the account can be used.
    pub is_active: bool,
    /// Whether it can use the admin panel.
    pub is_staff: bool,
    /// Whether it bypasses all permission checks.
    pub is_superuser: bool,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last login with a password.
    pub last_login_at: Option<DateTime<Utc>>,
    /// Time at which the email address was verified, if it was.
    pub email_verified_at: Option<DateTime<Utc>>,
    /// Tokens and sessions issued earlier are rejected. Set when the password changes or the account is deactivated.
    pub sessions_from: DateTime<Utc>,
    /// Limits that replace those of the settings.
    pub limits: AccountLimits,
    /// Its second factor, if one was set up or is being set up.
    pub second_factor: Option<SecondFactor>,
}

impl User {
    /// The second factor that logins ask for.
    pub fn confirmed_second_factor(&self) -> Option<&SecondFactor> {
        self.second_factor.as_ref().filter(|factor| factor.confirmed_at.is_some())
    }

    /// Whether the account must set up a second factor before it can be used.
    pub fn lacks_second_factor(&self, rule: SecondFactorRule) -> bool {
        let is_required = match rule {
            SecondFactorRule::Optional => false,
            SecondFactorRule::Staff => self.is_staff || self.is_superuser,
            SecondFactorRule::Everyone => true,
        };
        is_required && self.confirmed_second_factor().is_none()
    }

    /// Whether a token or session issued at `at` is still accepted. Compared to the second, the precision of tokens.
    pub fn accepts_credentials_issued_at(&self, at: DateTime<Utc>) -> bool {
        at.timestamp() >= self.sessions_from.timestamp()
    }
}

/// A password hash in the PHC string format.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps the output of a password hasher.
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

/// A plaintext password, redacted in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Minimum length of a new password in characters.
    pub const MIN: usize = 8;
    /// Maximum length of a password in bytes, which limits the cost of hashing.
    pub const MAX_BYTES: usize = 1024;

    /// Parses a password entered to sign in: any length up to [`Self::MAX_BYTES`].
    ///
    /// # Errors
    /// If it is longer.
    pub fn parse_existing(text: String) -> Result<Self, ValidationError> {
        if text.len() > Self::MAX_BYTES {
            return Err(ValidationError::new(
                "password",
                format!("must have at most {} bytes", Self::MAX_BYTES),
            ));
        }
        Ok(Self(text))
    }

    /// Parses a new password for an account.
    ///
    /// # Errors
    /// If it has fewer than [`Self::MIN`] characters or more than [`Self::MAX_BYTES`] bytes, or is one that attackers
    /// try early.
    pub fn parse_new(text: String) -> Result<Self, ValidationError> {
        if text.chars().count() < Self::MIN {
            return Err(ValidationError::new(
                "password",
                format!("must have at least {} characters", Self::MIN),
            ));
        }
        if common_passwords::is_common(&text) {
            return Err(ValidationError::new("password", "is too easy to guess; choose another one"));
        }
        Self::parse_existing(text)
    }

    /// Checks that a new password is not the account's email address or the part before its `@`.
    ///
    /// # Errors
    /// If it is.
    pub fn ensure_differs_from(&self, email: &Email) -> Result<(), ValidationError> {
        let (email, password) = (email.as_str(), self.0.to_lowercase());
        let name = email.split('@').next().unwrap_or(email);
        if password == email || password == name {
            return Err(ValidationError::new("password", "must not be the email address"));
        }
        Ok(())
    }

    /// The plaintext.
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
    fn guessable_password_is_rejected() {
        let error = Password::parse_new("Password123".into()).unwrap_err();
        assert_eq!(error.reason, "is too easy to guess; choose another one");
        let email = Email::parse("ada.lovelace@example.org").unwrap();
        for (text, differs) in
            [("Ada.Lovelace@example.org", false), ("ADA.LOVELACE", false), ("ada lovelace", true)]
        {
            let password = Password::parse_new(text.into()).unwrap();
            assert_eq!(password.ensure_differs_from(&email).is_ok(), differs, "{text}");
        }
    }

    #[test]
    fn password_is_bounded_and_redacted_in_debug() {
        assert!(Password::parse_new("1234567".into()).is_err());
        let password = Password::parse_new("0o0o1l1l".into()).unwrap();
        assert!(!format!("{password:?}").contains('1'));
        assert!(Password::parse_existing(String::new()).is_ok());
        assert!(Password::parse_existing("x".repeat(1025)).is_err());
    }
}
