//! The actor's own account.

use super::login;
use crate::App;
use crate::audit::Initiator;
use crate::error::{Error, Result};
use docent_domain::access::Actor;
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::user::{Password, User};
use std::net::{IpAddr, Ipv4Addr};

/// The actor's account and effective permissions.
///
/// # Errors
/// When the database cannot be reached.
pub async fn get(app: &App, actor: &Actor) -> Result<(User, PermissionSet)> {
    let user = app.store.read().await?.users().get(actor.user()).await?;
    Ok((user.ok_or(Error::NotFound(RecordKind::User))?, actor.permissions()))
}

/// Changes the actor's password and ends all of the actor's sessions. A wrong current password counts as a failed
/// login.
///
/// # Errors
/// [`Error::InvalidCredentials`] when the current password is wrong; [`Error::TooManyFailedLogins`];
/// [`Error::Forbidden`] for an actor that uses an API key; or when a store cannot be reached.
pub async fn change_password(app: &App, actor: &Actor, current: String, new: Password) -> Result<()> {
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    let (user, _) = get(app, actor).await?;
    let address = actor.client_ip().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let is_own = |account: &User| account.id == user.id;
    login::check_password(app, user.email.as_str(), current, address, is_own).await?;
    app.account_service().set_password(&Initiator::actor(actor), user.id, new).await?;
    Ok(())
}
