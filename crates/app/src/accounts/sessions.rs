//! Logins that last.
//!
//! A session of the panel is a record here, and its cookie names it. One of a client is a family of refresh tokens,
//! which the token store keeps; its record here is what people see and revoke.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    access::{Actor, DeleteSessions, Grant, ViewSessions},
    audit::AuditAction,
    id::{SessionId, UserId},
    permission::RecordKind,
    session::{Session, SessionKind, USER_AGENT_MAX},
    user::User,
};
use docent_ports::{
    page::{Page, PageRequest},
    sessions::SessionFilter,
};
use std::net::IpAddr;

/// A session of the panel ends after this time, however much it is used.
pub const PANEL_LONGEST: TimeDelta = TimeDelta::hours(12);
/// How often the time of the last request is written down.
const TOUCH: TimeDelta = TimeDelta::minutes(1);

/// Where a login comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The client's address.
    pub address: IpAddr,
    /// How the client calls itself.
    pub agent: Option<String>,
}

impl Origin {
    /// A session of `user` that begins now.
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
            expires_at,
            revoked_at: None,
        }
    }
}

/// Who is at the panel with this session. Takes note of the use, to the minute.
///
/// # Errors
/// [`Error::Unauthenticated`] when the session is over or its account not active, or when the database cannot
/// be reached.
pub async fn at_panel(app: &App, id: SessionId, from: IpAddr) -> Result<(Actor, User)> {
    let now = app.clock.now();
    let mut view = app.store.read().await?;
    let session = view.sessions().get(id).await?.ok_or(Error::Unauthenticated)?;
    let is_over = !session.is_valid(now) || session.kind != SessionKind::Panel || now < session.started_at;
    let user = view.users().get(session.user).await?.ok_or(Error::Unauthenticated)?;
    if is_over || !user.accepts_credentials_issued_at(session.started_at) {
        return Err(Error::Unauthenticated);
    }
    let permissions = view.groups().permissions(user.id).await?;
    drop(view);
    let actor = Actor::of(&user).ok_or(Error::Unauthenticated)?;
    if now - session.last_used_at >= TOUCH {
        let mut work = app.store.begin().await?;
        if !work.sessions().touch(id, now, session.expires_at).await? {
            return Err(Error::Unauthenticated);
        }
        work.commit().await?;
    }
    Ok((actor.with_permissions(permissions).with_client_ip(from), user))
}

/// Begins a session at the panel for somebody whose other ones were just ended, such as by their new password.
///
/// # Errors
/// When the database cannot be reached.
pub async fn begin_again(app: &App, actor: &Actor, origin: &Origin) -> Result<SessionId> {
    let now = app.clock.now();
    let id = app.new_id(SessionId::generate);
    let session = origin.session(id, actor.user(), SessionKind::Panel, now, now + PANEL_LONGEST);
    let mut work = app.store.begin().await?;
    work.sessions().insert(&session).await?;
    work.commit().await?;
    Ok(id)
}

/// Sessions of all accounts.
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

/// The actor's own sessions that are not over.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list_own(app: &App, actor: &Actor, page: PageRequest) -> Result<Page<Session>> {
    let valid_at = Some(app.clock.now());
    let filter = SessionFilter { user: Some(actor.user()), valid_at, ..SessionFilter::default() };
    Ok(app.store.read().await?.sessions().list(&filter, page).await?)
}

/// Ends a session: one's own, or anybody's with the right to.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`], or when a store cannot be reached: then the session of a client may
/// go on, and the caller must not believe otherwise.
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
    if work.sessions().revoke(id, app.clock.now()).await? {
        let email = work.users().emails(&[session.user]).await?;
        let email = email.get(&session.user).map_or("", |email| email.as_str());
        let subject = Subject::new(RecordKind::Session, id, email);
        app.auditor()
            .write(&mut *work, &By::actor(actor), AuditAction::Revoke, subject, Changes::default())
            .await?;
    }
    Ok(work.commit().await?)
}

/// Ends all sessions of an account, and with them its access tokens: one's own, or anybody's with the right to.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`], or when a store cannot be reached: then sessions may go on, and the
/// caller must not believe otherwise.
pub async fn revoke_all(app: &App, actor: &Actor, id: UserId) -> Result<()> {
    actor.authorize_for::<DeleteSessions>(Some(id))?;
    let user = app.store.read().await?.users().get(id).await?;
    user.ok_or(Error::NotFound(RecordKind::User))?;
    app.tokens.revoke_all(id, app.clock.now()).await?;
    let mut work = app.store.begin().await?;
    let mut user = work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    app.registrar().end_sessions(&mut *work, &mut user).await?;
    let changes = Changes::default().added("sessions", "all");
    app.auditor()
        .write(&mut *work, &By::actor(actor), AuditAction::Revoke, Subject::user(&user), changes)
        .await?;
    Ok(work.commit().await?)
}

/// Ends the session of the panel that somebody leaves.
///
/// # Errors
/// When the database cannot be reached; then the session goes on.
pub async fn leave_panel(app: &App, actor: &Actor, id: SessionId) -> Result<()> {
    let mut work = app.store.begin().await?;
    if work.sessions().revoke(id, app.clock.now()).await?
        && let Some(user) = work.users().get(actor.user()).await?
    {
        let subject = Subject::user(&user);
        app.auditor()
            .write(&mut *work, &By::actor(actor), AuditAction::Logout, subject, Changes::default())
            .await?;
    }
    Ok(work.commit().await?)
}
