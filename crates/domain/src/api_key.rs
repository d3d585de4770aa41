//! API keys: what programs prove with who they work for.

use crate::{
    error::ValidationError,
    group::name,
    id::{ApiKeyId, UserId},
};
use chrono::{DateTime, Utc};
use std::fmt;

/// What every key begins with.
pub const KEY_START: &str = "dk_";
/// The most characters of a key's name.
pub const KEY_NAME_MAX: usize = 100;

/// An API key, without its secret: that is known to its holder alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// Whom it works for.
    pub user: UserId,
    /// What it is called.
    pub name: ApiKeyName,
    /// What it is recognised by; the part of the key that is no secret.
    pub prefix: ApiKeyPrefix,
    /// The SHA-256 of the whole key. A key has 256 random bits, so nothing slower is needed.
    pub sha256: [u8; 32],
    /// What it may be used for.
    pub scopes: ApiKeyScopes,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// From when on it is refused; never when none.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was last used, to the minute; none when it never was.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Since when it is refused; none while it is good.
    pub revoked_at: Option<DateTime<Utc>>,
}

impl ApiKey {
    /// Whether it is good at `now`.
    pub fn is_good(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// A key's name: trimmed, 1 to [`KEY_NAME_MAX`] characters, no control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyName(String);

impl ApiKeyName {
    /// Parses a name.
    ///
    /// # Errors
    /// When it is empty after trimming, too long, or holds control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        name(text, KEY_NAME_MAX).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The part of a key that tells it from others and is no secret: 12 of `a-z`, `0-9`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApiKeyPrefix(String);

impl ApiKeyPrefix {
    /// Its length.
    pub const LENGTH: usize = 12;

    /// Parses a prefix without [`KEY_START`].
    ///
    /// # Errors
    /// When it has another length or other characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        if text.len() != Self::LENGTH || !text.bytes().all(plain) {
            return Err(ValidationError::new("prefix", "is no prefix of an API key"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The prefix of a whole key, `dk_PREFIX_SECRET`; none when the text is no key.
    pub fn of(key: &str) -> Option<Self> {
        let (prefix, secret) = key.strip_prefix(KEY_START)?.split_once('_')?;
        if secret.is_empty() { None } else { Self::parse(prefix).ok() }
    }

    /// The prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a key may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiKeyScope {
    /// Listing, reading and searching documents.
    Read,
    /// Adding documents, and retrying and deleting those of its account.
    Ingest,
    /// Asking agents, and the account's conversations.
    Chat,
    /// All that the account's permissions allow with records of others.
    Admin,
}

impl ApiKeyScope {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Read, Self::Ingest, Self::Chat, Self::Admin];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Ingest => "ingest",
            Self::Chat => "chat",
            Self::Admin => "admin",
        }
    }

    /// What it is good for, for those who choose.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Read => "list, read and search documents",
            Self::Ingest => "add documents; retry and delete its account's own",
            Self::Chat => "ask agents, which answer from the documents",
            Self::Admin => "everything its account's permissions allow with records of others",
        }
    }

    /// The scope with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|scope| scope.name() == name)
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ApiKeyScopes(u8);

impl ApiKeyScopes {
    /// Parses names.
    ///
    /// # Errors
    /// When there is none, or one is not known.
    pub fn parse<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, ValidationError> {
        let wrong = || ValidationError::new("scopes", "must be one or more of read, ingest, chat and admin");
        let mut scopes = Self::default();
        for name in names {
            scopes.0 |= 1 << ApiKeyScope::parse(name).ok_or_else(wrong)? as u8;
        }
        if scopes.0 == 0 { Err(wrong()) } else { Ok(scopes) }
    }

    /// Whether it is in the set.
    pub const fn contains(self, scope: ApiKeyScope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// With one more.
    #[must_use]
    pub const fn with(self, scope: ApiKeyScope) -> Self {
        Self(self.0 | (1 << scope as u8))
    }

    /// What is in the set, in the order of [`ApiKeyScope::ALL`].
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
    /// Writes the names with spaces between them.
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
    fn a_key_is_recognised_by_its_prefix() {
        assert_eq!(ApiKeyPrefix::of("dk_abcdef012345_secret").unwrap().as_str(), "abcdef012345");
        for no_key in
            ["", "dk_", "dk_abcdef012345", "dk_abcdef012345_", "dk_short_secret", "sk_abcdef012345_x"]
        {
            assert!(ApiKeyPrefix::of(no_key).is_none(), "{no_key:?}");
        }
    }

    #[test]
    fn scopes_are_named_and_never_empty() {
        let scopes = ApiKeyScopes::parse(["chat", "read", "chat"]).unwrap();
        assert_eq!(scopes.to_string(), "read chat");
        assert!(scopes.contains(ApiKeyScope::Chat) && !scopes.contains(ApiKeyScope::Admin));
        assert!(ApiKeyScopes::parse([]).is_err());
        assert!(ApiKeyScopes::parse(["read", "write"]).is_err());
    }
}
