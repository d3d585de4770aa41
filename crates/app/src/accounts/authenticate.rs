//! Turning an access token into an actor.

use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{access::Actor, id::UserId};

/// Who holds this access token.
///
/// # Errors
/// [`Error::Unauthenticated`] when the token is not good or its account not active; or when the
/// database cannot be reached.
pub async fn by_access_token(app: &App, token: &str) -> Result<Actor> {
    let claims = app.signer.verify_access(token, app.clock.now()).map_err(|reason| {
        tracing::debug!(%reason, "access token refused");
        Error::Unauthenticated
    })?;
    by_user_id(app, claims.user).await
}

/// The actor behind an account that was identified in another way, such as a session cookie.
///
/// # Errors
/// [`Error::Unauthenticated`] when there is no such active account; or when the database cannot be
/// reached.
pub async fn by_user_id(app: &App, id: UserId) -> Result<Actor> {
    let user = app.store.glance().await?.users().get(id).await?;
    user.as_ref().and_then(Actor::of).ok_or(Error::Unauthenticated)
}
