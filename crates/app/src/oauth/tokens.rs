//! The token endpoint: exchange of codes, refresh and revocation.

use super::resource_at;
use crate::App;
use crate::accounts::{ROTATION_GRACE, api_keys, authenticate};
use crate::audit::{Changes, Initiator};
use crate::error::Error;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use docent_domain::api_key::{ApiKey, ApiKeyScopes};
use docent_domain::audit::AuditAction;
use docent_domain::client_uri::ClientId;
use docent_domain::connection::{Connection, Resource};
use docent_domain::fault::Fault;
use docent_domain::id::{ApiKeyId, TokenId};
use docent_domain::oauth::AuthorizationCode;
use docent_domain::token::{ConnectionClaims, ConnectionToken};
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use docent_ports::token_signer::TokenError;
use sha2::{Digest, Sha256};
use std::time::Duration;
use thiserror::Error as ThisError;

/// Tokens of a connected application.
#[derive(Clone)]
pub struct ConnectionTokens {
    /// The access token.
    pub access: String,
    /// The refresh token.
    pub refresh: String,
    /// Remaining lifetime of the access token.
    pub expires_in: Duration,
    /// Scopes of the access token.
    pub scopes: ApiKeyScopes,
}

impl std::fmt::Debug for ConnectionTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConnectionTokens({})", self.scopes)
    }
}

/// Why a request is refused.
#[derive(Debug, ThisError)]
pub enum GrantError {
    /// The code or refresh token is unknown, expired, used, or belongs to another client or request. The message does not
    /// tell these apart, except for a wrong redirect URI.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// The scope is not one that was allowed.
    #[error("the scope was not allowed")]
    InvalidScope,
    /// The resource is not the one that was allowed.
    #[error("the resource was not allowed")]
    InvalidTarget,
    /// A store cannot be reached.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl From<Fault> for GrantError {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault.into())
    }
}

const INVALID_CODE: GrantError = GrantError::InvalidGrant("the code is not valid");
const INVALID_REFRESH_TOKEN: GrantError = GrantError::InvalidGrant("the refresh token is not valid");

/// A code to exchange.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "contains secrets")]
pub struct CodeExchange<'a> {
    /// The client.
    pub client_id: &'a str,
    /// The code.
    pub code: &'a str,
    /// The PKCE verifier.
    pub verifier: &'a str,
    /// The redirect URI, if it was sent; OAuth 2.1 no longer has it here.
    pub redirect_uri: Option<&'a str>,
    /// The resource, if it was sent.
    pub resource: Option<&'a str>,
}

/// Exchanges a code for the first tokens. A code that is used twice counts as stolen: the application is disconnected.
///
/// # Errors
/// See [`GrantError`].
pub async fn exchange(
    app: &App,
    base: &str,
    exchange: CodeExchange<'_>,
) -> Result<ConnectionTokens, GrantError> {
    let now = app.now();
    let mut work = app.store.begin().await?;
    let code =
        work.oauth().code(&Sha256::digest(exchange.code.as_bytes()).into()).await?.ok_or(INVALID_CODE)?;
    if code.client != exchange.client_id {
        return Err(INVALID_CODE);
    }
    let is_first = code.used_at.is_none() && work.oauth().use_code(code.id, now).await?;
    if !is_first {
        tracing::warn!(key = %code.api_key, "an authorization code was used twice; the application is disconnected");
        disconnect_as_stolen(app, &mut *work, code.api_key, "code used twice").await?;
        work.commit().await?;
        return Err(INVALID_CODE);
    }
    if now >= code.expires_at || !is_verifier(exchange.verifier, &code) {
        return Err(INVALID_CODE);
    }
    if exchange.redirect_uri.is_some_and(|uri| uri != code.redirect_uri.as_str()) {
        return Err(GrantError::InvalidGrant("the redirect URI is not that of the request"));
    }
    check_resource(base, exchange.resource, code.resource)?;
    let user = work.users().get(code.user).await?;
    let user =
        user.filter(|user| is_allowed(app, user) && user.accepts_credentials_issued_at(code.created_at));
    let user = user.ok_or(INVALID_CODE)?;
    let key = loop {
        let key = new_key(app, &code, now);
        // Prefixes are unique; a collision is practically impossible.
        if work.api_keys().insert(&key).await? {
            break key;
        }
    };
    if let Ok(ClientId::Registered(client)) = ClientId::parse(&code.client) {
        work.oauth().touch_client(client, now).await?;
    }
    work.commit().await?;
    sign(app, &user, &key, key.scopes, now).ok_or(INVALID_CODE)
}

fn new_key(app: &App, code: &AuthorizationCode, now: DateTime<Utc>) -> ApiKey {
    let connection = Connection {
        client: code.client.clone(),
        resource: code.resource,
        refresh_token: app.new_id(TokenId::generate),
        replaced_token: None,
        refreshed_at: now,
    };
    ApiKey {
        id: code.api_key,
        user: code.user,
        name: code.name.clone(),
        prefix: api_keys::random_prefix(&*app.entropy),
        sha256: [0; 32],
        scopes: code.scopes,
        collections: code.collections.clone(),
        created_by: Some(code.user),
        created_at: now,
        expires_at: Some(expiry(app, now, now)),
        last_used_at: None,
        revoked_at: None,
        connection: Some(connection),
    }
}

/// When a connection ends that began at `begin` and is renewed now, unless it is renewed again.
fn expiry(app: &App, begin: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    (now + app.settings.refresh_token_ttl).min(begin + app.settings.session_lifetime)
}

/// Whether an account can use applications.
fn is_allowed(app: &App, user: &User) -> bool {
    user.is_active && authenticate::ensure_second_factor(app, user).is_ok()
}

/// Whether a text is the PKCE verifier of a code.
fn is_verifier(verifier: &str, code: &AuthorizationCode) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let is_valid = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_plain);
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    // The challenge is no secret.
    is_valid && challenge == code.challenge.as_str()
}

fn check_resource(base: &str, requested: Option<&str>, allowed: Resource) -> Result<(), GrantError> {
    match requested {
        Some(url) if resource_at(base, url) != Some(allowed) => Err(GrantError::InvalidTarget),
        _ => Ok(()),
    }
}

/// Signs the tokens of a connected application.
fn sign(
    app: &App,
    user: &User,
    key: &ApiKey,
    scopes: ApiKeyScopes,
    now: DateTime<Utc>,
) -> Option<ConnectionTokens> {
    let (connection, end) = (key.connection.as_ref()?, key.expires_at?);
    let access = ConnectionClaims {
        user: user.id,
        id: app.new_id(TokenId::generate),
        api_key: key.id,
        scopes,
        issued_at: now,
        expires_at: (now + app.settings.access_token_ttl).min(end),
    };
    let refresh =
        ConnectionClaims { id: connection.refresh_token, scopes: key.scopes, expires_at: end, ..access };
    Some(ConnectionTokens {
        access: app.signer.sign_connection(ConnectionToken::Access, &access),
        refresh: app.signer.sign_connection(ConnectionToken::Refresh, &refresh),
        expires_in: (access.expires_at - now).to_std().unwrap_or_default(),
        scopes,
    })
}

/// A refresh token to exchange.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "contains secrets")]
pub struct RefreshExchange<'a> {
    /// The client.
    pub client_id: &'a str,
    /// The refresh token.
    pub refresh_token: &'a str,
    /// Scopes of the access token, if fewer than those that were allowed.
    pub scope: Option<&'a str>,
    /// The resource, if it was sent.
    pub resource: Option<&'a str>,
}

/// Exchanges a refresh token for new tokens. It is replaced: uses within the grace period get the same successor, later ones
/// disconnect the application, since the token is assumed to be stolen.
///
/// # Errors
/// See [`GrantError`].
pub async fn refresh(
    app: &App,
    base: &str,
    exchange: RefreshExchange<'_>,
) -> Result<ConnectionTokens, GrantError> {
    let now = app.now();
    let claims = app.signer.verify_connection(ConnectionToken::Refresh, exchange.refresh_token, now);
    let claims = claims.map_err(|_| INVALID_REFRESH_TOKEN)?;
    let mut work = app.store.begin().await?;
    let key = work.api_keys().get(claims.api_key).await?.filter(|key| key.is_valid(now));
    let mut key = key.ok_or(INVALID_REFRESH_TOKEN)?;
    let mut connection = key.connection.clone().ok_or(INVALID_REFRESH_TOKEN)?;
    let user = work.users().get(key.user).await?;
    let user = user.filter(|user| is_allowed(app, user)).ok_or(INVALID_REFRESH_TOKEN)?;
    if connection.client != exchange.client_id {
        return Err(INVALID_REFRESH_TOKEN);
    }
    check_resource(base, exchange.resource, connection.resource)?;
    let scopes = narrowed(exchange.scope, key.scopes)?;
    let is_graced = connection.replaced_token == Some(claims.id)
        && now - connection.refreshed_at < chrono::TimeDelta::from_std(ROTATION_GRACE).unwrap_or_default();
    if connection.refresh_token == claims.id {
        connection.replaced_token = Some(claims.id);
        connection.refresh_token = app.new_id(TokenId::generate);
        connection.refreshed_at = now;
        let expires_at = expiry(app, key.created_at, now);
        work.api_keys().renew(key.id, &connection, expires_at).await?;
        if let Ok(ClientId::Registered(client)) = ClientId::parse(&connection.client) {
            work.oauth().touch_client(client, now).await?;
        }
        work.commit().await?;
        (key.connection, key.expires_at) = (Some(connection), Some(expires_at));
    } else if !is_graced {
        tracing::warn!(key = %key.id, "a replaced refresh token was reused; the application is disconnected");
        disconnect_as_stolen(app, &mut *work, key.id, "refresh token reused").await?;
        work.commit().await?;
        return Err(INVALID_REFRESH_TOKEN);
    }
    sign(app, &user, &key, scopes, now).ok_or(INVALID_REFRESH_TOKEN)
}

/// The requested scopes, which must be among those that were allowed; all of these without a request.
fn narrowed(requested: Option<&str>, allowed: ApiKeyScopes) -> Result<ApiKeyScopes, GrantError> {
    let named: Vec<&str> = requested.unwrap_or_default().split_ascii_whitespace().collect();
    if named.is_empty() {
        return Ok(allowed);
    }
    let scopes = ApiKeyScopes::parse(named).map_err(|_| GrantError::InvalidScope)?;
    if allowed.includes(scopes) { Ok(scopes) } else { Err(GrantError::InvalidScope) }
}

/// Revokes the key of an application whose code or token was presented by more than one client.
async fn disconnect_as_stolen(
    app: &App,
    work: &mut dyn UnitOfWork,
    id: ApiKeyId,
    reason: &str,
) -> Result<(), GrantError> {
    let Some(key) = work.api_keys().get(id).await? else { return Ok(()) };
    if work.api_keys().revoke(id, app.now()).await? {
        let changes = Changes::default().added("reason", reason);
        let target = api_keys::audit_target(&key);
        app.audit(work, &Initiator::service(), AuditAction::Revoke, target, changes).await?;
    }
    Ok(())
}

/// Disconnects the application that presents one of its tokens (RFC 7009). Unknown and expired tokens are accepted.
///
/// # Errors
/// [`GrantError::InvalidGrant`] for a token of another client, or when the database cannot be reached.
pub async fn revoke(app: &App, client_id: &str, token: &str) -> Result<(), GrantError> {
    let verify = |kind| app.signer.verify_connection(kind, token, app.now());
    let claims = match verify(ConnectionToken::Refresh) {
        Err(TokenError::WrongType) => verify(ConnectionToken::Access),
        other => other,
    };
    let Ok(claims) = claims else { return Ok(()) };
    let mut work = app.store.begin().await?;
    let Some(key) = work.api_keys().get(claims.api_key).await? else { return Ok(()) };
    if key.connection.as_ref().is_none_or(|connection| connection.client != client_id) {
        return Err(GrantError::InvalidGrant("the token was issued to another client"));
    }
    if work.api_keys().revoke(key.id, app.now()).await? {
        let (initiator, target) = (Initiator::account(key.user, None), api_keys::audit_target(&key));
        let changes = Changes::default().added("reason", "by the application");
        app.audit(&mut *work, &initiator, AuditAction::Revoke, target, changes).await?;
    }
    Ok(work.commit().await?)
}
