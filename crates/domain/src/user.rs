//! Accounts.

use crate::common_passwords;
use crate::error::{Rule, ValidationError};
use crate::id::UserId;
use crate::limits::AccountLimits;
use crate::second_factor::{SecondFactor, SecondFactorRule};
use crate::text::{Email, LanguageTag, PersonName};
use chrono::{DateTime, TimeDelta, Utc};
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
    /// Time of the last login.
    pub last_login_at: Option<DateTime<Utc>>,
    /// Time at which the email address was verified, if it was.
    pub email_verified_at: Option<DateTime<Utc>>,
    /// Tokens and sessions issued earlier are rejected. Set when the password changes or the account is deactivated.
    pub sessions_from: DateTime<Utc>,
    /// Limits that replace those of the settings.
    pub limits: AccountLimits,
    /// Its second factor, if one was set up or is being set up.
    pub second_factor: Option<SecondFactor>,
    /// Language of the pages, if one was chosen; otherwise the browser decides.
    pub language: Option<LanguageTag>,
    /// Name that others see beside the email address, if the person chose one.
    pub name: Option<PersonName>,
}

/// How others see an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Email address.
    pub email: Email,
    /// Name, if the person chose one.
    pub name: Option<PersonName>,
}

impl Person {
    /// The name, if the person chose one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_ref().map(PersonName::as_str)
    }
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

    /// Rejects all tokens and sessions that were issued until `now`. After a change at a time when the clock was ahead, the
    /// new time is later than that one, so that later changes reject what was issued since.
    pub fn end_sessions(&mut self, now: DateTime<Utc>) {
        let is_ahead = self.sessions_from > now;
        self.sessions_from = if is_ahead { self.sessions_from + TimeDelta::seconds(1) } else { now };
    }

    /// The time of issue of a new token or session: now, or later if the clock was ahead when earlier ones were ended.
    /// Otherwise they would be rejected until the clock reaches that time.
    pub fn time_of_issue(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        now.max(self.sessions_from)
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

    /// The value of accounts without a password, which no password matches.
    pub fn unusable() -> Self {
        Self("!".to_owned())
    }

    /// Whether the account has a password.
    pub fn is_usable(&self) -> bool {
        self.0 != "!"
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
            return Err(ValidationError::of("password", Rule::MaxBytes(Self::MAX_BYTES)));
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
            return Err(ValidationError::of("password", Rule::MinCharacters(Self::MIN)));
        }
        if common_passwords::is_common(&text) {
            return Err(ValidationError::of("password", Rule::NotCommon));
        }
        Self::parse_existing(text)
    }

    /// Checks that a new password is not close to the account's email address. It must not be the address, the part before
    /// its `@` or its domain, with or without digits and symbols around it, and must not contain the part before the `@`
    /// unless that is short.
    ///
    /// # Errors
    /// If it is.
    pub fn ensure_differs_from(&self, email: &Email) -> Result<(), ValidationError> {
        const SHORT_MAX: usize = 3;
        let (email, password) = (email.as_str(), self.0.to_lowercase());
        let (name, domain) = email.rsplit_once('@').unwrap_or((email, ""));
        let core = common_passwords::core(&password);
        let is_same =
            |part: &str| password == part || (!core.is_empty() && core == common_passwords::core(part));
        let contains_name = name.chars().count() > SHORT_MAX && password.contains(name);
        if contains_name || [email, name, domain].into_iter().any(is_same) {
            return Err(ValidationError::of("password", Rule::NotLikeAddress));
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
        for (email, text, differs) in [
            ("ada.lovelace@example.org", "Ada.Lovelace@example.org", false),
            ("ada.lovelace@example.org", "ADA.LOVELACE", false),
            ("ada.lovelace@example.org", "ada lovelace", true),
            ("bob@example.org", "bob12345", false),
            ("bob99@example.org", "!!Bob2026", false),
            ("bob@example.org", "kebob with rice", true),
            ("bob@example.org", "example.org", false),
            ("frida@example.org", "Frida12345", false),
            ("frida@example.org", "my name is Frida", false),
            ("1234@example.org", "37041985220417", true),
        ] {
            let (email, password) = (Email::parse(email).unwrap(), Password::parse_new(text.into()).unwrap());
            assert_eq!(password.ensure_differs_from(&email).is_ok(), differs, "{email:?} {text}");
        }
    }

    #[test]
    fn sessions_ended_while_the_clock_was_ahead_can_be_started_and_ended_again() {
        let now = DateTime::UNIX_EPOCH;
        let mut user = crate::access::tests::user(true, false, false);
        user.end_sessions(now + TimeDelta::days(365));
        let issued = user.time_of_issue(now);
        assert!(!user.accepts_credentials_issued_at(now) && user.accepts_credentials_issued_at(issued));
        user.end_sessions(now);
        assert!(!user.accepts_credentials_issued_at(issued));
        assert!(user.accepts_credentials_issued_at(user.time_of_issue(now)));
        let later = now + TimeDelta::days(366);
        user.end_sessions(later);
        assert_eq!((user.sessions_from, user.time_of_issue(later)), (later, later));
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
