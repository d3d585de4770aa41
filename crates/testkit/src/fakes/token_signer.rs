//! Token signer without a key.

use chrono::{DateTime, Utc};
use docent_domain::api_key::ApiKeyScopes;
use docent_domain::token::{AccessClaims, ConnectionClaims, ConnectionToken, RefreshClaims};
use docent_ports::token_signer::{TokenError, TokenSigner};

/// Writes claims as text with a checksum, which detects changes but not forgery.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeTokenSigner;

fn checksum(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn seal(body: String) -> String {
    format!("{body}.{:016x}", checksum(&body))
}

/// Returns the fields of a valid token of the type `wanted`.
fn unseal<'a, const FIELDS: usize>(token: &'a str, wanted: &str) -> Result<[&'a str; FIELDS], TokenError> {
    let (body, _) = token.rsplit_once('.').ok_or(TokenError::Invalid)?;
    if seal(body.to_owned()) != token {
        return Err(TokenError::Invalid);
    }
    let (token_type, fields) = body.split_once('.').ok_or(TokenError::Invalid)?;
    if token_type != wanted {
        return Err(TokenError::WrongType);
    }
    fields.split('.').collect::<Vec<_>>().try_into().map_err(|_| TokenError::Invalid)
}

fn field<T: std::str::FromStr>(text: &str) -> Result<T, TokenError> {
    text.parse().map_err(|_| TokenError::Invalid)
}

fn instant(text: &str) -> Result<DateTime<Utc>, TokenError> {
    DateTime::from_timestamp(field(text)?, 0).ok_or(TokenError::Invalid)
}

fn expiry(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, TokenError> {
    let expires_at = instant(text)?;
    if expires_at <= now { Err(TokenError::Expired) } else { Ok(expires_at) }
}

const fn name(kind: ConnectionToken) -> &'static str {
    match kind {
        ConnectionToken::Access => "oauth_access",
        ConnectionToken::Refresh => "oauth_refresh",
    }
}

impl TokenSigner for FakeTokenSigner {
    fn sign_access(&self, claims: &AccessClaims) -> String {
        let (issued, expires) = (claims.issued_at.timestamp(), claims.expires_at.timestamp());
        let session = claims.session.map_or("-".to_owned(), |session| session.to_string());
        seal(format!("access.{}.{}.{session}.{issued}.{expires}", claims.user, claims.id))
    }

    fn sign_refresh(&self, claims: &RefreshClaims) -> String {
        let (issued, expires) = (claims.issued_at.timestamp(), claims.expires_at.timestamp());
        seal(format!("refresh.{}.{}.{}.{issued}.{expires}", claims.user, claims.id, claims.family))
    }

    fn sign_connection(&self, kind: ConnectionToken, claims: &ConnectionClaims) -> String {
        let (issued, expires) = (claims.issued_at.timestamp(), claims.expires_at.timestamp());
        let ConnectionClaims { user, id, api_key, scopes, .. } = claims;
        seal(format!("{}.{user}.{id}.{api_key}.{scopes}.{issued}.{expires}", name(kind)))
    }

    fn verify_access(&self, token: &str, now: DateTime<Utc>) -> Result<AccessClaims, TokenError> {
        let [user, id, session, issued, expires] = unseal(token, "access")?;
        Ok(AccessClaims {
            user: field(user)?,
            id: field(id)?,
            session: if session == "-" { None } else { Some(field(session)?) },
            issued_at: instant(issued)?,
            expires_at: expiry(expires, now)?,
        })
    }

    fn verify_refresh(&self, token: &str, now: DateTime<Utc>) -> Result<RefreshClaims, TokenError> {
        let [user, id, family, issued, expires] = unseal(token, "refresh")?;
        Ok(RefreshClaims {
            user: field(user)?,
            id: field(id)?,
            family: field(family)?,
            issued_at: instant(issued)?,
            expires_at: expiry(expires, now)?,
        })
    }

    fn verify_connection(
        &self,
        kind: ConnectionToken,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<ConnectionClaims, TokenError> {
        let [user, id, api_key, scopes, issued, expires] = unseal(token, name(kind))?;
        Ok(ConnectionClaims {
            user: field(user)?,
            id: field(id)?,
            api_key: field(api_key)?,
            scopes: ApiKeyScopes::parse(scopes.split(' ')).map_err(|_| TokenError::Invalid)?,
            issued_at: instant(issued)?,
            expires_at: expiry(expires, now)?,
        })
    }
}
