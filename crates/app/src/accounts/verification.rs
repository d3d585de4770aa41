//! Links that prove that somebody reads the mail of an account, for verifying its address and for choosing a new
//! password.
//!
//! Whoever asks for one learns nothing: what depends on the account happens after the answer.

use super::{create::Registrar, random_text};
use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{
    access::{AddVerifications, DeleteVerifications, Grant, ViewVerifications},
    audit::AuditAction,
    error::ValidationError,
    id::{UserId, VerificationId},
    permission::RecordKind,
    text::Email,
    user::{Password, User},
    verification::{VerificationPurpose, VerificationToken},
};
use docent_ports::{
    error::{Component, Fault, FaultKind},
    mailer::Mail,
    page::{Page, PageRequest},
    store::UnitOfWork,
};
use sha2::{Digest, Sha256};
use std::{fmt, net::IpAddr, sync::Arc, time::Duration};
use tokio::sync::Semaphore;
use tracing::Instrument;

/// Characters of a secret: 260 bits.
const SECRET: usize = 52;
/// Letters to one account that one client may ask for within [`PERIOD`].
const BY_CLIENT: u64 = 3;
const PERIOD: Duration = Duration::from_secs(15 * 60);
/// Letters to one account within a day, whoever asks.
const BY_ACCOUNT: u64 = 20;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Letters that are being written and sent at a time.
const AT_ONCE: usize = 64;

/// Letters under way in this process.
#[derive(Clone, Debug)]
pub struct Letters(Arc<Semaphore>);

impl Default for Letters {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

/// A link that was just made. Nobody is shown it again.
#[derive(Clone)]
pub struct NewLink {
    /// Its record.
    pub record: VerificationToken,
    /// The secret in it.
    pub token: String,
    /// The address to open.
    pub link: String,
}

impl fmt::Debug for NewLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewLink({:?})", self.record)
    }
}

/// A letter with a link to the account with this address, if there is an active one that the link is good for. It is
/// written and sent by the future that this gives, which is for the caller to run once the answer is given.
///
/// # Errors
/// [`Error::Invalid`] for what is no address, [`Error::TooManyLetters`], or when the key-value store cannot be
/// reached: the same ones, after the same time, whether there is such an account or not.
pub async fn ask(
    app: &Arc<App>,
    purpose: VerificationPurpose,
    email: &str,
    from: IpAddr,
) -> Result<impl Future<Output = ()> + Send + 'static> {
    let email = Email::parse(email)?;
    throttle(app, purpose, &email, from).await?;
    let Ok(permit) = Arc::clone(&app.letters.0).try_acquire_owned() else {
        return Err(
            Fault::new(Component::MailServer, FaultKind::Unavailable, "too many letters at a time").into()
        );
    };
    let app = Arc::clone(app);
    let sending = async move {
        if let Err(error) = write_to(&app, purpose, &email, from).await {
            if let Error::Fault(fault) = &error {
                app.note(fault);
            }
            tracing::warn!(purpose = purpose.name(), error = %docent_ports::error::report(&error), "a letter could not be sent");
        }
        drop(permit);
    };
    Ok(sending.in_current_span())
}

async fn throttle(app: &App, purpose: VerificationPurpose, email: &Email, from: IpAddr) -> Result<()> {
    let (purpose, email, now) = (purpose.name(), email.as_str(), app.clock.now());
    for (key, limit, window) in [
        (format!("letters:{purpose}:{email}:{from}"), BY_CLIENT, PERIOD),
        (format!("letters:{purpose}:{email}"), BY_ACCOUNT, DAY),
    ] {
        let count = app.limiter.hit(&key, window, now).await?;
        if count.events > limit {
            return Err(Error::TooManyLetters { retry_after: count.resets_in });
        }
    }
    Ok(())
}

async fn write_to(app: &App, purpose: VerificationPurpose, email: &Email, from: IpAddr) -> Result<()> {
    if !app.mailer.is_configured() {
        tracing::warn!(
            purpose = purpose.name(),
            "a letter was asked for, and there is no mail server; staff can make links"
        );
        return Ok(());
    }
    let user = app.store.read().await?.users().by_email(email).await?;
    let wants = |user: &User| {
        user.is_active && (purpose != VerificationPurpose::VerifyEmail || user.email_verified_at.is_none())
    };
    let Some(user) = user.filter(wants) else { return Ok(()) };
    let new = make(app, &By::nobody(from), &user, purpose).await?;
    let mail = Mail { to: user.email, subject: subject(purpose).to_owned(), text: letter(app, &new) };
    Ok(app.mailer.send(&mail).await?)
}

/// The links that are open, the newest first; of one account when given.
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

/// Makes a link void.
///
/// # Errors
/// [`Error::NotFound`] when it was used or removed already, or when the database cannot be reached.
pub async fn revoke(app: &App, grant: &Grant<DeleteVerifications>, id: VerificationId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let token = work.verifications().get(id).await?.ok_or(Error::NotFound(RecordKind::Verification))?;
    work.verifications().remove(id).await?;
    let emails = work.users().emails(&[token.user]).await?;
    let label = emails.get(&token.user).map_or("", |email| email.as_str());
    let subject = Subject::new(RecordKind::Verification, id, label);
    let (by, changes) = (By::holder(grant), Changes::default().added("purpose", token.purpose.name()));
    app.auditor().write(&mut *work, &by, AuditAction::Revoke, subject, changes).await?;
    Ok(work.commit().await?)
}

/// Makes a link for staff to hand on, for one where mail cannot be sent. The one that the account had before is
/// void.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Invalid`] when the account is not active; [`Error::Forbidden`] for a link to
/// the password of an account that is allowed more than the holder of the grant, who could become it; or when the
/// database cannot be reached.
pub async fn issue(
    app: &App,
    grant: &Grant<AddVerifications>,
    user: UserId,
    purpose: VerificationPurpose,
) -> Result<NewLink> {
    let mut view = app.store.read().await?;
    let user = view.users().get(user).await?.ok_or(Error::NotFound(RecordKind::User))?;
    if !user.is_active {
        return Err(ValidationError::new("user", "is not active").into());
    }
    let holder = view.users().get(grant.user()).await?.ok_or(Error::Forbidden)?;
    let (theirs, own) =
        (view.groups().permissions(user.id).await?, view.groups().permissions(holder.id).await?);
    let is_above = user.is_superuser || !own.contains_all(theirs);
    if purpose == VerificationPurpose::ResetPassword && is_above && !holder.is_superuser {
        return Err(Error::Forbidden);
    }
    drop(view);
    make(app, &By::holder(grant), &user, purpose).await
}

async fn make(app: &App, by: &By, user: &User, purpose: VerificationPurpose) -> Result<NewLink> {
    let now = app.clock.now();
    let token = random_text(&*app.entropy, SECRET);
    let lifetime = match purpose {
        VerificationPurpose::VerifyEmail => app.settings.email_verification_ttl,
        VerificationPurpose::ResetPassword => app.settings.password_reset_ttl,
    };
    let record = VerificationToken {
        id: app.new_id(VerificationId::generate),
        user: user.id,
        purpose,
        sha256: digest(&token),
        created_at: now,
        expires_at: now + lifetime,
    };
    let subject = Subject::new(RecordKind::Verification, record.id, user.email.as_str());
    let changes = Changes::default().added("purpose", purpose.name());
    let mut work = app.store.begin().await?;
    work.verifications().put(&record).await?;
    app.auditor().write(&mut *work, by, AuditAction::Add, subject, changes).await?;
    work.commit().await?;
    let link = format!("{}{}?token={token}", app.settings.public_url, path(purpose));
    Ok(NewLink { record, token, link })
}

/// Gives an account the password that the holder of a link chose, and ends all of its sessions.
///
/// # Errors
/// [`Error::LinkRefused`], or when the database cannot be reached.
pub async fn reset_password(app: &App, token: &str, password: Password, from: IpAddr) -> Result<()> {
    // Hashing is dear: nobody without a good link has it done.
    let known = app.store.read_latest().await?.verifications().by_sha256(&digest(token)).await?;
    if known.is_none_or(|known| known.purpose != VerificationPurpose::ResetPassword) {
        return Err(Error::LinkRefused);
    }
    let hash = app.hasher.hash(password).await?;
    let mut work = app.store.begin().await?;
    let mut user = redeem(app, &mut *work, token, VerificationPurpose::ResetPassword).await?;
    user.password = hash;
    let registrar: Registrar<'_> = app.registrar();
    registrar.end_sessions(&mut *work, &mut user).await?;
    let by = By::account(user.id, Some(from));
    let changes = Changes::default().added("by", "link");
    app.auditor().write(&mut *work, &by, AuditAction::SetPassword, Subject::user(&user), changes).await?;
    Ok(work.commit().await?)
}

/// Takes note that the address of an account is right, since the holder of a link got it there.
///
/// # Errors
/// [`Error::LinkRefused`], or when the database cannot be reached.
pub async fn verify_email(app: &App, token: &str, from: IpAddr) -> Result<()> {
    let mut work = app.store.begin().await?;
    let mut user = redeem(app, &mut *work, token, VerificationPurpose::VerifyEmail).await?;
    user.email_verified_at = Some(app.clock.now());
    work.users().update(&user).await?;
    let by = By::account(user.id, Some(from));
    app.auditor()
        .write(&mut *work, &by, AuditAction::VerifyEmail, Subject::user(&user), Changes::default())
        .await?;
    Ok(work.commit().await?)
}

/// The active account that a link is good for. It is good no more when the unit of work commits.
async fn redeem(
    app: &App,
    work: &mut dyn UnitOfWork,
    token: &str,
    purpose: VerificationPurpose,
) -> Result<User> {
    let known = work.verifications().by_sha256(&digest(token)).await?;
    let good = known.filter(|known| known.purpose == purpose && known.is_valid(app.clock.now()));
    let good = good.ok_or(Error::LinkRefused)?;
    if !work.verifications().remove(good.id).await? {
        return Err(Error::LinkRefused);
    }
    let user = work.users().get(good.user).await?;
    user.filter(|user| user.is_active).ok_or(Error::LinkRefused)
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// The page that a link leads to.
const fn path(purpose: VerificationPurpose) -> &'static str {
    match purpose {
        VerificationPurpose::VerifyEmail => "/account/verify-email",
        VerificationPurpose::ResetPassword => "/account/reset-password",
    }
}

const fn subject(purpose: VerificationPurpose) -> &'static str {
    match purpose {
        VerificationPurpose::VerifyEmail => "Please confirm your e-mail address",
        VerificationPurpose::ResetPassword => "Choose a new password",
    }
}

fn letter(app: &App, new: &NewLink) -> String {
    let what = match new.record.purpose {
        VerificationPurpose::VerifyEmail => "to have this e-mail address confirmed as that of an account",
        VerificationPurpose::ResetPassword => "for a new password for the account with this e-mail address",
    };
    let (site, link) = (&app.settings.public_url, &new.link);
    let end = new.record.expires_at.format("%Y-%m-%d %H:%M");
    format!(
        "Somebody asked {what} at\n{site}\n\nIf that was you, open this link:\n{link}\n\n\
         It works once, until {end} UTC. If it was not you, you need do nothing.\n"
    )
}
