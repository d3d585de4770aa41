//! Second factors: an authenticator app (TOTP, RFC 6238), and recovery codes for when it is lost.

use super::notices::Notice;
use super::{AccountService, access, random_text};
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use chrono::{DateTime, Utc};
use docent_domain::access::{Actor, ChangeSecondFactor, ChangeUsers, Grant};
use docent_domain::audit::AuditAction;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::UserId;
use docent_domain::listing::{ApiKeyFilter, PageRequest, UserFilter};
use docent_domain::permission::RecordKind;
use docent_domain::second_factor::{SecondFactor, SecondFactorRule, TotpSecret};
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use sha2::{Digest, Sha256};
use std::fmt;
use totp_rs::{Builder, Totp, TotpError};

/// Accounts that are read at the same time.
const PAGE: usize = 500;
/// Number of recovery codes.
const RECOVERY_CODES: usize = 10;
/// Seconds for which the app shows a code.
const STEP_SECONDS: u64 = 30;
/// Codes before and after the current one that are valid too, since clocks differ.
const SKEW: u16 = 1;
/// Length of a recovery code: 50 bits.
const RECOVERY_CODE_LENGTH: usize = 10;

/// What an authenticator app needs, shown once.
#[derive(Clone)]
pub struct Enrolment {
    /// The secret in base32, for typing.
    pub secret: String,
    /// The `otpauth://` URI, for a QR code.
    pub uri: String,
}

impl fmt::Debug for Enrolment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Enrolment(…)")
    }
}

/// New recovery codes, shown once.
#[derive(Clone)]
pub struct RecoveryCodes(pub Vec<String>);

impl fmt::Debug for RecoveryCodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCodes(…)")
    }
}

/// Begins the setup with a new secret. The app shows it under the name of the `issuer`. Logins do not ask for codes before
/// [`confirm`].
///
/// # Errors
/// [`Error::ProofNeeded`]; [`Error::SecondFactorExists`]; or when the database cannot be reached.
pub async fn begin(app: &App, actor: &Actor, issuer: &str) -> Result<Enrolment> {
    actor.authorize::<ChangeSecondFactor>()?;
    let mut work = app.store.begin().await?;
    let mut user = own_account(&mut *work, actor).await?;
    if user.confirmed_second_factor().is_some() {
        return Err(Error::SecondFactorExists);
    }
    let secret = TotpSecret::from_bytes(app.random());
    user.second_factor = Some(SecondFactor {
        secret,
        begun_at: Some(app.now()),
        confirmed_at: None,
        last_step: 0,
        recovery_codes: Vec::new(),
    });
    work.users().update(&user).await?;
    work.commit().await?;
    enrolment(&user.email, &secret, issuer)
}

/// The setup that was begun in the last ten minutes and not ended, if any.
///
/// # Errors
/// [`Error::ProofNeeded`], since the secret is shown; or when the database cannot be reached.
pub async fn pending(app: &App, actor: &Actor, issuer: &str) -> Result<Option<Enrolment>> {
    actor.authorize::<ChangeSecondFactor>()?;
    let user = app.store.read().await?.users().get(actor.user()).await?;
    let pending = user.as_ref().and_then(|user| Some((user, user.second_factor.as_ref()?)));
    let pending = pending.filter(|(_, factor)| factor.is_being_set_up(app.now()));
    pending.map(|(user, factor)| enrolment(&user.email, &factor.secret, issuer)).transpose()
}

fn enrolment(email: &Email, secret: &TotpSecret, issuer: &str) -> Result<Enrolment> {
    let totp = totp(secret, email.as_str(), issuer)?;
    Ok(Enrolment { secret: totp.secret().to_base32(), uri: totp.to_url().map_err(invalid_parameters)? })
}

/// Ends the setup with the app's first code. From now on logins ask for codes.
///
/// # Errors
/// [`Error::ProofNeeded`]; [`Error::InvalidCode`]; [`Error::SetupExpired`] ten minutes after [`begin`];
/// [`Error::SecondFactorExists`]; or when the database cannot be reached.
pub async fn confirm(app: &App, actor: &Actor, code: &str) -> Result<RecoveryCodes> {
    actor.authorize::<ChangeSecondFactor>()?;
    let mut work = app.store.begin().await?;
    let mut user = own_account(&mut *work, actor).await?;
    if user.confirmed_second_factor().is_some() {
        return Err(Error::SecondFactorExists);
    }
    let now = app.now();
    let mut factor = user.second_factor.take().ok_or(Error::InvalidCode)?;
    if !factor.is_being_set_up(now) {
        return Err(Error::SetupExpired);
    }
    factor.last_step = matching_step(&factor, code, now)?.ok_or(Error::InvalidCode)?;
    factor.confirmed_at = Some(now);
    let (codes, digests) = new_recovery_codes(app);
    factor.recovery_codes = digests;
    user.second_factor = Some(factor);
    let changes = Changes::default().added("second_factor", "authenticator app");
    save(app, work, &user, &Initiator::actor(actor), changes).await?;
    app.notify(&user.email, Notice::SecondFactorAdded);
    Ok(codes)
}

/// Replaces the recovery codes.
///
/// # Errors
/// [`Error::ProofNeeded`]; [`Error::SecondFactorMissing`]; or when the database cannot be reached.
pub async fn renew_recovery_codes(app: &App, actor: &Actor) -> Result<RecoveryCodes> {
    actor.authorize::<ChangeSecondFactor>()?;
    let mut work = app.store.begin().await?;
    let mut user = own_account(&mut *work, actor).await?;
    let factor = user.second_factor.as_mut().filter(|factor| factor.confirmed_at.is_some());
    let (codes, digests) = new_recovery_codes(app);
    factor.ok_or(Error::SecondFactorMissing)?.recovery_codes = digests;
    let changes = Changes::default().added("recovery_codes", "renewed");
    save(app, work, &user, &Initiator::actor(actor), changes).await?;
    Ok(codes)
}

/// Removes the actor's second factor.
///
/// # Errors
/// [`Error::ProofNeeded`]; [`Error::SecondFactorRequired`] when the account must have one;
/// [`Error::SecondFactorMissing`]; or when the database cannot be reached.
pub async fn remove(app: &App, actor: &Actor) -> Result<()> {
    actor.authorize::<ChangeSecondFactor>()?;
    let mut work = app.store.begin().await?;
    let mut user = own_account(&mut *work, actor).await?;
    take_confirmed(&mut user)?;
    if user.lacks_second_factor(app.settings.second_factor_rule) {
        return Err(Error::SecondFactorRequired);
    }
    save(app, work, &user, &Initiator::actor(actor), removal()).await?;
    app.notify(&user.email, Notice::SecondFactorRemoved);
    Ok(())
}

/// Removes the second factor of an account that has lost it.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::SecondFactorMissing`]; [`Error::MissingAccess`] for an account with access
/// or data that the actor does not have; or when the database cannot be reached.
pub async fn reset(app: &App, actor: &Actor, grant: &Grant<ChangeUsers>, id: UserId) -> Result<()> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    access::ensure_can_take_over(&mut *view, actor, &user).await?;
    drop(view);
    let user = app.account_service().reset_second_factor(&Initiator::grantee(grant), id).await?;
    app.notify(&user.email, Notice::SecondFactorRemoved);
    Ok(())
}

/// Accounts that must have a second factor and do not, and their valid API keys, which are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Active accounts.
    pub accounts: u64,
    /// Valid API keys of these accounts.
    pub api_keys: u64,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accounts, api_keys } = self;
        write!(
            f,
            "accounts without the second factor that DOCENT_REQUIRE_2FA demands: {accounts}; their API keys, refused until it \
             is set up at /account/second-factor: {api_keys}"
        )
    }
}

/// Counts the accounts that must have a second factor and do not.
///
/// # Errors
/// When the database cannot be reached.
pub async fn count_missing(app: &App) -> Result<Missing> {
    let mut missing = Missing::default();
    let can_use_panel = match app.settings.second_factor_rule {
        SecondFactorRule::Optional => return Ok(missing),
        SecondFactorRule::Staff => Some(true),
        SecondFactorRule::Everyone => None,
    };
    let filter = UserFilter { is_active: Some(true), can_use_panel, ..UserFilter::default() };
    for offset in (0..).step_by(PAGE) {
        let page = PageRequest { offset, limit: PAGE as u64 };
        let users = app.store.read().await?.users().list(&filter, page).await?.records;
        for user in users.iter().filter(|user| user.lacks_second_factor(app.settings.second_factor_rule)) {
            let keys =
                ApiKeyFilter { user: Some(user.id), valid_at: Some(app.now()), ..ApiKeyFilter::default() };
            let first = PageRequest { offset: 0, limit: 1 };
            missing.api_keys += app.store.read().await?.api_keys().list(&keys, first).await?.total;
            missing.accounts += 1;
        }
        if users.len() < PAGE {
            break;
        }
    }
    Ok(missing)
}

impl AccountService<'_> {
    /// Removes the second factor of an account and ends its sessions.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::SecondFactorMissing`], or when the database cannot be reached.
    pub async fn reset_second_factor(self, initiator: &Initiator, id: UserId) -> Result<User> {
        let mut work = self.store.begin().await?;
        let mut user = work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
        take_confirmed(&mut user)?;
        self.end_sessions(&mut *work, &mut user).await?;
        let target = AuditTarget::user(&user);
        self.audit(&mut *work, initiator, AuditAction::Change, target, removal()).await?;
        work.commit().await?;
        Ok(user)
    }
}

/// Checks a code of the app, or a recovery code, and uses it up. Returns whether it is valid. Of concurrent uses of one
/// code exactly one succeeds.
pub(super) async fn use_code(app: &App, id: UserId, code: &str) -> Result<bool> {
    let mut work = app.store.begin().await?;
    let Some(mut user) = work.users().get(id).await? else { return Ok(false) };
    let Some(factor) = user.second_factor.as_mut().filter(|factor| factor.confirmed_at.is_some()) else {
        return Ok(false);
    };
    if let Some(step) = matching_step(factor, code, app.now())? {
        factor.last_step = step;
        work.users().update(&user).await?;
        work.commit().await?;
        return Ok(true);
    }
    let digest = digest(code);
    let Some(position) = factor.recovery_codes.iter().position(|known| *known == digest) else {
        return Ok(false);
    };
    factor.recovery_codes.remove(position);
    let left = factor.recovery_codes.len();
    let changes = Changes::default().changed("recovery_codes", left + 1, left);
    save(app, work, &user, &Initiator::account(id, None), changes).await?;
    Ok(true)
}

/// The time step of a code that is valid now and was not used yet. A last step that no code has yet was recorded when the
/// clock was ahead, and does not count.
fn matching_step(factor: &SecondFactor, code: &str, now: DateTime<Utc>) -> Result<Option<u64>> {
    let digits: String = code.chars().filter(|character| !character.is_whitespace()).collect();
    let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
    let matched = totp(&factor.secret, "", "")?.check(&digits, seconds);
    let is_ahead = factor.last_step > seconds / STEP_SECONDS + u64::from(SKEW);
    Ok(matched.filter(|step| *step > factor.last_step || is_ahead))
}

/// Codes of 6 digits.
fn totp(secret: &TotpSecret, account: &str, issuer: &str) -> Result<Totp> {
    // The URI separates issuer and account by a colon.
    let name = |name: &str| name.replace(':', " ");
    let totp = Builder::new()
        .with_secret(*secret.expose())
        .with_digits(6)
        .with_step_duration(STEP_SECONDS)
        .with_skew(SKEW)
        .with_account_name(name(account))
        .with_issuer(Some(name(issuer)))
        .build();
    totp.map_err(|error| invalid_parameters(error).into())
}

fn invalid_parameters(error: TotpError) -> Fault {
    let message = "the parameters of an authenticator app are invalid";
    Fault::new(Component::Service, FaultKind::Internal, message).caused_by(error)
}

fn new_recovery_codes(app: &App) -> (RecoveryCodes, Vec<[u8; 32]>) {
    let code = |_| {
        let mut code = random_text(&*app.entropy, RECOVERY_CODE_LENGTH);
        code.insert(RECOVERY_CODE_LENGTH / 2, '-');
        code
    };
    let codes: Vec<String> = (0..RECOVERY_CODES).map(code).collect();
    let digests = codes.iter().map(|code| digest(code)).collect();
    (RecoveryCodes(codes), digests)
}

/// The digest of a recovery code, however it is spaced. Codes have 50 random bits and are tried a few times at most, so
/// a fast digest suffices.
fn digest(code: &str) -> [u8; 32] {
    let letters = code.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase());
    Sha256::digest(letters.collect::<String>().as_bytes()).into()
}

/// Removes the second factor from the record, if its setup has ended.
fn take_confirmed(user: &mut User) -> Result<()> {
    user.confirmed_second_factor().ok_or(Error::SecondFactorMissing)?;
    user.second_factor = None;
    Ok(())
}

fn removal() -> Changes {
    Changes::default().changed("second_factor", "authenticator app", "none")
}

pub(super) async fn own_account(work: &mut dyn UnitOfWork, actor: &Actor) -> Result<User> {
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    work.users().get(actor.user()).await?.ok_or(Error::NotFound(RecordKind::User))
}

/// Stores the account with an audit entry.
async fn save(
    app: &App,
    mut work: Box<dyn UnitOfWork>,
    user: &User,
    initiator: &Initiator,
    changes: Changes,
) -> Result<()> {
    work.users().update(user).await?;
    app.audit(&mut *work, initiator, AuditAction::Change, AuditTarget::user(user), changes).await?;
    Ok(work.commit().await?)
}
