//! OAuth clients and authorization codes.
//!
//! An application that an account has connected is an [`ApiKey`](crate::api_key::ApiKey) with a
//! [`Connection`](crate::connection::Connection): it has the same scopes and collections, and is authorized, limited, listed and revoked in the same way.

use crate::api_key::{ApiKeyName, ApiKeyScope, ApiKeyScopes};
use crate::client_uri::{ClientId, RedirectUri};
use crate::connection::Resource;
use crate::error::ValidationError;
use crate::id::{ApiKeyId, AuthorizationCodeId, CollectionId, OAuthClientId, UserId};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// Maximum number of redirect URIs of a client.
pub const REDIRECT_URIS_MAX: usize = 20;

/// The scopes that have an effect on a resource.
pub fn scopes_of(resource: Resource) -> ApiKeyScopes {
    match resource {
        Resource::Mcp => ApiKeyScopes::default().with(ApiKeyScope::Read),
        Resource::Api => ApiKeyScopes::all(),
    }
}

/// An OAuth client. All are public: they have no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthClient {
    /// ID of the client.
    pub id: ClientId,
    /// Its name, as it calls itself.
    pub name: ApiKeyName,
    /// Where it can be returned to.
    pub redirect_uris: Vec<RedirectUri>,
}

impl OAuthClient {
    /// Whether the client can be returned to at this URI.
    pub fn allows(&self, requested: &RedirectUri) -> bool {
        self.redirect_uris.iter().any(|known| known.allows(requested))
    }
}

/// A client that registered itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    /// ID of the client.
    pub id: OAuthClientId,
    /// Its name.
    pub name: ApiKeyName,
    /// Where it can be returned to.
    pub redirect_uris: Vec<RedirectUri>,
    /// Time of registration.
    pub created_at: DateTime<Utc>,
    /// Time when it last received a token; `None` if it never did.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// An authorization code. Only the digest of the secret is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    /// ID of the code.
    pub id: AuthorizationCodeId,
    /// SHA-256 digest of the code, which has 256 random bits.
    pub sha256: [u8; 32],
    /// Account that allowed the access.
    pub user: UserId,
    /// ID of the client.
    pub client: String,
    /// Name of the client.
    pub name: ApiKeyName,
    /// URI that it was sent to.
    pub redirect_uri: RedirectUri,
    /// PKCE challenge: base64url of the SHA-256 digest of the verifier.
    pub challenge: CodeChallenge,
    /// Where its tokens can be used.
    pub resource: Resource,
    /// Allowed scopes.
    pub scopes: ApiKeyScopes,
    /// Allowed collections; `None` for all of the account.
    pub collections: Option<BTreeSet<CollectionId>>,
    /// ID of the API key that it is exchanged for.
    pub api_key: ApiKeyId,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
    /// Time when it was exchanged; `None` if it was not.
    pub used_at: Option<DateTime<Utc>>,
}

/// A PKCE challenge of the method `S256`: 43 characters of base64url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeChallenge(String);

impl CodeChallenge {
    /// Parses a challenge.
    ///
    /// # Errors
    /// If it has another form.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let is_valid =
            text.len() == 43 && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        let wrong =
            || ValidationError::new("code_challenge", "is not the base64url form of a SHA-256 digest");
        if is_valid { Ok(Self(text.to_owned())) } else { Err(wrong()) }
    }

    /// The challenge.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_is_43_characters_of_base64url() {
        assert!(CodeChallenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").is_ok());
        for invalid in ["", "short", &"a".repeat(44), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"] {
            assert!(CodeChallenge::parse(invalid).is_err());
        }
    }
}
