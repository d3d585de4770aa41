//! What people do with their own accounts.

use super::login;
use crate::{
    App,
    audit::By,
    error::{Error, Result},
};
use docent_domain::{
    access::Actor,
    permission::{PermissionSet, RecordKind},
    user::{Password, User},
};
use std::net::{IpAddr, Ipv4Addr};

/// The actor's account, and what it is allowed.
///
/// # Errors
/// When the database cannot be reached.
pub async fn get(app: &App, actor: &Actor) -> Result<(User, PermissionSet)> {
    let user = app.store.read().await?.users().get(actor.user()).await?;
    Ok((user.ok_or(Error::NotFound(RecordKind::User))?, actor.permissions()))
}

/// Gives the actor a new password for the present one, and ends all of their sessions. Wrong guesses of the present
/// one count as failed logins.
///
/// # Errors
/// [`Error::WrongCredentials`] when the present one is wrong, [`Error::TooManyLogins`], [`Error::Forbidden`] for
/// somebody who is here by a key, or when a store cannot be reached.
pub async fn change_password(app: &App, actor: &Actor, present: String, new: Password) -> Result<()> {
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    let (user, _) = get(app, actor).await?;
    let from = actor.client_ip().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let is_own = |known: &User| known.id == user.id;
    login::check_password(app, user.email.as_str(), present, from, is_own).await?;
    app.registrar().set_password(&By::actor(actor), user.id, new).await?;
    Ok(())
}
