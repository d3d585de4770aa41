//! API keys: what programs prove with whom they work for.

use super::random_text;
use crate::{
    App,
    audit::{Auditor, By, Changes, Subject},
    error::{Error, Result},
};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    access::{Actor, AddApiKeys, DeleteApiKeys, Grant, ViewApiKeys},
    api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes, KEY_START},
    audit::AuditAction,
    error::ValidationError,
    id::{ApiKeyId, UserId},
    permission::RecordKind,
    text::Email,
};
use docent_ports::{
    api_keys::ApiKeyFilter,
    clock::Clock,
    entropy::Entropy,
    page::{Page, PageRequest},
    store::Store,
};
use sha2::{Digest, Sha256};
use std::fmt;

/// How often the time of the last use is written down.
const TOUCH: TimeDelta = TimeDelta::minutes(1);
/// Characters of a secret: 260 bits.
const SECRET: usize = 52;

/// A key that was just made. Nobody is shown it again.
#[derive(Clone)]
pub struct NewKey {
    /// Its record.
    pub record: ApiKey,
    /// The key itself: `dk_PREFIX_SECRET`.
    pub key: String,
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewKey({:?})", self.record)
    }
}

/// What somebody wants a key for.
#[derive(Clone, Debug)]
pub struct KeyRequest {
    /// Whom it works for.
    pub user: UserId,
    /// What it is called.
    pub name: ApiKeyName,
    /// What it may be used for.
    pub scopes: ApiKeyScopes,
    /// From when on it is refused; never when none.
    pub expires_at: Option<DateTime<Utc>>,
}

/// What managing keys needs: little enough for the command line to do it beside a running server.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct KeyRing<'a> {
    /// Where keys are kept.
    pub store: &'a dyn Store,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Chance.
    pub entropy: &'a dyn Entropy,
}

impl App {
    /// Manages the keys of this service.
    pub fn key_ring(&self) -> KeyRing<'_> {
        KeyRing { store: &*self.store, clock: &*self.clock, entropy: &*self.entropy }
    }
}

impl KeyRing<'_> {
    /// Makes a key. Whether `by` may is for the caller to have checked.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such account, [`Error::Invalid`] for an end that is over already, or
    /// when the database cannot be reached.
    pub async fn create(self, by: &By, request: KeyRequest) -> Result<NewKey> {
        let now = self.clock.now();
        if request.expires_at.is_some_and(|end| end <= now) {
            return Err(ValidationError::new("expires_at", "must be in the future").into());
        }
        let mut work = self.store.begin().await?;
        let owner = work.users().get(request.user).await?.ok_or(Error::NotFound(RecordKind::User))?;
        loop {
            let new = self.generate(&request, now)?;
            // Two keys with one prefix are as good as impossible; if it happens, another one is made.
            if !work.api_keys().insert(&new.record).await? {
                continue;
            }
            let changes = Changes::default()
                .added("account", owner.email.as_str())
                .added("prefix", new.record.prefix.as_str())
                .added("scopes", new.record.scopes)
                .field("expires_at", None, new.record.expires_at.map(|end| end.to_rfc3339()));
            let auditor = Auditor { clock: self.clock, entropy: self.entropy };
            auditor.write(&mut *work, by, AuditAction::Add, subject(&new.record), changes).await?;
            work.commit().await?;
            return Ok(new);
        }
    }

    /// Makes a key void. Repeating it does no harm.
    ///
    /// # Errors
    /// [`Error::NotFound`], or when the database cannot be reached.
    pub async fn revoke(self, by: &By, id: ApiKeyId) -> Result<ApiKey> {
        let mut work = self.store.begin().await?;
        let key = work.api_keys().get(id).await?.ok_or(Error::NotFound(RecordKind::ApiKey))?;
        if work.api_keys().revoke(id, self.clock.now()).await? {
            let auditor = Auditor { clock: self.clock, entropy: self.entropy };
            auditor.write(&mut *work, by, AuditAction::Revoke, subject(&key), Changes::default()).await?;
        }
        work.commit().await?;
        Ok(key)
    }

    fn generate(self, request: &KeyRequest, now: DateTime<Utc>) -> Result<NewKey> {
        let text = random_text(self.entropy, ApiKeyPrefix::LENGTH + SECRET);
        let (prefix, secret) = text.split_at(ApiKeyPrefix::LENGTH);
        let key = format!("{KEY_START}{prefix}_{secret}");
        let mut id = [0; 10];
        self.entropy.fill(&mut id);
        let record = ApiKey {
            id: ApiKeyId::generate(now, id),
            user: request.user,
            name: request.name.clone(),
            prefix: ApiKeyPrefix::parse(prefix)?,
            sha256: digest(&key),
            scopes: request.scopes,
            created_at: now,
            expires_at: request.expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        Ok(NewKey { record, key })
    }
}

/// Keys of all accounts.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewApiKeys>,
    filter: &ApiKeyFilter,
    page: PageRequest,
) -> Result<Page<ApiKey>> {
    Ok(app.store.read().await?.api_keys().list(filter, page).await?)
}

/// The actor's own keys.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list_own(app: &App, actor: &Actor, page: PageRequest) -> Result<Page<ApiKey>> {
    let filter = ApiKeyFilter { user: Some(actor.user()), ..ApiKeyFilter::default() };
    Ok(app.store.read().await?.api_keys().list(&filter, page).await?)
}

/// One key: one's own, or anybody's with the right to see them. To others it does not exist.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, actor: &Actor, id: ApiKeyId) -> Result<ApiKey> {
    let key = app.store.read().await?.api_keys().get(id).await?;
    key.filter(|key| actor.authorize_for::<ViewApiKeys>(Some(key.user)).is_ok())
        .ok_or(Error::NotFound(RecordKind::ApiKey))
}

/// The account with this address, for somebody who makes a key for it.
///
/// # Errors
/// [`Error::Invalid`] when there is none, or when the database cannot be reached.
pub async fn owner(app: &App, _grant: Grant<AddApiKeys>, email: &Email) -> Result<UserId> {
    let user = app.store.read().await?.users().by_email(email).await?;
    Ok(user.ok_or_else(|| ValidationError::new("account", "does not exist"))?.id)
}

/// Makes a key for the actor, or with the right to for an account that is allowed no more than the actor: a key
/// does what its account may do, so nobody gains by it what they were not given.
///
/// # Errors
/// [`Error::Forbidden`] without the right, and for somebody who is here by a key themselves; [`Error::Invalid`]
/// for an account that is allowed more or may not be used; or those of [`KeyRing::create`].
pub async fn create(app: &App, actor: &Actor, request: KeyRequest) -> Result<NewKey> {
    // A key that could make keys would have no scopes.
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    actor.authorize_for::<AddApiKeys>(Some(request.user))?;
    if request.user != actor.user() {
        let mut view = app.store.read().await?;
        let user = view.users().get(request.user).await?.ok_or(Error::NotFound(RecordKind::User))?;
        let permissions = view.groups().permissions(user.id).await?;
        if !actor.is_superuser() && (user.is_superuser || !actor.permissions().contains_all(permissions)) {
            return Err(ValidationError::new("account", "is allowed more than you are").into());
        }
        if !user.is_active {
            return Err(ValidationError::new("account", "is deactivated").into());
        }
    }
    app.key_ring().create(&By::actor(actor), request).await
}

/// Makes a key void: one's own, or anybody's with the right to.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`], or when the database cannot be reached.
pub async fn revoke(app: &App, actor: &Actor, id: ApiKeyId) -> Result<ApiKey> {
    let key = app.store.read().await?.api_keys().get(id).await?;
    // Whoever may revoke none of others is not told which there are.
    actor.authorize_for::<DeleteApiKeys>(key.as_ref().map(|key| key.user))?;
    app.key_ring().revoke(&By::actor(actor), id).await
}

fn subject(key: &ApiKey) -> Subject {
    Subject::new(RecordKind::ApiKey, key.id, key.name.as_str())
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Whether a credential is meant as an API key.
pub fn is_key(credential: &str) -> bool {
    credential.starts_with(KEY_START)
}

/// Whom an API key works for, within its scopes. Takes note of the use, to the minute.
///
/// # Errors
/// [`Error::Unauthenticated`] when it is not good, keys are not accepted or its account is not active; or when
/// the database cannot be reached.
pub(super) async fn authenticate(app: &App, key: &str) -> Result<Actor> {
    if !app.settings.accepts_api_keys {
        return Err(Error::Unauthenticated);
    }
    let prefix = ApiKeyPrefix::of(key).ok_or(Error::Unauthenticated)?;
    let now = app.clock.now();
    let mut view = app.store.read_latest().await?;
    let known = view.api_keys().by_prefix(&prefix).await?.ok_or(Error::Unauthenticated)?;
    // A digest tells nothing of the key, and so neither does the time that comparing takes.
    if known.sha256 != digest(key) || !known.is_valid(now) {
        tracing::debug!(key = %known.id, "API key refused");
        return Err(Error::Unauthenticated);
    }
    let user = view.users().get(known.user).await?;
    let actor = user.as_ref().and_then(Actor::of).ok_or(Error::Unauthenticated)?;
    drop(view);
    if known.last_used_at.is_none_or(|at| now - at >= TOUCH)
        && let Err(fault) = touch(app, known.id, now).await
    {
        app.note(&fault);
        tracing::warn!(key = %known.id, fault = %fault.report(), "the use of an API key could not be written down");
    }
    Ok(actor.with_key(&known))
}

async fn touch(app: &App, id: ApiKeyId, now: DateTime<Utc>) -> docent_ports::error::Result<()> {
    let mut work = app.store.begin().await?;
    work.api_keys().touch(id, now).await?;
    work.commit().await
}
