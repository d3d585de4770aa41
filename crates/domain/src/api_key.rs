//! API keys: credentials for programs.

use crate::connection::Connection;
use crate::error::{Rule, ValidationError};
use crate::id::{ApiKeyId, CollectionId, UserId};
use crate::text::parse_name;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;
use std::fmt;

/// Prefix of every API key.
pub const KEY_START: &str = "dk_";
/// Maximum length of an API key's name in characters.
pub const KEY_NAME_MAX: usize = 100;

/// An API key. Only the digest of the secret is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// ID of the key.
    pub id: ApiKeyId,
    /// Account it belongs to.
    pub user: UserId,
    /// Name of the key.
    pub name: ApiKeyName,
    /// Public part of the key, which identifies it.
    pub prefix: ApiKeyPrefix,
    /// SHA-256 digest of the whole key. A key has 256 random bits, so a slow hash is not needed.
    pub sha256: [u8; 32],
    /// What the key is allowed to do.
    pub scopes: ApiKeyScopes,
    /// Collections that it can be used for; `None` for all of its account.
    pub collections: Option<BTreeSet<CollectionId>>,
    /// Account that created it; `None` for the command line.
    pub created_by: Option<UserId>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Expiry time, if any.
    pub expires_at: Option<DateTime<Utc>>,
    /// Time of the last use, to the minute; `None` if it was never used.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Time of revocation; `None` if it is not revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// The application that the account has connected. Such a key is used with access tokens only: it has no secret.
    pub connection: Option<Connection>,
}

impl ApiKey {
    /// Whether the key is valid at `now`: neither revoked nor expired.
    pub fn is_valid(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// The name of an API key: trimmed, 1 to [`KEY_NAME_MAX`] characters, no control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyName(String);

impl ApiKeyName {
    /// Parses a name.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or contains control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        parse_name(text, KEY_NAME_MAX).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The public part of an API key: 12 characters of `a-z`, `0-9`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApiKeyPrefix(String);

impl ApiKeyPrefix {
    /// Length of a prefix in characters.
    pub const LENGTH: usize = 12;

    /// Parses a prefix without [`KEY_START`].
    ///
    /// # Errors
    /// If it has another length or other characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if text.len() != Self::LENGTH || !text.bytes().all(plain) {
            return Err(ValidationError::new("prefix", "is not a valid API key prefix"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the prefix of a whole key, `dk_PREFIX_SECRET`, or `None` if the text is not an API key.
    pub fn of(key: &str) -> Option<Self> {
        let (prefix, secret) = key.strip_prefix(KEY_START)?.split_once('_')?;
        if secret.is_empty() { None } else { Self::parse(prefix).ok() }
    }

    /// The prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A permission of an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiKeyScope {
    /// Listing, reading and searching documents.
    Read,
    /// Adding documents, and retrying and deleting those of its account.
    Ingest,
    /// Asking agents, and the account's conversations.
    Chat,
    /// Everything that the account's permissions allow on records of other accounts.
    Admin,
}

impl ApiKeyScope {
    /// All scopes.
    pub const ALL: &[Self] = &[Self::Read, Self::Ingest, Self::Chat, Self::Admin];

    /// Name of the scope.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Ingest => "ingest",
            Self::Chat => "chat",
            Self::Admin => "admin",
        }
    }

    /// Returns the scope with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ApiKeyScopes(u8);

impl ApiKeyScopes {
    /// All scopes.
    pub fn all() -> Self {
        ApiKeyScope::ALL.iter().fold(Self::default(), |scopes, scope| scopes.with(*scope))
    }

    /// Parses names.
    ///
    /// # Errors
    /// If there is no name or a name is unknown.
    pub fn parse<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, ValidationError> {
        let wrong = || ValidationError::of("scopes", Rule::Scopes);
        let mut scopes = Self::default();
        for name in names {
            scopes.0 |= 1 << ApiKeyScope::parse(name).ok_or_else(wrong)? as u8;
        }
        if scopes.0 == 0 { Err(wrong()) } else { Ok(scopes) }
    }

    /// Whether the set contains `scope`.
    pub const fn contains(self, scope: ApiKeyScope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// The scopes that both sets contain.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether the set contains all scopes of another.
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set contains no scope.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds a scope.
    pub const fn with(self, scope: ApiKeyScope) -> Self {
        Self(self.0 | (1 << scope as u8))
    }

    /// Iterates over the scopes in the order of [`ApiKeyScope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = ApiKeyScope> {
        ApiKeyScope::ALL.iter().copied().filter(move |scope| self.contains(*scope))
    }
}

impl fmt::Debug for ApiKeyScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Display for ApiKeyScopes {
    /// Writes the names, separated by spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, scope) in self.iter().enumerate() {
            write!(f, "{}{}", if place == 0 { "" } else { " " }, scope.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_prefix_is_extracted_from_whole_key() {
        assert_eq!(ApiKeyPrefix::of("dk_abcdef012345_secret").unwrap().as_str(), "abcdef012345");
        for invalid in
            ["", "dk_", "dk_abcdef012345", "dk_abcdef012345_", "dk_short_secret", "sk_abcdef012345_x"]
        {
            assert!(ApiKeyPrefix::of(invalid).is_none(), "{invalid:?}");
        }
    }

    #[test]
    fn scopes_reject_empty_and_unknown_names() {
        let scopes = ApiKeyScopes::parse(["chat", "read", "chat"]).unwrap();
        assert_eq!(scopes.to_string(), "read chat");
        assert!(scopes.contains(ApiKeyScope::Chat) && !scopes.contains(ApiKeyScope::Admin));
        assert!(ApiKeyScopes::parse([]).is_err());
        assert!(ApiKeyScopes::parse(["read", "write"]).is_err());
    }
}
