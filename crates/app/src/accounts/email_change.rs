//! Change of the actor's own email address, confirmed by a link that is mailed to the new one.

use super::notices::Notice;
use super::{profile, verification};
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::access::Actor;
use docent_domain::audit::AuditAction;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::text::Email;
use docent_domain::verification::VerificationPurpose::ChangeEmail;
use std::net::{IpAddr, Ipv4Addr};

/// Whether addresses can be changed: a mail server is configured.
pub fn is_possible(app: &App) -> bool {
    app.mailer.is_configured()
}

/// Mails a link to the new address. Nothing changes until it is confirmed. The result is the same whether another
/// account has the address or not.
///
/// # Errors
/// [`Error::InvalidCredentials`] when the password is wrong; [`Error::TooManyFailedLogins`]; [`Error::Invalid`] for the
/// actor's present address and without a mail server; [`Error::TooManyEmails`]; [`Error::Forbidden`] for an actor that
/// uses an API key; or when a store cannot be reached.
pub async fn request(app: &App, actor: &Actor, password: String, new: Email) -> Result<()> {
    if !is_possible(app) {
        return Err(ValidationError::new("email", "can be changed only by an administrator").into());
    }
    let user = profile::confirm_password(app, actor, password).await?;
    if new == user.email {
        return Err(ValidationError::of("email", Rule::OtherAddress).into());
    }
    let address = actor.client_ip().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    // By the present address, so that an account cannot send emails to many others.
    verification::throttle(app, ChangeEmail, &user.email, address).await?;
    let is_taken = app.store.read().await?.users().by_email(&new).await?.is_some();
    let link =
        verification::create_link(app, &Initiator::actor(actor), &user, ChangeEmail, Some(new.clone()))
            .await?;
    if !is_taken {
        app.send_in_background(verification::mail(app, new, &link));
    }
    Ok(())
}

/// Changes the email address of the account that a link was issued for. Its other links become invalid.
///
/// # Errors
/// [`Error::InvalidLink`], [`Error::EmailTaken`] when another account has got the address in the meantime, or when the
/// database cannot be reached.
pub async fn confirm(app: &App, token: &str, address: IpAddr) -> Result<()> {
    let mut work = app.store.begin().await?;
    let (link, before) = verification::redeem(app, &mut *work, token, ChangeEmail).await?;
    let new = link.new_email.ok_or(Error::InvalidLink)?;
    if work.users().by_email(&new).await?.is_some() {
        return Err(Error::EmailTaken);
    }
    let mut user = before.clone();
    user.email = new;
    user.email_verified_at = Some(app.now());
    work.users().update(&user).await?;
    work.verifications().remove_for_user(user.id, None).await?;
    let (initiator, target) = (Initiator::account(user.id, Some(address)), AuditTarget::user(&user));
    let changes = Changes::default().changed("email", before.email.as_str(), user.email.as_str());
    app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    work.commit().await?;
    app.notify(&before.email, Notice::EmailChanged { new: &user.email });
    Ok(())
}
