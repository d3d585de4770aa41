//! Login with email address and password.

use super::login_limits::{self, LoginLimits};
use super::notices::Notice;
use super::sessions::ClientInfo;
use super::single_sign_on::provider_sign_in::ProviderSignIn;
use super::{NewPair, TokenPair, authenticate, second_factor};
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator, failed_logins};
use crate::error::{Error, Result};
use crate::network::network;
use chrono::{DateTime, Utc};
use docent_domain::access::{Actor, UseAdminPanel};
use docent_domain::audit::AuditAction;
use docent_domain::id::{FamilyId, SessionId, UserId};
use docent_domain::session::{PROOF_MAX_AGE, Session, SessionKind};
use docent_domain::text::Email;
use docent_domain::user::{Password, PasswordHash, User};
use std::net::IpAddr;

/// Logs an API client in: starts a token family for the account with this email address and password.
///
/// # Errors
/// [`Error::InvalidCredentials`], with the same response time whether the account is unknown, inactive or has
/// another password; [`Error::CodeRequired`] without a code for an account that has a second factor, and
/// [`Error::InvalidCode`]; [`Error::SecondFactorRequired`] for one that must have it and does not;
/// [`Error::TooManyFailedLogins`]; or when a store cannot be reached, including the token store.
pub async fn login(
    app: &App,
    email: &str,
    password: String,
    code: Option<&str>,
    client: &ClientInfo,
) -> Result<TokenPair> {
    let user = check_password(app, email, password, Code::Given(code), client.address, |_| true).await?;
    authenticate::ensure_second_factor(app, &user)?;
    let pair = NewPair::new(app, user.id, app.new_id(FamilyId::generate));
    let refresh = &pair.refresh;
    app.tokens.start(refresh).await?;
    let id = SessionId::of_family(refresh.family);
    let session = client.session(id, user.id, SessionKind::Api, refresh.issued_at, refresh.expires_at);
    start_session(app, &user, &session, None).await?;
    Ok(pair.sign(app, &user))
}

/// The pages that a login is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The panel, for staff.
    Panel,
    /// The account pages and the web chat.
    Account,
}

/// Logs an account in to the panel or the account pages.
///
/// # Errors
/// Those of [`login`], except [`Error::SecondFactorRequired`]; [`Error::NoPanelAccess`] if the password is correct, but
/// the account cannot use the panel. After [`Error::CodeRequired`] the login continues with [`enter_with_code`].
pub async fn enter(
    app: &App,
    destination: Destination,
    email: &str,
    password: String,
    client: &ClientInfo,
) -> Result<SessionId> {
    let user = check_password(app, email, password, Code::Given(None), client.address, |_| true).await?;
    check_access(app, destination, &user, client.address).await?;
    start_browser_session(app, &user, client, None).await
}

/// Continues a login to the panel or the account pages with a code of the second factor, after the password of `user`
/// was correct; `proof_at` is of [`Error::CodeRequired`].
///
/// # Errors
/// [`Error::InvalidCode`]; [`Error::InvalidCredentials`] when the account has changed since; or those of [`enter`].
pub async fn enter_with_code(
    app: &App,
    destination: Destination,
    user: UserId,
    proof_at: DateTime<Utc>,
    code: &str,
    client: &ClientInfo,
    provider: Option<&ProviderSignIn>,
) -> Result<SessionId> {
    let user = app.store.read().await?.users().get(user).await?.ok_or(Error::InvalidCredentials)?;
    let limits = LoginLimits::new(app, Some(&user.email), client.address).await?;
    let _turn = limits.turn().await;
    limits.check().await?;
    if !user.is_active || !user.accepts_credentials_issued_at(proof_at) {
        return Err(Error::InvalidCredentials);
    }
    check_code(app, &limits, &user, code, client.address).await?;
    limits.record_success().await?;
    check_access(app, destination, &user, client.address).await?;
    // The code is a proof of identity of this moment.
    let provider =
        provider.map(|sign_in| ProviderSignIn { authenticated_at: Some(app.now()), ..sign_in.clone() });
    start_browser_session(app, &user, client, provider.as_ref()).await
}

/// Starts a session of a browser for an account that has signed in at an identity provider. It proves the identity as of the
/// time at which the person signed in there; without that time, operations that need a recent proof ask for one.
pub(super) async fn start_provider_session(
    app: &App,
    user: &User,
    client: &ClientInfo,
    sign_in: &ProviderSignIn,
) -> Result<SessionId> {
    start_browser_session(app, user, client, Some(sign_in)).await
}

/// Checks that an account can use the pages that it logs in to. Called only after it has proven its identity, so that
/// others do not learn which accounts are staff.
async fn check_access(app: &App, destination: Destination, user: &User, address: IpAddr) -> Result<()> {
    let is_staff = Actor::of(user).is_some_and(|actor| actor.authorize::<UseAdminPanel>().is_ok());
    if destination == Destination::Account || is_staff {
        return Ok(());
    }
    let changes = Changes::default().added("reason", "no access to the panel");
    audit_failure(app, Some(user), address, changes).await?;
    Err(Error::NoPanelAccess)
}

async fn start_browser_session(
    app: &App,
    user: &User,
    client: &ClientInfo,
    provider: Option<&ProviderSignIn>,
) -> Result<SessionId> {
    let now = app.now();
    let id = app.new_id(SessionId::generate);
    let mut session = client.browser_session(id, user, now);
    if let Some(sign_in) = provider {
        session.verified_at = sign_in.authenticated_at.map_or(now - PROOF_MAX_AGE, |at| at.min(now));
    }
    start_session(app, user, &session, provider).await?;
    Ok(id)
}

/// Records the session and the login. The owner is notified of a login from another network than the earlier ones.
async fn start_session(
    app: &App,
    user: &User,
    session: &Session,
    provider: Option<&ProviderSignIn>,
) -> Result<()> {
    let known = login_limits::known_networks(app, user.id).await?;
    let mut work = app.store.begin().await?;
    // The account may have been deactivated, or its password changed, while this one was checked.
    let current = work.users().get(user.id).await?.filter(|current| current.password == user.password);
    let Some(mut current) = current.filter(|current| current.is_active) else {
        return Err(Error::InvalidCredentials);
    };
    current.last_login_at = Some(session.started_at);
    work.users().update(&current).await?;
    work.sessions().insert(session).await?;
    let mut changes = Changes::default().added("session", session.kind.name());
    if let Some(sign_in) = provider {
        work.identities().insert_session(&sign_in.record(session.id)).await?;
        changes = changes.added("identity_provider", &sign_in.provider);
    }
    let initiator = Initiator::account(user.id, session.client_ip);
    app.audit(&mut *work, &initiator, AuditAction::Login, AuditTarget::user(&current), changes).await?;
    work.commit().await?;
    if let Some(address) = session.client_ip
        && !known.is_empty()
        && !known.contains(&network(address))
    {
        app.notify(
            &user.email,
            Notice::LoginFromNewNetwork { address, agent: session.user_agent.as_deref() },
        );
    }
    Ok(())
}

/// Whether a check of the password also needs a code of the second factor.
#[derive(Clone, Copy)]
pub(super) enum Code<'a> {
    /// The code given, needed if the account has a second factor.
    Given(Option<&'a str>),
    /// The account is logged in already.
    NotNeeded,
    /// The account is logged in already, and a code suffices in place of the password.
    InsteadOfPassword,
}

/// The active account with this email address and password, if it is eligible.
pub(super) async fn check_password(
    app: &App,
    email: &str,
    password: String,
    code: Code<'_>,
    address: IpAddr,
    is_eligible: impl Fn(&User) -> bool,
) -> Result<User> {
    let email = Email::parse(email).ok();
    let limits = LoginLimits::new(app, email.as_ref(), address).await?;
    let _turn = limits.turn().await;
    limits.check().await?;

    // Read after the turn has come, because the account may have changed meanwhile.
    let account = match &email {
        Some(email) => app.store.read().await?.users().by_email(email).await?,
        None => None,
    };
    let eligible = account.clone().filter(|user| user.is_active && is_eligible(user));
    if let (Code::InsteadOfPassword, Some(user)) = (code, &eligible)
        && second_factor::use_code(app, user.id, &password).await?
    {
        limits.record_success().await?;
        return Ok(user.clone());
    }
    let eligible = eligible.filter(|user| app.settings.password_login.allows(&user.email));
    let Some(user) = verify_password(app, &limits, eligible, password).await? else {
        limits.record_failure().await?;
        audit_failure(app, account.as_ref(), address, Changes::default()).await?;
        return Err(Error::InvalidCredentials);
    };
    if let Code::Given(code) = code
        && user.confirmed_second_factor().is_some()
    {
        let proof_at = user.time_of_issue(app.now());
        let code = code.ok_or(Error::CodeRequired { user: user.id, proof_at })?;
        check_code(app, &limits, &user, code, address).await?;
    }
    limits.record_success().await?;
    Ok(user)
}

/// Uses up a code of the account's second factor. A wrong one counts as a failed login.
async fn check_code(
    app: &App,
    limits: &LoginLimits<'_>,
    user: &User,
    code: &str,
    address: IpAddr,
) -> Result<()> {
    if second_factor::use_code(app, user.id, code).await? {
        return Ok(());
    }
    limits.record_failure().await?;
    audit_failure(app, Some(user), address, Changes::default()).await?;
    Err(Error::InvalidCode)
}

/// The account, if the password is correct. Takes the same time without an account.
async fn verify_password(
    app: &App,
    limits: &LoginLimits<'_>,
    account: Option<User>,
    password: String,
) -> Result<Option<User>> {
    let Ok(password) = Password::parse_existing(password) else { return Ok(None) };
    let hash = account.as_ref().map(|user| user.password.clone()).filter(PasswordHash::is_usable);
    // Attempts of strangers fill the queue, and do not delay the owner.
    let is_correct = match limits.is_known() {
        true => app.hasher.verify_reserved(password, hash).await?,
        false => app.hasher.verify(password, hash).await?,
    };
    Ok(account.filter(|user| is_correct && user.password.is_usable()))
}

/// Writes a failed login to the audit log. Those of unknown accounts are counted by network and hour, in a transaction
/// too, so that both take the same time.
async fn audit_failure(app: &App, account: Option<&User>, address: IpAddr, changes: Changes) -> Result<()> {
    let mut work = app.store.begin().await?;
    match account {
        Some(user) => {
            let (initiator, target) = (Initiator::unauthenticated(address), AuditTarget::user(user));
            app.audit(&mut *work, &initiator, AuditAction::LoginFailed, target, changes).await?;
        }
        None => failed_logins::count(&mut *work, address, app.now()).await?,
    }
    Ok(work.commit().await?)
}
