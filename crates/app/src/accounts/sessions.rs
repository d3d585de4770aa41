//! Sessions of browsers, in the panel, on the account pages and in the web chat, and of API clients.
//!
//! A browser's session is a record in the database that its cookie names. An API client's session is a family of refresh
//! tokens in the token store; its record in the database is for listing and revoking it.

use crate::App;
use crate::audit::{AuditTarget, CLOCK_DIFFERENCE, Changes, Initiator};
use crate::error::{Error, Result};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Actor, DeleteSessions, Grant, ViewSessions};
use docent_domain::audit::AuditAction;
use docent_domain::fault::Fault;
use docent_domain::id::{SessionId, UserId};
use docent_domain::identity::ProviderSession;
use docent_domain::listing::{Page, PageRequest, SessionFilter};
use docent_domain::permission::RecordKind;
use docent_domain::session::{
    BROWSER_SESSION_MAX, LASTING_SESSION_MAX, Session, SessionKind, USER_AGENT_MAX,
};
use docent_domain::user::User;
use docent_ports::store::UnitOfWork;
use std::net::IpAddr;

/// The time of a session's last use is recorded at most this often.
const TOUCH_INTERVAL: TimeDelta = TimeDelta::minutes(1);

/// The client that logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientInfo {
    /// Its address.
    pub address: IpAddr,
    /// Its `User-Agent`.
    pub agent: Option<String>,
    /// Whether the person wants to stay signed in, if it is a browser.
    pub stays_signed_in: bool,
}

impl ClientInfo {
    /// A client whose session ends with it.
    pub const fn new(address: IpAddr, agent: Option<String>) -> Self {
        Self { address, agent, stays_signed_in: false }
    }

    /// A new session of `user` with this client.
    pub(crate) fn session(
        &self,
        id: SessionId,
        user: UserId,
        kind: SessionKind,
        now: DateTime<Utc>,
        expires_at: DateTime<Utc>,
    ) -> Session {
        let user_agent = self.agent.as_ref().map(|agent| agent.chars().take(USER_AGENT_MAX).collect());
        Session {
            id,
            user,
            kind,
            client_ip: Some(self.address),
            user_agent,
            started_at: now,
            last_used_at: now,
            verified_at: now,
            expires_at,
            revoked_at: None,
        }
    }

    /// A new session of `user` in this browser.
    pub(crate) fn browser_session(&self, id: SessionId, user: &User, now: DateTime<Utc>) -> Session {
        // A session whose time of issue is ahead could not be distinguished from a short one.
        let is_lasting = self.stays_signed_in && user.time_of_issue(now) == now;
        let lifetime = if is_lasting { LASTING_SESSION_MAX } else { BROWSER_SESSION_MAX };
        let session = self.session(id, user.id, SessionKind::Panel, now, now + lifetime);
        Session { started_at: user.time_of_issue(now), ..session }
    }
}

/// An authenticated session of a browser.
#[derive(Clone, Debug)]
pub struct BrowserSession {
    /// Its account, with all permissions.
    pub actor: Actor,
    /// The record of the account.
    pub user: User,
    /// Time of the last proof of identity.
    pub verified_at: DateTime<Utc>,
    /// Whether the account must set up a second factor first. A second factor that an identity provider checked suffices.
    pub lacks_second_factor: bool,
    /// Whether the person has stayed signed in for so long that the panel needs a new proof of identity.
    pub is_panel_locked: bool,
}

/// Authenticates a browser's session. Records its use, at most once per minute.
///
/// # Errors
/// [`Error::Unauthenticated`] when the session is not valid or its account not active, or when the database cannot
/// be reached.
pub async fn authenticate_browser(app: &App, id: SessionId, address: IpAddr) -> Result<BrowserSession> {
    let now = app.now();
    let mut view = app.store.read().await?;
    let (session, user) = view.sessions().with_user(id).await?.ok_or(Error::Unauthenticated)?;
    // A session that ends later than a new one is of a time when the clock was ahead.
    let lifetime = if session.is_lasting() { LASTING_SESSION_MAX } else { BROWSER_SESSION_MAX };
    let is_of_future = session.expires_at > now + lifetime + CLOCK_DIFFERENCE;
    let is_valid = session.is_valid(now) && session.kind == SessionKind::Panel && !is_of_future;
    if !is_valid || !user.accepts_credentials_issued_at(session.started_at) {
        return Err(Error::Unauthenticated);
    }
    let permissions = view.groups().permissions(user.id).await?;
    let lacks_second_factor = user.lacks_second_factor(app.settings.second_factor_rule)
        && !view.identities().session(id).await?.is_some_and(|sign_in| sign_in.has_second_factor);
    drop(view);
    let actor = Actor::of(&user).ok_or(Error::Unauthenticated)?;
    if now - session.last_used_at >= TOUCH_INTERVAL {
        match touch(app, &session, now).await {
            Ok(true) => {}
            Ok(false) => return Err(Error::Unauthenticated),
            // On a full disk, people must be able to delete documents.
            Err(fault) => {
                tracing::warn!(fault = %fault.report(), "the use of a session could not be recorded")
            }
        }
    }
    let actor = actor.with_permissions(permissions).with_client_ip(address);
    let actor = actor.with_browser_session(&session, now);
    let verified_at = session.verified_at;
    let is_panel_locked = session.is_lasting() && now - verified_at > BROWSER_SESSION_MAX;
    Ok(BrowserSession { actor, user, verified_at, lacks_second_factor, is_panel_locked })
}

/// Records the use of a session; returns whether it is still valid.
async fn touch(app: &App, session: &Session, now: DateTime<Utc>) -> Result<bool, Fault> {
    let mut work = app.store.begin().await?;
    let is_valid = work.sessions().touch(session.id, now, session.expires_at).await?;
    work.commit().await?;
    Ok(is_valid)
}

/// Authenticates a request of the web chat to the API by the session of its browser. `user` is the account that the page
/// shows: after another tab has signed in with another account, the page must not act for that one.
///
/// # Errors
/// Those of [`authenticate_browser`], also when the session belongs to another account; [`Error::SecondFactorRequired`]
/// when the account must have a second factor and does not.
pub async fn authenticate_page(app: &App, id: SessionId, user: UserId, address: IpAddr) -> Result<Actor> {
    let known = authenticate_browser(app, id, address).await?;
    if known.user.id != user {
        return Err(Error::Unauthenticated);
    }
    if known.lacks_second_factor {
        return Err(Error::SecondFactorRequired);
    }
    Ok(known.actor)
}

/// Starts a new session of a browser after the actor's sessions have ended, such as by a password change. It proves no
/// more than the `earlier` one, whose last proof of identity was at `verified_at`.
///
/// # Errors
/// [`Error::NotFound`] when the account does not exist, or when the database cannot be reached.
pub async fn replace_browser_session(
    app: &App,
    actor: &Actor,
    earlier: SessionId,
    verified_at: DateTime<Utc>,
    client: &ClientInfo,
) -> Result<SessionId> {
    let now = app.now();
    let id = app.new_id(SessionId::generate);
    let mut work = app.store.begin().await?;
    let user = work.users().get(actor.user()).await?.ok_or(Error::NotFound(RecordKind::User))?;
    let session = Session { verified_at, ..client.browser_session(id, &user, now) };
    work.sessions().insert(&session).await?;
    if let Some(sign_in) = work.identities().session(earlier).await? {
        work.identities().insert_session(&ProviderSession { session: id, ..sign_in }).await?;
    }
    work.commit().await?;
    Ok(id)
}

/// A page of the sessions of all accounts.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewSessions>,
    filter: &SessionFilter,
    page: PageRequest,
) -> Result<Page<Session>> {
    Ok(app.store.read().await?.sessions().list(filter, page).await?)
}

/// A page of the actor's valid sessions.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list_own(app: &App, actor: &Actor, page: PageRequest) -> Result<Page<Session>> {
    let valid_at = Some(app.now());
    let filter = SessionFilter { user: Some(actor.user()), valid_at, ..SessionFilter::default() };
    Ok(app.store.read().await?.sessions().list(&filter, page).await?)
}

/// Ends a session: one of the actor's own, or any with the permission.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`], or when a store cannot be reached, in which case an API client's
/// session may still be valid.
pub async fn revoke(app: &App, actor: &Actor, id: SessionId) -> Result<()> {
    let session = app.store.read().await?.sessions().get(id).await?;
    let session = session.ok_or(Error::NotFound(RecordKind::Session))?;
    if session.user != actor.user() {
        actor.authorize::<DeleteSessions>()?;
    }
    if session.kind == SessionKind::Api {
        app.tokens.revoke(id.family()).await?;
    }
    let mut work = app.store.begin().await?;
    if work.sessions().revoke(id, app.now()).await? {
        let emails = work.users().emails(&[session.user]).await?;
        let email = emails.get(&session.user).map_or("", |email| email.as_str());
        let (initiator, target) = (Initiator::actor(actor), AuditTarget::new(RecordKind::Session, id, email));
        app.audit(&mut *work, &initiator, AuditAction::Revoke, target, Changes::default()).await?;
    }
    Ok(work.commit().await?)
}

/// Ends one of the actor's own sessions.
///
/// # Errors
/// [`Error::NotFound`], also for a session of another account, or those of [`revoke`].
pub async fn revoke_own(app: &App, actor: &Actor, id: SessionId) -> Result<()> {
    let session = app.store.read().await?.sessions().get(id).await?;
    session.filter(|session| session.user == actor.user()).ok_or(Error::NotFound(RecordKind::Session))?;
    revoke(app, actor, id).await
}

/// Ends all sessions and invalidates all access tokens of an account: the actor's own, or any with the permission.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`], or when a store cannot be reached, in which case sessions may still be
/// valid.
pub async fn revoke_all(app: &App, actor: &Actor, id: UserId) -> Result<()> {
    actor.authorize_for::<DeleteSessions>(Some(id))?;
    let user = app.store.read().await?.users().get(id).await?;
    user.ok_or(Error::NotFound(RecordKind::User))?;
    app.tokens.revoke_all(id, app.now()).await?;
    let mut work = app.store.begin().await?;
    let mut user = work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    app.account_service().end_sessions(&mut *work, &mut user).await?;
    let changes = Changes::default().added("sessions", "all");
    let (initiator, target) = (Initiator::actor(actor), AuditTarget::user(&user));
    app.audit(&mut *work, &initiator, AuditAction::Revoke, target, changes).await?;
    Ok(work.commit().await?)
}

/// Ends the session of a browser that signs in again.
///
/// # Errors
/// When the database cannot be reached; the session is then still valid.
pub async fn end_replaced(app: &App, id: SessionId, address: IpAddr) -> Result<()> {
    let (now, mut work) = (app.now(), app.store.begin().await?);
    let session = work.sessions().get(id).await?;
    let Some(session) = session.filter(|it| it.kind == SessionKind::Panel && it.is_valid(now)) else {
        return Ok(());
    };
    log_out(app, work, &Initiator::account(session.user, Some(address)), (id, session.user)).await
}

/// Logs the actor out of the panel, the account pages and the web chat.
///
/// # Errors
/// When the database cannot be reached; the session is then still valid.
pub async fn leave_browser(app: &App, actor: &Actor, id: SessionId) -> Result<()> {
    let work = app.store.begin().await?;
    log_out(app, work, &Initiator::actor(actor), (id, actor.user())).await
}

/// Ends a session of an account, if it has not ended before.
async fn log_out(
    app: &App,
    mut work: Box<dyn UnitOfWork>,
    initiator: &Initiator,
    (id, user): (SessionId, UserId),
) -> Result<()> {
    if work.sessions().revoke(id, app.now()).await?
        && let Some(user) = work.users().get(user).await?
    {
        let target = AuditTarget::user(&user);
        app.audit(&mut *work, initiator, AuditAction::Logout, target, Changes::default()).await?;
    }
    Ok(work.commit().await?)
}
