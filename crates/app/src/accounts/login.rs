//! Logging in with e-mail and password.

use super::{NewPair, TokenPair, sessions, sessions::Origin};
use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{
    access::{Actor, UseAdminPanel},
    audit::AuditAction,
    id::{FamilyId, SessionId},
    permission::RecordKind,
    session::{Session, SessionKind},
    text::Email,
    user::{Password, User},
};
use std::{net::IpAddr, time::Duration};

/// A lock that follows others within this time is twice as long as the one before.
const LOCKS_REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// Starts a family of tokens for the account with this address and password.
///
/// # Errors
/// [`Error::WrongCredentials`], the same and after the same time whether the account is unknown, inactive or
/// has another password; [`Error::TooManyLogins`]; or when a store cannot be reached, also the key-value store
/// that keeps the refresh token.
pub async fn login(app: &App, email: &str, password: String, origin: &Origin) -> Result<TokenPair> {
    let user = check_password(app, email, password, origin.address, |_| true).await?;
    let pair = NewPair::of(app, user.id, app.new_id(FamilyId::generate));
    let refresh = &pair.refresh;
    app.tokens.start(user.id, refresh.family, refresh.id, refresh.expires_at, refresh.issued_at).await?;
    let id = SessionId::of_family(refresh.family);
    let session = origin.session(id, user.id, SessionKind::Api, refresh.issued_at, refresh.expires_at);
    begin(app, &user, &session).await?;
    Ok(pair.sign(app))
}

/// Starts a session at the panel for the staff account with this address and password.
///
/// # Errors
/// Those of [`login`]; [`Error::WrongCredentials`] also for an account that may not enter.
pub async fn enter_panel(app: &App, email: &str, password: String, origin: &Origin) -> Result<SessionId> {
    let may_enter =
        |user: &User| Actor::of(user).is_some_and(|actor| actor.authorize::<UseAdminPanel>().is_ok());
    let user = check_password(app, email, password, origin.address, may_enter).await?;
    let now = app.clock.now();
    let id = app.new_id(SessionId::generate);
    let session = origin.session(id, user.id, SessionKind::Panel, now, now + sessions::PANEL_LONGEST);
    begin(app, &user, &session).await?;
    Ok(id)
}

/// Writes the session, and the login with it.
async fn begin(app: &App, user: &User, session: &Session) -> Result<()> {
    let mut work = app.store.begin().await?;
    // It may have been deactivated, or given another password, while this one was checked.
    let current = work.users().get(user.id).await?.filter(|current| current.password == user.password);
    let Some(mut current) = current.filter(|current| current.is_active) else {
        return Err(Error::WrongCredentials);
    };
    current.last_login_at = Some(session.started_at);
    work.users().update(&current).await?;
    work.sessions().insert(session).await?;
    let by = By::account(user.id, session.client_ip);
    let changes = Changes::default().added("session", session.kind.name());
    app.auditor().write(&mut *work, &by, AuditAction::Login, Subject::user(&current), changes).await?;
    Ok(work.commit().await?)
}

/// The active account with this address and password, if it is a `wanted` one.
pub(super) async fn check_password(
    app: &App,
    email: &str,
    password: String,
    from: IpAddr,
    wanted: impl Fn(&User) -> bool,
) -> Result<User> {
    let email = Email::parse(email).ok();
    let throttle = Throttle::of(app, email.as_ref(), from);
    // One try at a time for each key: tries made at once cannot slip past the count, and those with the
    // right password are not counted.
    let _turn = app.logins.turn(&throttle.key).await;
    throttle.check().await?;

    let known = match &email {
        Some(email) => app.store.read().await?.users().by_email(email).await?,
        None => None,
    };
    let active = known.clone().filter(|user| user.is_active && wanted(user));
    let Some(user) = verified(app, active, password).await? else {
        throttle.count().await?;
        note_failure(app, known, from).await?;
        return Err(Error::WrongCredentials);
    };
    throttle.reset().await?;
    Ok(user)
}

/// The account, if the password is its own. Without an account it takes as long as with one.
async fn verified(app: &App, known: Option<User>, password: String) -> Result<Option<User>> {
    let Ok(password) = Password::parse_existing(password) else { return Ok(None) };
    let hash = known.as_ref().map(|user| user.password.clone());
    let is_right = app.hasher.verify(password, hash).await?;
    Ok(known.filter(|_| is_right))
}

/// Writes a failed login down; one as nobody is written too, so that the time tells nothing.
async fn note_failure(app: &App, known: Option<User>, from: IpAddr) -> Result<()> {
    let subject = known
        .map_or_else(|| Subject::new(RecordKind::User, "", "unknown account"), |user| Subject::user(&user));
    let mut work = app.store.begin().await?;
    app.auditor()
        .write(&mut *work, &By::nobody(from), AuditAction::LoginFailed, subject, Changes::default())
        .await?;
    Ok(work.commit().await?)
}

/// Counts the failed logins of one account from one address; a success forgets them.
///
/// The failure that reaches the limit locks the two for the period; each lock within a day is twice as long as
/// the one before.
struct Throttle<'a> {
    app: &'a App,
    key: String,
}

impl<'a> Throttle<'a> {
    fn of(app: &'a App, email: Option<&Email>, from: IpAddr) -> Self {
        Self { app, key: format!("login:{from}:{}", email.map_or("", Email::as_str)) }
    }

    fn lock(&self) -> String {
        format!("{}:lock", self.key)
    }

    fn locks(&self) -> String {
        format!("{}:locks", self.key)
    }

    async fn check(&self) -> Result<()> {
        let now = self.app.clock.now();
        let lock = self.app.limiter.peek(&self.lock(), now).await?;
        let failures = self.app.limiter.peek(&self.key, now).await?;
        let is_full = failures.events >= self.app.settings.login_max_failures;
        if lock.events == 0 && !is_full {
            return Ok(());
        }
        let rest = if is_full { failures.resets_in } else { Duration::ZERO };
        Err(Error::TooManyLogins { retry_after: lock.resets_in.max(rest) })
    }

    async fn count(&self) -> Result<()> {
        let (period, now) = (self.app.settings.login_failure_period, self.app.clock.now());
        let failures = self.app.limiter.hit(&self.key, period, now).await?;
        if failures.events == self.app.settings.login_max_failures {
            let locks = self.app.limiter.hit(&self.locks(), LOCKS_REMEMBERED, now).await?;
            let doubled = u32::try_from(locks.events.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
            let longer = period.saturating_mul(2_u32.saturating_pow(doubled)).min(LOCKS_REMEMBERED);
            self.app.limiter.hit(&self.lock(), longer, now).await?;
        }
        Ok(())
    }

    async fn reset(&self) -> Result<()> {
        self.app.limiter.reset(&self.key).await?;
        Ok(self.app.limiter.reset(&self.locks()).await?)
    }
}
