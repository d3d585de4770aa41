//! Logout of API clients.

use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::access::Actor;
use docent_domain::audit::AuditAction;
use docent_domain::id::SessionId;
use docent_ports::token_signer::TokenError;

/// Revokes the family of a refresh token. Idempotent; an expired token is accepted.
///
/// # Errors
/// [`Error::Forbidden`] for a token of another account and for an actor that uses an API key;
/// [`Error::InvalidRefreshToken`]; or when the token store cannot be reached, in which case nothing is revoked.
pub async fn logout(app: &App, actor: &Actor, token: &str) -> Result<()> {
    // An API key has no session of its own and must not end those of its account.
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    let claims = match app.signer.verify_refresh(token, app.now()) {
        Ok(claims) => claims,
        Err(TokenError::Expired) => return Ok(()),
        Err(TokenError::Invalid | TokenError::WrongType) => return Err(Error::InvalidRefreshToken),
    };
    if claims.user != actor.user() {
        return Err(Error::Forbidden);
    }
    app.tokens.revoke(claims.family).await?;
    let mut work = app.store.begin().await?;
    if work.sessions().revoke(SessionId::of_family(claims.family), app.now()).await?
        && let Some(user) = work.users().get(claims.user).await?
    {
        let (initiator, target) = (Initiator::actor(actor), AuditTarget::user(&user));
        app.audit(&mut *work, &initiator, AuditAction::Logout, target, Changes::default()).await?;
    }
    Ok(work.commit().await?)
}
