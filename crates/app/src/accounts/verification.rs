//! Links for verifying an email address and for resetting a password.
//!
//! A request for a link reveals nothing about the account: everything that depends on it happens after the response.

use super::notices::Notice;
use super::{access, login_limits, random_text};
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::network::network;
use crate::rate_limit::counter_key;
use docent_domain::access::{Actor, AddVerifications, DeleteVerifications, Grant, ViewVerifications};
use docent_domain::audit::AuditAction;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{UserId, VerificationId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_domain::user::{Password, User};
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_ports::mailer::Mail;
use docent_ports::store::UnitOfWork;
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument;

/// Lifetime of a link that resets a password.
const RESET_LINK_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// Lifetime of a link that confirms an email address.
const EMAIL_LINK_LIFETIME: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The length of a token: 260 bits.
pub(super) const TOKEN_LENGTH: usize = 52;
/// Emails to one account that one client can request within [`CLIENT_PERIOD`].
const MAX_PER_CLIENT: u64 = 3;
const CLIENT_PERIOD: Duration = Duration::from_secs(15 * 60);
/// Links of an account after which a further one is only sent when the newest has used up half of its lifetime. Until
/// then one of the earlier emails has a link, so requests of others cannot keep the owner from getting one.
const LINKS_MAX: usize = 3;
/// Emails that are sent concurrently, without those of lists.
const CONCURRENCY: usize = 64;

/// Limits how many emails this process sends concurrently.
#[derive(Clone, Debug)]
pub struct OutgoingMail(Arc<Semaphore>);

impl OutgoingMail {
    /// Waits until another email can be sent; the permit is held while it is.
    pub(super) async fn acquire(self) -> Option<OwnedSemaphorePermit> {
        self.0.acquire_owned().await.ok()
    }
}

impl Default for OutgoingMail {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(CONCURRENCY)))
    }
}

/// A new link. Its token cannot be retrieved later.
#[derive(Clone)]
pub struct NewLink {
    /// The stored record.
    pub record: VerificationToken,
    /// The token in the link.
    pub token: String,
    /// The URL.
    pub link: String,
}

impl fmt::Debug for NewLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewLink({:?})", self.record)
    }
}

/// Whether links can be sent by email. Otherwise only staff can create them.
pub fn is_possible(app: &App) -> bool {
    app.mailer.is_configured()
}

/// Requests an email with a link for the account with this email address. Returns a future that sends it, if the
/// account exists and is eligible; the caller runs it after the response.
///
/// # Errors
/// [`Error::Invalid`] for an invalid email address, [`Error::TooManyEmails`], or when the key-value store cannot be
/// reached: the same errors, with the same timing, whether the account exists or not.
pub async fn request(
    app: &Arc<App>,
    purpose: VerificationPurpose,
    email: &str,
    address: IpAddr,
) -> Result<impl Future<Output = ()> + Send + 'static> {
    let email = Email::parse(email)?;
    throttle(app, purpose, &email, address).await?;
    let Ok(permit) = Arc::clone(&app.process.outgoing_mail.0).try_acquire_owned() else {
        let message = "too many emails at the same time";
        return Err(Fault::new(Component::MailServer, FaultKind::Unavailable, message).into());
    };
    let app = Arc::clone(app);
    let sending = async move {
        if let Err(error) = send_link(&app, purpose, &email, address).await {
            if let Error::Fault(fault) = &error {
                app.note(fault);
            }
            tracing::warn!(purpose = purpose.name(), error = %docent_domain::fault::report(&error), "an email could not be sent");
        }
        drop(permit);
    };
    Ok(sending.in_current_span())
}

pub(super) async fn throttle(
    app: &App,
    purpose: VerificationPurpose,
    email: &Email,
    address: IpAddr,
) -> Result<()> {
    let (purpose, email, now) = (purpose.name(), email.as_str(), app.now());
    let key = counter_key("mail", &[purpose, email, &network(address)]);
    let count = app.limiter.hit(&key, CLIENT_PERIOD, now).await?;
    if count.events > MAX_PER_CLIENT {
        return Err(Error::TooManyEmails { retry_after: count.resets_in });
    }
    Ok(())
}

async fn send_link(app: &App, purpose: VerificationPurpose, email: &Email, address: IpAddr) -> Result<()> {
    if !app.mailer.is_configured() {
        tracing::warn!(
            purpose = purpose.name(),
            "an email was requested but no mail server is configured; staff can create links"
        );
        return Ok(());
    }
    let user = app.store.read().await?.users().by_email(email).await?;
    let is_eligible = |user: &User| {
        let fits = match purpose {
            VerificationPurpose::VerifyEmail => user.email_verified_at.is_none(),
            // Accounts without a password sign in at an identity provider, which decides whether they may.
            VerificationPurpose::ResetPassword => {
                user.password.is_usable() && app.settings.password_login.allows(&user.email)
            }
            VerificationPurpose::ChangeEmail => true,
        };
        user.is_active && fits
    };
    let Some(user) = user.filter(is_eligible) else { return Ok(()) };
    if has_enough_links(app, &user, purpose).await? {
        tracing::debug!(
            purpose = purpose.name(),
            "no email was sent: the account has links that are still valid"
        );
        return Ok(());
    }
    let new = create_link(app, &Initiator::unauthenticated(address), &user, purpose, None).await?;
    Ok(app.mailer.send(&mail(app, user.email, &new)).await?)
}

/// The email with a link.
pub(super) fn mail(app: &App, to: Email, new: &NewLink) -> Mail {
    Mail { to, subject: subject(new.record.purpose).to_owned(), text: body(app, new) }
}

/// Whether the account has [`LINKS_MAX`] valid links, one of them in the first half of its lifetime.
async fn has_enough_links(app: &App, user: &User, purpose: VerificationPurpose) -> Result<bool> {
    let (now, page) = (app.now(), PageRequest { offset: 0, limit: 100 });
    let links = app.store.read().await?.verifications().list(Some(user.id), page).await?.records;
    let valid: Vec<_> =
        links.into_iter().filter(|link| link.purpose == purpose && link.is_valid(now)).collect();
    let is_young = |link: &VerificationToken| now - link.created_at < link.expires_at - now;
    Ok(valid.len() >= LINKS_MAX && valid.iter().any(is_young))
}

/// A page of active links, newest first, optionally of one account.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: &Grant<ViewVerifications>,
    user: Option<UserId>,
    page: PageRequest,
) -> Result<Page<VerificationToken>> {
    Ok(app.store.read().await?.verifications().list(user, page).await?)
}

/// Revokes a link.
///
/// # Errors
/// [`Error::NotFound`] when it was already used or revoked, or when the database cannot be reached.
pub async fn revoke(app: &App, grant: &Grant<DeleteVerifications>, id: VerificationId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let token = work.verifications().get(id).await?.ok_or(Error::NotFound(RecordKind::Verification))?;
    work.verifications().remove(id).await?;
    let emails = work.users().emails(&[token.user]).await?;
    let email = emails.get(&token.user).map_or("", |email| email.as_str());
    let target = AuditTarget::new(RecordKind::Verification, id, email);
    let (initiator, changes) =
        (Initiator::grantee(grant), Changes::default().added("purpose", token.purpose.name()));
    app.audit(&mut *work, &initiator, AuditAction::Revoke, target, changes).await?;
    Ok(work.commit().await?)
}

/// Creates a link for staff to pass on when email cannot be sent, and notifies the owner of one for a new
/// password. Earlier links stay valid. A link that verifies an address opens nothing.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] when the account is not active, and for a change of the email
/// address; [`Error::MissingAccess`] for a password reset of an account with access or data that the actor
/// does not have; or when the database cannot be reached.
pub async fn issue(
    app: &App,
    actor: &Actor,
    grant: &Grant<AddVerifications>,
    user: UserId,
    purpose: VerificationPurpose,
) -> Result<NewLink> {
    if purpose == VerificationPurpose::ChangeEmail {
        return Err(ValidationError::new("purpose", "must be verify_email or reset_password").into());
    }
    let mut view = app.store.read().await?;
    let user = view.users().get(user).await?.ok_or(Error::NotFound(RecordKind::User))?;
    if !user.is_active {
        return Err(ValidationError::of("user", Rule::ActiveAccount).into());
    }
    if purpose == VerificationPurpose::ResetPassword {
        access::ensure_can_take_over(&mut *view, actor, &user).await?;
    }
    let by = view.users().emails(&[actor.user()]).await?.remove(&actor.user());
    drop(view);
    let new = create_link(app, &Initiator::grantee(grant), &user, purpose, None).await?;
    if purpose == VerificationPurpose::ResetPassword {
        let by = by.as_ref().map_or("", |email| email.as_str());
        app.notify(&user.email, Notice::ResetLinkCreated { by });
    }
    Ok(new)
}

/// Creates a link. Replaces the account's earlier link for the same purpose.
pub(super) async fn create_link(
    app: &App,
    initiator: &Initiator,
    user: &User,
    purpose: VerificationPurpose,
    new_email: Option<Email>,
) -> Result<NewLink> {
    let now = app.now();
    let token = random_text(&*app.entropy, TOKEN_LENGTH);
    let lifetime = match purpose {
        VerificationPurpose::VerifyEmail | VerificationPurpose::ChangeEmail => EMAIL_LINK_LIFETIME,
        VerificationPurpose::ResetPassword => RESET_LINK_LIFETIME,
    };
    let record = VerificationToken {
        id: app.new_id(VerificationId::generate),
        user: user.id,
        purpose,
        new_email,
        sha256: digest(&token),
        created_at: now,
        expires_at: now + lifetime,
    };
    let target = AuditTarget::new(RecordKind::Verification, record.id, user.email.as_str());
    let changes = Changes::default().added("purpose", purpose.name()).field(
        "new_email",
        None,
        record.new_email.as_ref().map(|email| email.as_str().to_owned()),
    );
    let mut work = app.store.begin().await?;
    if purpose == VerificationPurpose::ChangeEmail {
        // Earlier links are for other addresses, which the owner no longer wants.
        work.verifications().remove_for_user(user.id, Some(purpose)).await?;
    }
    work.verifications().insert(&record).await?;
    app.audit(&mut *work, initiator, AuditAction::Add, target, changes).await?;
    work.commit().await?;
    let link = format!("{}{}?token={token}", app.settings.public_url, path(purpose));
    Ok(NewLink { record, token, link })
}

/// Sets the password of the account that a reset link was issued for, ends all of its sessions and notifies its owner.
///
/// # Errors
/// [`Error::InvalidLink`], or when the database cannot be reached.
pub async fn reset_password(app: &App, token: &str, password: Password, address: IpAddr) -> Result<()> {
    // Hashing is expensive, so the link is checked first.
    let link = app.store.read_latest().await?.verifications().by_sha256(&digest(token)).await?;
    if link.is_none_or(|link| link.purpose != VerificationPurpose::ResetPassword) {
        return Err(Error::InvalidLink);
    }
    let hash = app.hasher.hash(password.clone()).await?;
    let mut work = app.store.begin().await?;
    let (_, mut user) = redeem(app, &mut *work, token, VerificationPurpose::ResetPassword).await?;
    password.ensure_differs_from(&user.email)?;
    user.password = hash;
    app.account_service().end_sessions(&mut *work, &mut user).await?;
    let initiator = Initiator::account(user.id, Some(address));
    let changes = Changes::default().added("by", "link");
    app.audit(&mut *work, &initiator, AuditAction::SetPassword, AuditTarget::user(&user), changes).await?;
    work.commit().await?;
    app.notify(&user.email, Notice::PasswordChanged);
    login_limits::forget_failures(app, &user.email).await;
    Ok(())
}

/// Marks the email address of the account that a link was sent to as verified.
///
/// # Errors
/// [`Error::InvalidLink`], or when the database cannot be reached.
pub async fn verify_email(app: &App, token: &str, address: IpAddr) -> Result<()> {
    let mut work = app.store.begin().await?;
    let (_, mut user) = redeem(app, &mut *work, token, VerificationPurpose::VerifyEmail).await?;
    user.email_verified_at = Some(app.now());
    work.users().update(&user).await?;
    let (initiator, target) = (Initiator::account(user.id, Some(address)), AuditTarget::user(&user));
    app.audit(&mut *work, &initiator, AuditAction::VerifyEmail, target, Changes::default()).await?;
    Ok(work.commit().await?)
}

/// A valid link and the active account that it was issued for. This link and the account's others for the same purpose
/// are used up when the unit of work commits.
pub(super) async fn redeem(
    app: &App,
    work: &mut dyn UnitOfWork,
    token: &str,
    purpose: VerificationPurpose,
) -> Result<(VerificationToken, User)> {
    let link = work.verifications().by_sha256(&digest(token)).await?;
    let link = link.filter(|link| link.purpose == purpose && link.is_valid(app.now()));
    let link = link.ok_or(Error::InvalidLink)?;
    if !work.verifications().remove(link.id).await? {
        return Err(Error::InvalidLink);
    }
    work.verifications().remove_for_user(link.user, Some(purpose)).await?;
    let user = work.users().get(link.user).await?;
    let user = user.filter(|user| user.is_active).ok_or(Error::InvalidLink)?;
    Ok((link, user))
}

pub(super) fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The page that a link opens.
const fn path(purpose: VerificationPurpose) -> &'static str {
    match purpose {
        VerificationPurpose::VerifyEmail => "/account/verify-email",
        VerificationPurpose::ResetPassword => "/account/reset-password",
        VerificationPurpose::ChangeEmail => "/account/confirm-email",
    }
}

const fn subject(purpose: VerificationPurpose) -> &'static str {
    match purpose {
        VerificationPurpose::VerifyEmail => "Confirm your email address",
        VerificationPurpose::ResetPassword => "Reset your password",
        VerificationPurpose::ChangeEmail => "Confirm your new email address",
    }
}

fn body(app: &App, new: &NewLink) -> String {
    let request = match new.record.purpose {
        VerificationPurpose::VerifyEmail => "to confirm this email address",
        VerificationPurpose::ResetPassword => "to reset the password of the account with this email address",
        VerificationPurpose::ChangeEmail => "to change the email address of an account to this one",
    };
    let (site, link) = (&app.settings.public_url, &new.link);
    let expires_at = new.record.expires_at.format("%Y-%m-%d %H:%M");
    format!(
        "We received a request {request} at\n{site}\n\nIf you made this request, open this link:\n{link}\n\n\
         The link can be used once, until {expires_at} UTC. If you did not make this request, ignore this email.\n"
    )
}
