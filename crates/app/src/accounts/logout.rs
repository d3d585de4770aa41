//! Ending a login.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{access::Actor, audit::AuditAction, id::SessionId};
use docent_ports::token_signer::TokenError;

/// Revokes the family of a refresh token. Repeating it does no harm, and neither does a token that
/// has expired.
///
/// # Errors
/// [`Error::Forbidden`] for a token of another account; [`Error::RefreshTokenRefused`] for what is no
/// refresh token of ours; or when the key-value store cannot be reached: then nothing is revoked,
/// and the caller must not believe that it is.
pub async fn logout(app: &App, actor: &Actor, token: &str) -> Result<()> {
    // A key has no session to end, and is no way to end those of people.
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    let claims = match app.signer.verify_refresh(token, app.clock.now()) {
        Ok(claims) => claims,
        Err(TokenError::Expired) => return Ok(()),
        Err(TokenError::Invalid | TokenError::WrongType) => return Err(Error::RefreshTokenRefused),
    };
    if claims.user != actor.user() {
        return Err(Error::Forbidden);
    }
    app.tokens.revoke(claims.family).await?;
    let mut work = app.store.begin().await?;
    if work.sessions().revoke(SessionId::of_family(claims.family), app.clock.now()).await?
        && let Some(user) = work.users().get(claims.user).await?
    {
        let subject = Subject::user(&user);
        app.auditor()
            .write(&mut *work, &By::actor(actor), AuditAction::Logout, subject, Changes::default())
            .await?;
    }
    Ok(work.commit().await?)
}
