//! Ending a login.

use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::access::Actor;
use docent_ports::token_signer::TokenError;

/// Revokes the family of a refresh token. Repeating it does no harm, and neither does a token that
/// has expired.
///
/// # Errors
/// [`Error::Forbidden`] for a token of another account; [`Error::RefreshTokenRefused`] for what is no
/// refresh token of ours; or when the key-value store cannot be reached: then nothing is revoked,
/// and the caller must not believe that it is.
pub async fn logout(app: &App, actor: &Actor, token: &str) -> Result<()> {
    let claims = match app.signer.verify_refresh(token, app.clock.now()) {
        Ok(claims) => claims,
        Err(TokenError::Expired) => return Ok(()),
        Err(TokenError::Invalid | TokenError::WrongType) => return Err(Error::RefreshTokenRefused),
    };
    if claims.user != actor.user() {
        return Err(Error::Forbidden);
    }
    Ok(app.tokens.revoke(claims.family).await?)
}
