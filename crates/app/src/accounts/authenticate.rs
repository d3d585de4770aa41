//! Turning a credential into an actor.

use super::api_keys;
use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    access::{AccessRule, Actor, Operation},
    id::UserId,
    user::User,
};

/// Who holds this bearer credential: an access token, or an API key where they are accepted. What the account is
/// allowed is read if something that takes a permission is to be done.
///
/// # Errors
/// [`Error::Unauthenticated`] when it is not good or its account not active; or when the database cannot
/// be reached.
pub async fn bearer(app: &App, credential: &str) -> Result<Actor> {
    if api_keys::is_key(credential) {
        return api_keys::authenticate(app, credential).await;
    }
    if !app.settings.accepts_jwt {
        return Err(Error::Unauthenticated);
    }
    let claims = app.signer.verify_access(credential, app.clock.now()).map_err(|reason| {
        tracing::debug!(%reason, "access token refused");
        Error::Unauthenticated
    })?;
    let user = active(app, claims.user).await?;
    if !user.accepts_credentials_issued_at(claims.issued_at) {
        tracing::debug!(user = %user.id, "access token of a session that was ended refused");
        return Err(Error::Unauthenticated);
    }
    Actor::of(&user).ok_or(Error::Unauthenticated)
}

/// Whether doing `A` takes more than an active account.
pub const fn takes_permission<A: Operation>() -> bool {
    matches!(A::RULE, AccessRule::Permission(_))
}

/// The actor with what its account is allowed, by itself and by its groups.
///
/// # Errors
/// When the database cannot be reached.
pub async fn with_permissions(app: &App, actor: Actor) -> Result<Actor> {
    if actor.is_superuser() {
        return Ok(actor);
    }
    let permissions = app.store.read_latest().await?.groups().permissions(actor.user()).await?;
    Ok(actor.with_permissions(permissions))
}

/// The active account with this id.
///
/// # Errors
/// [`Error::Unauthenticated`] when there is none; or when the database cannot be reached.
pub(super) async fn active(app: &App, id: UserId) -> Result<User> {
    let user = app.store.read_latest().await?.users().get(id).await?;
    user.filter(|user| user.is_active).ok_or(Error::Unauthenticated)
}
