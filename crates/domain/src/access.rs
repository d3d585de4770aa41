//! Authorization: actors, operations and grants.
//!
//! An [`Actor`] is an authenticated account. [`Actor::authorize`] returns a [`Grant`] for an [`Operation`].
//! Use cases that change something take a `Grant`, so code that skips the check does not compile.

use crate::api_key::{ApiKey, ApiKeyScope, ApiKeyScopes};
use crate::id::{ApiKeyId, CollectionId, UserId};
use crate::limits::AccountLimits;
pub use crate::operation::*;
use crate::permission::PermissionSet;
use crate::session::Session;
use crate::user::User;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;
use thiserror::Error;

/// An authenticated, active account together with its permissions and API key scopes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    user: UserId,
    is_staff: bool,
    is_superuser: bool,
    permissions: PermissionSet,
    api_key: Option<(ApiKeyId, ApiKeyScopes)>,
    /// Collections that the API key is limited to.
    collections: Option<Arc<BTreeSet<CollectionId>>>,
    client_ip: Option<IpAddr>,
    limits: AccountLimits,
    /// Whether the last proof of identity of the browser's session is too old for sensitive operations.
    needs_proof: bool,
}

impl Actor {
    /// Returns the actor for an account, or `None` if the account is deactivated. The actor has no permissions
    /// until [`Self::with_permissions`] is called.
    pub fn of(user: &User) -> Option<Self> {
        user.is_active.then_some(Self {
            user: user.id,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            permissions: PermissionSet::EMPTY,
            api_key: None,
            collections: None,
            client_ip: None,
            limits: user.limits,
            needs_proof: false,
        })
    }

    /// Sets the effective permissions: those of the account and of its groups.
    #[must_use]
    pub fn with_permissions(self, permissions: PermissionSet) -> Self {
        Self { permissions, ..self }
    }

    /// Restricts the actor to the scopes and collections of an API key of the account.
    #[must_use]
    pub fn with_key(self, key: &ApiKey) -> Self {
        let collections = key.collections.clone().map(Arc::new);
        Self { api_key: Some((key.id, key.scopes)), collections, ..self }
    }

    /// Restricts the actor to what every account may do: the flags and permissions of its account have no effect.
    #[must_use]
    pub fn without_privileges(self) -> Self {
        Self { is_staff: false, is_superuser: false, permissions: PermissionSet::EMPTY, ..self }
    }

    /// Restricts the actor to operations for which the proof of identity of this browser's session is recent
    /// enough. Access tokens and API keys have no such restriction: a program sends them itself, and no
    /// browser adds them to a request.
    #[must_use]
    pub fn with_browser_session(self, session: &Session, now: DateTime<Utc>) -> Self {
        Self { needs_proof: !session.has_recent_proof(now), ..self }
    }

    /// Whether the actor's API key, if any, can be used for this collection.
    pub fn can_use(&self, collection: CollectionId) -> bool {
        self.collections.as_ref().is_none_or(|collections| collections.contains(&collection))
    }

    /// The collections that the actor's API key is limited to, if it is.
    pub(crate) fn limited_to(&self) -> Option<&BTreeSet<CollectionId>> {
        self.collections.as_deref()
    }

    /// Adds the `read` scope, so that an agent can read documents to answer a question even if the API key has
    /// only the `chat` scope.
    #[must_use]
    pub fn via_agent(self, _: &Grant<Chat>) -> Self {
        let api_key = self.api_key.map(|(key, scopes)| (key, scopes.with(ApiKeyScope::Read)));
        Self { api_key, ..self }
    }

    /// Sets the client's IP address.
    #[must_use]
    pub fn with_client_ip(self, client_ip: IpAddr) -> Self {
        Self { client_ip: Some(client_ip), ..self }
    }

    /// ID of the account.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// ID of the API key that authenticated the request, if any.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.api_key.map(|(key, _)| key)
    }

    /// IP address of the client, if known.
    pub fn client_ip(&self) -> Option<IpAddr> {
        self.client_ip
    }

    /// Whether the account bypasses permission checks. The scopes of an API key still apply.
    pub fn is_superuser(&self) -> bool {
        self.is_superuser
    }

    /// Effective permissions: all of them for a superuser.
    pub fn permissions(&self) -> PermissionSet {
        if self.is_superuser { PermissionSet::all() } else { self.permissions }
    }

    /// Checks that the actor is allowed to perform `A`.
    ///
    /// # Errors
    /// [`Forbidden`] if it is not.
    pub fn authorize<A: Operation>(&self) -> Result<Grant<A>, Forbidden> {
        self.ensure_allowed::<A>()?;
        self.ensure_proof::<A>()?;
        Ok(self.grant())
    }

    /// Checks that the actor is allowed to perform `A` on a record of `owner`. Owners are always allowed; other
    /// actors need what [`Self::authorize`] requires.
    ///
    /// # Errors
    /// [`Forbidden`] if it is not.
    pub fn authorize_for<A: Operation>(&self, owner: Option<UserId>) -> Result<Grant<A>, Forbidden> {
        let is_own = owner == Some(self.user);
        match A::OWN_SCOPE {
            own if is_own && self.has_scope(own) => {}
            Some(own) if is_own => {
                self.ensure_allowed::<A>().map_err(|_| Forbidden::MissingScope(own))?;
            }
            _ => self.ensure_allowed::<A>()?,
        }
        self.ensure_proof::<A>()?;
        Ok(self.grant())
    }

    /// Whether the actor is allowed to perform `A`, if necessary after a proof of identity. For pages that
    /// offer an operation; only [`Self::authorize`] permits it.
    pub fn can<A: Operation>(&self) -> bool {
        self.ensure_allowed::<A>().is_ok()
    }

    /// Checks that the proof of identity is recent enough for `A`. For operations that a role on a record
    /// allows; included in [`Self::authorize`].
    ///
    /// # Errors
    /// [`Forbidden::ProofNeeded`] if it is not.
    pub fn ensure_proof<A: Operation>(&self) -> Result<(), Forbidden> {
        if A::NEEDS_PROOF && self.needs_proof { Err(Forbidden::ProofNeeded) } else { Ok(()) }
    }

    fn ensure_allowed<A: Operation>(&self) -> Result<(), Forbidden> {
        match (self.is_allowed(A::RULE), self.has_scope(A::SCOPE), A::SCOPE) {
            (true, true, _) => Ok(()),
            (true, false, Some(scope)) => Err(Forbidden::MissingScope(scope)),
            _ => Err(Forbidden::MissingPermission),
        }
    }

    fn is_allowed(&self, rule: AccessRule) -> bool {
        match rule {
            AccessRule::ActiveAccount => true,
            AccessRule::AllCollections => self.collections.is_none(),
            AccessRule::Staff => self.is_superuser || self.is_staff,
            AccessRule::Permission(permission) => self.permissions().contains(permission),
        }
    }

    fn has_scope(&self, scope: Option<ApiKeyScope>) -> bool {
        match (self.api_key, scope) {
            (None, _) => true,
            (Some((_, scopes)), Some(scope)) => scopes.contains(scope),
            (Some(_), None) => false,
        }
    }

    fn grant<A>(&self) -> Grant<A> {
        Grant {
            user: self.user,
            api_key: self.api_key(),
            is_limited_to_collections: self.collections.is_some(),
            client_ip: self.client_ip,
            limits: self.limits,
            operation: PhantomData,
        }
    }
}

/// The actor is not allowed to perform the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Forbidden {
    /// The account lacks a permission, or an API key cannot be used for the operation at all.
    #[error("you do not have permission to do this")]
    MissingPermission,
    /// The account may do it, but its API key lacks the scope.
    #[error("the API key lacks the scope `{}`", .0.name())]
    MissingScope(ApiKeyScope),
    /// The account may do it after a new proof of its identity: that of its browser's session is too old.
    #[error("enter your password or a code of your second factor again")]
    ProofNeeded,
}

/// Proof that an actor is allowed to perform `A`.
#[derive(Clone, Copy, Debug)]
pub struct Grant<A> {
    user: UserId,
    api_key: Option<ApiKeyId>,
    is_limited_to_collections: bool,
    client_ip: Option<IpAddr>,
    limits: AccountLimits,
    operation: PhantomData<A>,
}

impl<A> Grant<A> {
    /// ID of the authorized account.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// ID of the API key that authenticated the request, if any.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.api_key
    }

    /// The API key, if it is limited to collections. What the account keeps for itself is hidden from such a key.
    pub fn limited_key(&self) -> Option<ApiKeyId> {
        self.api_key.filter(|_| self.is_limited_to_collections)
    }

    /// IP address of the client, if known.
    pub fn client_ip(&self) -> Option<IpAddr> {
        self.client_ip
    }

    /// Limits of the account that replace those of the settings.
    pub fn limits(&self) -> AccountLimits {
        self.limits
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::api_key::{ApiKeyName, ApiKeyPrefix};
    use crate::id::SessionId;
    use crate::permission::Permission;
    use crate::session::{PROOF_MAX_AGE, SessionKind};
    use crate::text::Email;
    use crate::user::PasswordHash;
    use chrono::TimeDelta;

    /// An account with ID 1.
    pub(crate) fn user(is_active: bool, is_staff: bool, is_superuser: bool) -> User {
        User {
            id: UserId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            email: Email::parse("a@b.c").unwrap(),
            password: PasswordHash::from_phc(String::new()),
            is_active,
            is_staff,
            is_superuser,
            created_at: DateTime::UNIX_EPOCH,
            last_login_at: None,
            email_verified_at: None,
            sessions_from: DateTime::UNIX_EPOCH,
            limits: crate::limits::AccountLimits::default(),
            second_factor: None,
            language: None,
            name: None,
        }
    }

    // Invariant: Only active accounts can perform operations.
    #[test]
    fn deactivated_account_has_no_actor() {
        assert!(Actor::of(&user(false, true, true)).is_none());
        assert!(Actor::of(&user(true, false, false)).unwrap().authorize::<Chat>().is_ok());
    }

    #[test]
    fn own_document_can_be_deleted_without_permission() {
        let own = UserId::generate(DateTime::UNIX_EPOCH, [1; 10]);
        let other = UserId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        let (plain, superuser) = (user(true, true, false), user(true, false, true));
        for (user, owner, allowed) in [
            (&plain, Some(own), true),
            (&plain, Some(other), false),
            (&plain, None, false),
            (&superuser, Some(other), true),
            (&superuser, None, true),
        ] {
            let actor = Actor::of(user).unwrap();
            assert_eq!(actor.authorize_for::<DeleteDocuments>(owner).is_ok(), allowed);
        }
    }

    #[test]
    fn actor_without_privileges_has_only_its_own_records() {
        let actor = Actor::of(&user(true, true, true)).unwrap().with_permissions(PermissionSet::all());
        let actor = actor.without_privileges();
        assert!(actor.authorize::<AddDocuments>().is_ok());
        assert!(actor.authorize::<UseAdminPanel>().is_err() && actor.authorize::<ViewDocuments>().is_err());
        assert!(actor.authorize_for::<DeleteDocuments>(Some(actor.user())).is_ok());
        assert!(actor.authorize_for::<DeleteDocuments>(None).is_err());
    }

    #[test]
    fn admin_panel_requires_staff_or_superuser() {
        for (staff, superuser, allowed) in
            [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
        {
            let actor = Actor::of(&user(true, staff, superuser)).unwrap();
            assert_eq!(actor.authorize::<UseAdminPanel>().is_ok(), allowed);
        }
    }

    /// The session of a browser that began at the epoch.
    fn browser_session() -> Session {
        Session {
            id: SessionId::generate(DateTime::UNIX_EPOCH, [4; 10]),
            user: UserId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            kind: SessionKind::Panel,
            client_ip: None,
            user_agent: None,
            started_at: DateTime::UNIX_EPOCH,
            last_used_at: DateTime::UNIX_EPOCH,
            verified_at: DateTime::UNIX_EPOCH,
            expires_at: DateTime::UNIX_EPOCH,
            revoked_at: None,
        }
    }

    // Invariant: A session of a browser needs a recent proof of identity for sensitive operations, in the API
    // as on pages; nothing is changed without it.
    #[test]
    fn browser_session_needs_a_recent_proof_for_sensitive_operations() {
        let superuser = || Actor::of(&user(true, true, true)).unwrap();
        let (session, end) = (browser_session(), DateTime::UNIX_EPOCH + PROOF_MAX_AGE);
        let recent = superuser().with_browser_session(&session, end - TimeDelta::nanoseconds(1));
        assert!(recent.authorize::<ShareCollections>().is_ok());
        let old = superuser().with_browser_session(&session, end);
        let own = Some(old.user());
        assert_eq!(old.authorize::<ShareCollections>().unwrap_err(), Forbidden::ProofNeeded);
        assert_eq!(old.authorize_for::<AddApiKeys>(own).unwrap_err(), Forbidden::ProofNeeded);
        assert_eq!(old.ensure_proof::<DeleteCollections>().unwrap_err(), Forbidden::ProofNeeded);
        assert!(old.can::<ShareCollections>(), "the page offers it");
        assert!(old.authorize::<DeleteSessions>().is_ok(), "what ends access needs no proof");
        assert!(old.authorize::<Chat>().is_ok());
        let confirmed = superuser().with_browser_session(&Session { verified_at: end, ..session }, end);
        assert!(confirmed.authorize::<ShareCollections>().is_ok());
    }

    #[test]
    fn missing_permission_is_reported_before_a_missing_proof() {
        let now = DateTime::UNIX_EPOCH + PROOF_MAX_AGE;
        let old = Actor::of(&user(true, true, false)).unwrap().with_browser_session(&browser_session(), now);
        assert_eq!(old.authorize::<AddUsers>().unwrap_err(), Forbidden::MissingPermission);
        assert!(!old.can::<AddUsers>());
    }

    #[test]
    fn access_tokens_and_api_keys_need_no_proof() {
        let superuser = Actor::of(&user(true, true, true)).unwrap();
        assert!(superuser.authorize::<AddUsers>().is_ok());
        assert!(superuser.with_key(&key(&["admin"])).authorize::<ShareCollections>().is_ok());
    }

    #[test]
    fn permission_allows_only_its_own_operation() {
        let set = [Permission::DeleteDocument].into_iter().collect();
        let actor = Actor::of(&user(true, true, false)).unwrap().with_permissions(set);
        assert!(actor.authorize::<DeleteDocuments>().is_ok());
        assert!(actor.authorize::<ChangeDocuments>().is_err());
        assert!(actor.authorize::<ViewUsers>().is_err());
    }

    /// An API key of the account of [`user`] with these scopes.
    pub(crate) fn key(scopes: &[&'static str]) -> ApiKey {
        ApiKey {
            id: ApiKeyId::generate(DateTime::UNIX_EPOCH, [3; 10]),
            user: UserId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            name: ApiKeyName::parse("a key").unwrap(),
            prefix: ApiKeyPrefix::parse("abcdef012345").unwrap(),
            sha256: [0; 32],
            scopes: ApiKeyScopes::parse(scopes.iter().copied()).unwrap(),
            collections: None,
            created_by: None,
            created_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
            connection: None,
        }
    }

    #[test]
    fn api_key_is_limited_to_its_scopes() {
        let superuser = Actor::of(&user(true, true, true)).unwrap();
        let (own, other) = (Some(superuser.user()), None);
        let reader = superuser.clone().with_key(&key(&["read"]));
        assert!(reader.authorize::<ReadDocuments>().is_ok());
        assert!(reader.authorize::<AddDocuments>().is_err() && reader.authorize::<Chat>().is_err());
        assert!(reader.authorize_for::<DeleteDocuments>(own).is_err());
        let ingester = superuser.clone().with_key(&key(&["ingest"]));
        assert!(ingester.authorize_for::<DeleteDocuments>(own).is_ok());
        assert!(ingester.authorize_for::<DeleteDocuments>(other).is_err());
        let admin = superuser.with_key(&key(&["admin"]));
        assert!(admin.authorize_for::<DeleteDocuments>(other).is_ok());
        assert!(admin.authorize_for::<DeleteDocuments>(own).is_ok());
        let forbidden = reader.authorize::<AddDocuments>().unwrap_err();
        assert_eq!(forbidden, Forbidden::MissingScope(ApiKeyScope::Ingest));
        assert_eq!(forbidden.to_string(), "the API key lacks the scope `ingest`");
        let forbidden = reader.authorize_for::<DeleteDocuments>(own).unwrap_err();
        assert_eq!(forbidden, Forbidden::MissingScope(ApiKeyScope::Ingest), "the scope for an own document");
        let forbidden = reader.authorize_for::<DeleteDocuments>(other).unwrap_err();
        assert_eq!(forbidden, Forbidden::MissingScope(ApiKeyScope::Admin));
        assert!(admin.authorize::<UseAdminPanel>().is_err(), "the admin panel accepts no API key");
    }
}
