//! API keys: credentials of programs, which act for an account.

use super::notices::Notice;
use super::{AccountService, access, random_text};
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::collections::not_found;
use crate::documents::label::ids;
use crate::error::{Error, Result};
use crate::{App, scope};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::access::{Actor, AddApiKeys, DeleteApiKeys, Grant, ViewApiKeys};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScope, ApiKeyScopes, KEY_START};
use docent_domain::audit::AuditAction;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::id::{ApiKeyId, CollectionId, UserId};
use docent_domain::listing::{ApiKeyFilter, Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_ports::entropy::Entropy;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;

/// The time of a key's last use is recorded at most this often.
const TOUCH_INTERVAL: TimeDelta = TimeDelta::minutes(1);
/// How long the account page points out a key that another account created.
const NEWS_PERIOD: TimeDelta = TimeDelta::days(30);
/// The length of a secret: 260 bits.
const SECRET_LENGTH: usize = 52;

/// A new API key. The key itself cannot be retrieved later.
#[derive(Clone)]
pub struct NewApiKey {
    /// The stored record.
    pub record: ApiKey,
    /// The key: `dk_PREFIX_SECRET`.
    pub key: String,
}

impl NewApiKey {
    /// A command for a shell with a request that the key may make of the service at this URL: it lists documents, asks a question,
    /// lists webhooks or uploads a file. `None` if the key may only change records.
    pub fn example_request(&self, service_url: &str) -> Option<String> {
        let curl = format!("curl -sS -H 'Authorization: Bearer {}'", self.key);
        let url = |path| shell_word(format!("{}{path}", service_url.trim_end_matches('/')));
        let has = |scope| self.record.scopes.contains(scope);
        if has(ApiKeyScope::Read) {
            Some(format!("{curl} {}", url("/documents")))
        } else if has(ApiKeyScope::Chat) {
            let body = r#"{"messages": [{"role": "user", "content": "What is this about?"}]}"#;
            let url = url("/agents/chat");
            Some(format!("{curl} -N -H 'Content-Type: application/json' -d '{body}' {url}"))
        } else if !has(ApiKeyScope::Ingest) {
            None
        } else if self.record.collections.is_none() {
            Some(format!("{curl} {}", url("/webhooks")))
        } else {
            // Webhooks report documents of all collections.
            let url = url("/documents/upload");
            Some(format!("{curl} -F 'file=@FILE.pdf;type=application/pdf' {url}"))
        }
    }
}

/// A text as one word of a shell.
fn shell_word(text: String) -> String {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/:._-".contains(c));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

impl fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewApiKey({:?})", self.record)
    }
}

/// The fields of an API key to create.
#[derive(Clone, Debug)]
pub struct ApiKeyInput {
    /// The account that it acts for.
    pub user: UserId,
    /// Its name.
    pub name: ApiKeyName,
    /// Its scopes.
    pub scopes: ApiKeyScopes,
    /// Collections that it can be used for; `None` for all of its account.
    pub collections: Option<BTreeSet<CollectionId>>,
    /// When it expires, if ever.
    pub expires_at: Option<DateTime<Utc>>,
}

impl AccountService<'_> {
    /// Creates an API key.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the account does not exist, [`Error::Invalid`] for an expiry in the past, or when
    /// the database cannot be reached.
    pub async fn create_api_key(self, initiator: &Initiator, input: ApiKeyInput) -> Result<NewApiKey> {
        let now = self.clock.now();
        if input.expires_at.is_some_and(|end| end <= now) {
            return Err(ValidationError::of("expires_at", Rule::Future).into());
        }
        let mut work = self.store.begin().await?;
        let owner = work.users().get(input.user).await?.ok_or(Error::NotFound(RecordKind::User))?;
        for collection in input.collections.iter().flatten() {
            work.collections().get(*collection).await?.ok_or_else(not_found)?;
        }
        loop {
            let new = self.generate_api_key(initiator, &input, now)?;
            // Prefixes are unique; a collision is practically impossible.
            if !work.api_keys().insert(&new.record).await? {
                continue;
            }
            let changes = Changes::default()
                .added("account", owner.email.as_str())
                .added("prefix", new.record.prefix.as_str())
                .added("scopes", new.record.scopes)
                .field("collections", None, new.record.collections.as_ref().map(ids))
                .field("expires_at", None, new.record.expires_at.map(|end| end.to_rfc3339()));
            self.audit(&mut *work, initiator, AuditAction::Add, audit_target(&new.record), changes).await?;
            work.commit().await?;
            return Ok(new);
        }
    }

    /// Revokes an API key. Idempotent.
    ///
    /// # Errors
    /// [`Error::NotFound`], or when the database cannot be reached.
    pub async fn revoke_api_key(self, initiator: &Initiator, id: ApiKeyId) -> Result<ApiKey> {
        let mut work = self.store.begin().await?;
        let key = work.api_keys().get(id).await?.ok_or(Error::NotFound(RecordKind::ApiKey))?;
        if work.api_keys().revoke(id, self.clock.now()).await? {
            let target = audit_target(&key);
            self.audit(&mut *work, initiator, AuditAction::Revoke, target, Changes::default()).await?;
        }
        work.commit().await?;
        Ok(key)
    }

    fn generate_api_key(
        self,
        initiator: &Initiator,
        input: &ApiKeyInput,
        now: DateTime<Utc>,
    ) -> Result<NewApiKey> {
        let text = random_text(self.entropy, ApiKeyPrefix::LENGTH + SECRET_LENGTH);
        let (prefix, secret) = text.split_at(ApiKeyPrefix::LENGTH);
        let key = format!("{KEY_START}{prefix}_{secret}");
        let record = ApiKey {
            id: self.new_id(ApiKeyId::generate),
            user: input.user,
            name: input.name.clone(),
            prefix: ApiKeyPrefix::parse(prefix)?,
            sha256: digest(&key),
            scopes: input.scopes,
            collections: input.collections.clone(),
            created_by: initiator.user(),
            created_at: now,
            expires_at: input.expires_at,
            last_used_at: None,
            revoked_at: None,
            connection: None,
        };
        Ok(NewApiKey { record, key })
    }
}

/// A page of the API keys of all accounts. The text of the filter can have the prefix as keys show it, with [`KEY_START`].
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewApiKeys>,
    filter: &ApiKeyFilter,
    page: PageRequest,
) -> Result<Page<ApiKey>> {
    let text = filter.text.as_deref().map(|text| text.strip_prefix(KEY_START).unwrap_or(text).to_owned());
    let filter = ApiKeyFilter { text, ..*filter };
    Ok(app.store.read().await?.api_keys().list(&filter, page).await?)
}

/// A page of the actor's own API keys, without connected applications.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list_own(app: &App, actor: &Actor, page: PageRequest) -> Result<Page<ApiKey>> {
    let filter =
        ApiKeyFilter { user: Some(actor.user()), is_connected: Some(false), ..ApiKeyFilter::default() };
    Ok(app.store.read().await?.api_keys().list(&filter, page).await?)
}

/// The API key with this ID: one of the actor's own, or any with the permission.
///
/// # Errors
/// [`Error::NotFound`], also for a key that the actor may not see, or when the database cannot be reached.
pub async fn get(app: &App, actor: &Actor, id: ApiKeyId) -> Result<ApiKey> {
    let key = app.store.read().await?.api_keys().get(id).await?;
    key.filter(|key| actor.authorize_for::<ViewApiKeys>(Some(key.user)).is_ok())
        .ok_or(Error::NotFound(RecordKind::ApiKey))
}

/// The actor's own API key with this ID.
///
/// # Errors
/// [`Error::NotFound`], also for a key of another account, or when the database cannot be reached.
pub async fn get_own(app: &App, actor: &Actor, id: ApiKeyId) -> Result<ApiKey> {
    let key = app.store.read().await?.api_keys().get(id).await?;
    key.filter(|key| key.user == actor.user()).ok_or(Error::NotFound(RecordKind::ApiKey))
}

/// The ID of the account with this email address, to create an API key for it.
///
/// # Errors
/// [`Error::Invalid`] when it does not exist, or when the database cannot be reached.
pub async fn owner(app: &App, _grant: Grant<AddApiKeys>, email: &Email) -> Result<UserId> {
    let user = app.store.read().await?.users().by_email(email).await?;
    Ok(user.ok_or_else(|| ValidationError::of("account", Rule::Exists))?.id)
}

/// Creates an API key for the actor or, with the permission, for another account, and notifies the owner. A key has the
/// access of its account, so the actor must have all access of that account, roles on collections included,
/// and the permissions that the panel demands for the data that the scopes open.
///
/// # Errors
/// [`Error::Forbidden`] without the permission and for an actor that uses an API key; [`Error::Invalid`] for an
/// account that is inactive or has access that the actor does not have, and for scopes that open data that the actor
/// cannot see; [`Error::NotFound`] for a collection that the actor cannot read; or those of [`AccountService::create_api_key`].
pub async fn create(app: &App, actor: &Actor, input: ApiKeyInput) -> Result<NewApiKey> {
    let owner = ensure_can_add(app, actor, input.user, input.scopes, input.collections.as_ref()).await?;
    let emails = app.store.read_latest().await?.users().emails(&[actor.user()]).await?;
    let new = app.account_service().create_api_key(&Initiator::actor(actor), input).await?;
    let by = emails.get(&actor.user()).map_or("", |email| email.as_str());
    app.notify(&owner.email, Notice::ApiKeyCreated { key: &new.record, by });
    Ok(new)
}

/// Checks that the actor can give these scopes of an account, limited to these collections, to a program. Returns the account.
///
/// # Errors
/// Those of [`create`].
pub(crate) async fn ensure_can_add(
    app: &App,
    actor: &Actor,
    user: UserId,
    scopes: ApiKeyScopes,
    collections: Option<&BTreeSet<CollectionId>>,
) -> Result<User> {
    // A key that could create keys would not be limited by its scopes.
    if actor.api_key().is_some() {
        return Err(Error::Forbidden);
    }
    actor.authorize_for::<AddApiKeys>(Some(user))?;
    let mut view = app.store.read().await?;
    let scope = scope::in_view(&mut *view, actor).await?;
    if collections.into_iter().flatten().any(|id| scope.role_in(*id).is_none()) {
        return Err(not_found());
    }
    let owner = view.users().get(user).await?.ok_or(Error::NotFound(RecordKind::User))?;
    let access = access::of_account(&mut *view, &owner).await?;
    drop(view);
    actor.ensure_can_create_key(&scope, &access, scopes)?;
    if !owner.is_active {
        return Err(ValidationError::of("account", Rule::NotDeactivated).into());
    }
    Ok(owner)
}

/// The actor's valid API keys that other accounts created within [`NEWS_PERIOD`].
///
/// # Errors
/// When the database cannot be reached.
pub async fn new_by_others(app: &App, actor: &Actor) -> Result<Vec<ApiKey>> {
    let now = app.now();
    let filter = ApiKeyFilter { user: Some(actor.user()), valid_at: Some(now), ..ApiKeyFilter::default() };
    let newest = PageRequest { offset: 0, limit: 100 };
    let mut keys = app.store.read().await?.api_keys().list(&filter, newest).await?.records;
    let is_of_other = |key: &ApiKey| key.created_by.is_some_and(|creator| creator != actor.user());
    keys.retain(|key| is_of_other(key) && now - key.created_at < NEWS_PERIOD);
    Ok(keys)
}

/// Revokes an API key: one of the actor's own, or any with the permission.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`], or when the database cannot be reached.
pub async fn revoke(app: &App, actor: &Actor, id: ApiKeyId) -> Result<ApiKey> {
    let key = app.store.read().await?.api_keys().get(id).await?;
    // Without the permission, an unknown ID gives the same error as another account's key.
    actor.authorize_for::<DeleteApiKeys>(key.as_ref().map(|key| key.user))?;
    app.account_service().revoke_api_key(&Initiator::actor(actor), id).await
}

pub(crate) fn audit_target(key: &ApiKey) -> AuditTarget {
    AuditTarget::new(RecordKind::ApiKey, key.id, key.name.as_str())
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Whether a credential has the form of an API key.
pub fn is_key(credential: &str) -> bool {
    credential.starts_with(KEY_START)
}

/// Authenticates an API key: its account and the key. Records its use, at most once per minute.
///
/// # Errors
/// [`Error::Unauthenticated`] when the key is not valid, API keys are not accepted or the account is not active; or
/// when the database cannot be reached.
pub(super) async fn authenticate(app: &App, credential: &str) -> Result<(User, ApiKey)> {
    if !app.settings.accepts_api_keys {
        return Err(Error::Unauthenticated);
    }
    let prefix = ApiKeyPrefix::of(credential).ok_or(Error::Unauthenticated)?;
    let now = app.now();
    let mut view = app.store.read_latest().await?;
    let key = view.api_keys().by_prefix(&prefix).await?.ok_or(Error::Unauthenticated)?;
    // The comparison's timing reveals at most the digest, from which the key cannot be derived.
    // Connected applications have no secret.
    if key.sha256 != digest(credential) || !key.is_valid(now) || key.connection.is_some() {
        tracing::debug!(key = %key.id, "API key rejected");
        return Err(Error::Unauthenticated);
    }
    let user = view.users().get(key.user).await?;
    let account = user.filter(|user| user.is_active).ok_or(Error::Unauthenticated)?;
    drop(view);
    record_use(app, &key, now).await;
    Ok((account, key))
}

/// A random prefix of a key.
pub(crate) fn random_prefix(entropy: &dyn Entropy) -> ApiKeyPrefix {
    loop {
        if let Ok(prefix) = ApiKeyPrefix::parse(&random_text(entropy, ApiKeyPrefix::LENGTH)) {
            return prefix;
        }
    }
}

/// Records a use of a key, at most once per [`TOUCH_INTERVAL`]. A failure is logged.
pub(crate) async fn record_use(app: &App, key: &ApiKey, now: DateTime<Utc>) {
    if key.last_used_at.is_none_or(|at| now - at >= TOUCH_INTERVAL)
        && let Err(fault) = touch(app, key.id, now).await
    {
        app.note(&fault);
        tracing::warn!(key = %key.id, fault = %fault.report(), "the last use of an API key could not be recorded");
    }
}

async fn touch(app: &App, id: ApiKeyId, now: DateTime<Utc>) -> docent_domain::fault::Result<()> {
    let mut work = app.store.begin().await?;
    work.api_keys().touch(id, now).await?;
    work.commit().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(scopes: &[&str], is_limited: bool, url: &str) -> Option<String> {
        let record = ApiKey {
            id: ApiKeyId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            user: UserId::generate(DateTime::UNIX_EPOCH, [2; 10]),
            name: ApiKeyName::parse("Nightly").unwrap(),
            prefix: ApiKeyPrefix::parse("abcdefghijkl").unwrap(),
            sha256: [0; 32],
            scopes: ApiKeyScopes::parse(scopes.iter().copied()).unwrap(),
            collections: is_limited.then(BTreeSet::new),
            created_by: None,
            created_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            connection: None,
        };
        NewApiKey { record, key: "dk_a_b".to_owned() }.example_request(url)
    }

    #[test]
    fn example_request_fits_the_scopes_of_the_key() {
        let url = "https://docent.example.org/";
        let request = |scopes: &[&str], is_limited| example(scopes, is_limited, url).unwrap();
        let curl = "curl -sS -H 'Authorization: Bearer dk_a_b'";
        let documents = format!("{curl} https://docent.example.org/documents");
        assert_eq!(request(&["ingest", "read"], true), documents);
        assert_eq!(example(&["admin"], false, url), None);
        assert!(request(&["chat"], false).ends_with("https://docent.example.org/agents/chat"));
        assert_eq!(request(&["ingest"], false), format!("{curl} https://docent.example.org/webhooks"));
        assert!(request(&["ingest"], true).ends_with("https://docent.example.org/documents/upload"));
    }

    #[test]
    fn example_request_has_the_url_as_one_word_of_the_shell() {
        let url = |url| example(&["read"], false, url).unwrap();
        assert!(url("http://127.0.0.1:8000").ends_with(" http://127.0.0.1:8000/documents"));
        assert!(url("http://[::1]:8000/a 'b").ends_with(r" 'http://[::1]:8000/a '\''b/documents'"));
    }
}
