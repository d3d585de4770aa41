//! The actor's own account.

use super::create::lock_unless_last_superuser;
use super::login::{self, Code};
use super::login_limits;
use super::notices::Notice;
use super::second_factor::own_account;
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::access::{Actor, ConnectIdentity};
use docent_domain::audit::AuditAction;
use docent_domain::id::SessionId;
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::text::{LanguageTag, PersonName};
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

/// The actor's account, after a check of its password. A wrong password counts as a failed login. For an account without a
/// password, a recent proof of identity suffices.
///
/// # Errors
/// [`Error::InvalidCredentials`] when the password is wrong; [`Error::ProofNeeded`]; [`Error::TooManyFailedLogins`]; [`Error::Forbidden`] for
/// an actor that uses an API key; or when a store cannot be reached.
pub(super) async fn confirm_password(app: &App, actor: &Actor, password: String) -> Result<User> {
    confirm(app, actor, password, Code::NotNeeded).await
}

async fn confirm(app: &App, actor: &Actor, password: String, code: Code<'_>) -> Result<User> {
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    let (user, _) = get(app, actor).await?;
    // The owner has proven its identity at an identity provider.
    if !user.password.is_usable() && matches!(code, Code::NotNeeded) {
        actor.ensure_proof::<ConnectIdentity>()?;
        return Ok(user);
    }
    let address = actor.client_ip().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let is_own = |account: &User| account.id == user.id;
    login::check_password(app, user.email.as_str(), password, code, address, is_own).await
}

/// Proves again who uses a session, by the password or by a code of the second factor. A wrong one counts as a failed
/// login.
///
/// # Errors
/// Those of [`confirm_password`]; [`Error::Unauthenticated`] when the session has ended.
pub async fn prove_identity(
    app: &App,
    actor: &Actor,
    session: SessionId,
    password_or_code: String,
) -> Result<()> {
    confirm(app, actor, password_or_code, Code::InsteadOfPassword).await?;
    let mut work = app.store.begin().await?;
    if !work.sessions().verify(session, app.now()).await? {
        return Err(Error::Unauthenticated);
    }
    Ok(work.commit().await?)
}

/// Chooses the language of the pages, or leaves it to the browser.
///
/// # Errors
/// [`Error::Forbidden`] for an actor that uses an API key; or when the database cannot be reached.
pub async fn set_language(app: &App, actor: &Actor, language: Option<LanguageTag>) -> Result<()> {
    let mut work = app.store.begin().await?;
    let user = own_account(&mut *work, actor).await?;
    work.users().update(&User { language, ..user }).await?;
    Ok(work.commit().await?)
}

/// Chooses the name that others see, or none.
///
/// # Errors
/// [`Error::Forbidden`] for an actor that uses an API key; or when the database cannot be reached.
pub async fn set_name(app: &App, actor: &Actor, name: Option<PersonName>) -> Result<()> {
    let mut work = app.store.begin().await?;
    let user = own_account(&mut *work, actor).await?;
    let text = |name: &Option<PersonName>| name.as_ref().map(String::from);
    let changes = Changes::default().field("name", text(&user.name), text(&name));
    if changes.is_empty() {
        return Ok(());
    }
    let user = User { name, ..user };
    work.users().update(&user).await?;
    let (initiator, target) = (Initiator::actor(actor), AuditTarget::user(&user));
    app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    Ok(work.commit().await?)
}

/// Changes the actor's password, ends all of the actor's sessions and notifies the owner.
///
/// # Errors
/// Those of [`confirm_password`]; [`Error::Forbidden`] for an account without a password, which signs in at an identity
/// provider.
pub async fn change_password(app: &App, actor: &Actor, current: String, new: Password) -> Result<()> {
    let user = confirm_password(app, actor, current).await?;
    if !user.password.is_usable() {
        return Err(Error::Forbidden);
    }
    app.account_service().set_password(&Initiator::actor(actor), user.id, new).await?;
    login_limits::forget_failures(app, &user.email).await;
    app.notify(&user.email, Notice::PasswordChanged);
    Ok(())
}

/// Deletes the actor's account with its permissions, API keys, sessions and conversations. Its documents remain,
/// without an owner, because other accounts use them; the owner can delete them before.
///
/// # Errors
/// Those of [`confirm_password`], or [`Error::LastSuperuser`].
pub async fn delete(app: &App, actor: &Actor, password: String) -> Result<()> {
    let id = confirm_password(app, actor, password).await?.id;
    let mut work = app.store.begin().await?;
    let user = lock_unless_last_superuser(&mut *work, id).await?;
    // Before the deletion, after which the account's email address is unknown.
    let (initiator, target) = (Initiator::actor(actor), AuditTarget::user(&user));
    app.audit(&mut *work, &initiator, AuditAction::Delete, target, Changes::default()).await?;
    work.users().delete(id).await?;
    work.commit().await?;
    app.notify(&user.email, Notice::AccountDeleted);
    Ok(())
}
