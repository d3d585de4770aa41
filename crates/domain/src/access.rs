//! Who may do what.
//!
//! An [`Actor`] is somebody whose identity has been checked. [`Actor::may`] turns it into a
//! [`Grant`], and use cases that change something ask for one: forgetting the check does not compile.

use crate::{
    api_key::{ApiKey, ApiKeyScope, ApiKeyScopes},
    error::Forbidden,
    id::{ApiKeyId, UserId},
    permission::{Permission, PermissionSet},
    user::User,
};
use std::{marker::PhantomData, net::IpAddr};

/// Somebody who has proved who they are, with an active account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    user: UserId,
    is_staff: bool,
    is_superuser: bool,
    permissions: PermissionSet,
    api_key: Option<(ApiKeyId, ApiKeyScopes)>,
    from: Option<IpAddr>,
}

impl Actor {
    /// The actor behind an account, unless it has been deactivated. Without [`Self::with_permissions`] it may
    /// do what every active account may.
    pub fn of(user: &User) -> Option<Self> {
        user.is_active.then_some(Self {
            user: user.id,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            permissions: PermissionSet::EMPTY,
            api_key: None,
            from: None,
        })
    }

    /// With what the account is allowed, by itself and by its groups.
    #[must_use]
    pub fn with_permissions(self, permissions: PermissionSet) -> Self {
        Self { permissions, ..self }
    }

    /// Acting by an API key of the account, within the key's scopes.
    #[must_use]
    pub fn with_key(self, key: &ApiKey) -> Self {
        Self { api_key: Some((key.id, key.scopes)), ..self }
    }

    /// The same one as an agent acts for it: whoever may ask may have the documents read for an answer, whatever else
    /// their key is good for.
    #[must_use]
    pub fn through_agent(self, _: &Grant<Chat>) -> Self {
        let api_key = self.api_key.map(|(key, scopes)| (key, scopes.with(ApiKeyScope::Read)));
        Self { api_key, ..self }
    }

    /// With where the request came from.
    #[must_use]
    pub fn from_address(self, from: IpAddr) -> Self {
        Self { from: Some(from), ..self }
    }

    /// The account's id.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// The API key that was used, if any.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.api_key.map(|(key, _)| key)
    }

    /// Where the request came from, if that is known.
    pub fn from(&self) -> Option<IpAddr> {
        self.from
    }

    /// Whether no check holds it up, but for the scopes of an API key.
    pub fn is_superuser(&self) -> bool {
        self.is_superuser
    }

    /// What the account is allowed: everything when it is a superuser's.
    pub fn permissions(&self) -> PermissionSet {
        if self.is_superuser { PermissionSet::all() } else { self.permissions }
    }

    /// The right to do `A`.
    ///
    /// # Errors
    /// When the actor has no such right.
    pub fn authorize<A: Operation>(&self) -> Result<Grant<A>, Forbidden> {
        self.grant(self.is_allowed(A::RULE) && self.has_scope(A::SCOPE))
    }

    /// The right to do `A` to something that belongs to `owner`: one's own, or anybody's with the right to do
    /// `A` at all.
    ///
    /// # Errors
    /// When the actor has no such right.
    pub fn authorize_for<A: Operation>(&self, owner: Option<UserId>) -> Result<Grant<A>, Forbidden> {
        if owner == Some(self.user) && self.has_scope(A::OWN_SCOPE) {
            return self.grant(true);
        }
        self.authorize()
    }

    fn is_allowed(&self, rule: AccessRule) -> bool {
        self.is_superuser
            || match rule {
                AccessRule::Anybody => true,
                AccessRule::Staff => self.is_staff,
                AccessRule::Holders(permission) => self.permissions.contains(permission),
            }
    }

    fn has_scope(&self, scope: Option<ApiKeyScope>) -> bool {
        match (self.api_key, scope) {
            (None, _) => true,
            (Some((_, scopes)), Some(scope)) => scopes.contains(scope),
            (Some(_), None) => false,
        }
    }

    fn grant<A>(&self, is_allowed: bool) -> Result<Grant<A>, Forbidden> {
        if is_allowed {
            Ok(Grant { by: self.user, api_key: self.api_key(), from: self.from, act: PhantomData })
        } else {
            Err(Forbidden)
        }
    }
}

/// Who may do something, superusers apart, who may do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRule {
    /// Every active account.
    Anybody,
    /// Accounts that may enter the panel.
    Staff,
    /// Accounts with this permission.
    Holders(Permission),
}

/// Something that needs a right.
pub trait Operation {
    /// Who may do it.
    const RULE: AccessRule;
    /// The scope that an API key needs for it; no key will do when none.
    const SCOPE: Option<ApiKeyScope>;
    /// The scope that an API key needs for doing it to what is its account's own.
    const OWN_SCOPE: Option<ApiKeyScope>;
}

/// The right to do `A`, held by somebody.
#[derive(Clone, Copy, Debug)]
pub struct Grant<A> {
    by: UserId,
    api_key: Option<ApiKeyId>,
    from: Option<IpAddr>,
    act: PhantomData<A>,
}

impl<A> Grant<A> {
    /// Who holds it.
    pub fn by(&self) -> UserId {
        self.by
    }

    /// The API key it was obtained with, if any.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.api_key
    }

    /// Where the request came from, if that is known.
    pub fn from(&self) -> Option<IpAddr> {
        self.from
    }
}

macro_rules! acts {
    ($($(#[$doc:meta])* $name:ident: $rule:expr, $scope:expr, $own:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Operation for $name {
            const RULE: AccessRule = $rule;
            const SCOPE: Option<ApiKeyScope> = $scope;
            const OWN_SCOPE: Option<ApiKeyScope> = $own;
        }
    )*};
}

/// Acts that take the permission of the same name, and an API key with the scope `admin`.
macro_rules! permitted {
    ($($(#[$doc:meta])* $name:ident: $permission:ident, $own:expr;)*) => {
        acts! {$(
            $(#[$doc])*
            $name: AccessRule::Holders(Permission::$permission), Some(ApiKeyScope::Admin), $own;
        )*}
    };
}

acts! {
    /// Creating and uploading documents.
    AddDocuments: AccessRule::Anybody, Some(ApiKeyScope::Ingest), Some(ApiKeyScope::Ingest);
    /// Reading and searching documents.
    ReadDocuments: AccessRule::Anybody, Some(ApiKeyScope::Read), Some(ApiKeyScope::Read);
    /// Asking an agent, and one's own conversations.
    Chat: AccessRule::Anybody, Some(ApiKeyScope::Chat), Some(ApiKeyScope::Chat);
    /// One's own webhooks.
    KeepWebhooks: AccessRule::Anybody, Some(ApiKeyScope::Ingest), Some(ApiKeyScope::Ingest);
    /// Entering the panel. API keys are no way in.
    EnterAdmin: AccessRule::Staff, None, None;
}

permitted! {
    /// Managing documents at the panel.
    ViewDocuments: ViewDocument, None;
    /// Uploading documents at the panel.
    UploadDocuments: AddDocument, None;
    /// Changing documents of others, such as having their ingestion tried anew.
    ChangeDocuments: ChangeDocument, Some(ApiKeyScope::Ingest);
    /// Deleting documents of others.
    DeleteDocuments: DeleteDocument, Some(ApiKeyScope::Ingest);
    /// Seeing accounts.
    ViewUsers: ViewUser, None;
    /// Creating accounts.
    AddUsers: AddUser, None;
    /// Changing accounts.
    ChangeUsers: ChangeUser, None;
    /// Deleting accounts.
    DeleteUsers: DeleteUser, None;
    /// Seeing groups, and what permissions there are.
    ViewGroups: ViewGroup, None;
    /// Creating groups.
    AddGroups: AddGroup, None;
    /// Changing groups.
    ChangeGroups: ChangeGroup, None;
    /// Deleting groups.
    DeleteGroups: DeleteGroup, None;
    /// Seeing API keys of all accounts.
    ViewApiKeys: ViewApiKey, None;
    /// Creating API keys for any account.
    AddApiKeys: AddApiKey, None;
    /// Revoking API keys of any account.
    DeleteApiKeys: DeleteApiKey, None;
    /// Seeing which verification tokens there are.
    ViewVerifications: ViewVerification, None;
    /// Making verification tokens, and being shown their links.
    AddVerifications: AddVerification, None;
    /// Revoking verification tokens.
    DeleteVerifications: DeleteVerification, None;
    /// Seeing the sessions of all accounts.
    ViewSessions: ViewSession, None;
    /// Ending sessions of any account.
    DeleteSessions: DeleteSession, None;
    /// Reading conversations of all accounts.
    ViewConversations: ViewConversation, None;
    /// Deleting conversations of any account.
    DeleteConversations: DeleteConversation, None;
    /// Seeing the webhooks of all accounts.
    ViewWebhooks: ViewWebhook, None;
    /// Turning webhooks of any account on and off, and having messages sent again.
    ChangeWebhooks: ChangeWebhook, None;
    /// Deleting webhooks of any account.
    DeleteWebhooks: DeleteWebhook, None;
    /// Seeing what all accounts used.
    ViewUsageRecords: ViewUsage, None;
    /// Seeing background jobs.
    ViewJobs: ViewJob, None;
    /// Reading the audit log.
    ViewAuditLog: ViewAuditEntry, None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        api_key::{ApiKeyName, ApiKeyPrefix},
        text::Email,
        user::PasswordHash,
    };
    use chrono::DateTime;

    fn user(is_active: bool, is_staff: bool, is_superuser: bool) -> User {
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
        }
    }

    #[test]
    fn only_active_accounts_act() {
        assert!(Actor::of(&user(false, true, true)).is_none());
        assert!(Actor::of(&user(true, false, false)).unwrap().authorize::<Chat>().is_ok());
    }

    #[test]
    fn what_is_ones_own_may_be_deleted() {
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
    fn the_panel_is_for_staff_and_superusers() {
        for (staff, superuser, allowed) in
            [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
        {
            let actor = Actor::of(&user(true, staff, superuser)).unwrap();
            assert_eq!(actor.authorize::<EnterAdmin>().is_ok(), allowed);
        }
    }

    #[test]
    fn a_permission_allows_what_it_names_and_nothing_else() {
        let set = [Permission::DeleteDocument].into_iter().collect();
        let actor = Actor::of(&user(true, true, false)).unwrap().with_permissions(set);
        assert!(actor.authorize::<DeleteDocuments>().is_ok());
        assert!(actor.authorize::<ChangeDocuments>().is_err());
        assert!(actor.authorize::<ViewUsers>().is_err());
    }

    fn key(scopes: &[&'static str]) -> ApiKey {
        ApiKey {
            id: ApiKeyId::generate(DateTime::UNIX_EPOCH, [3; 10]),
            user: UserId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            name: ApiKeyName::parse("a key").unwrap(),
            prefix: ApiKeyPrefix::parse("abcdef012345").unwrap(),
            sha256: [0; 32],
            scopes: ApiKeyScopes::parse(scopes.iter().copied()).unwrap(),
            created_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn a_key_never_does_more_than_its_scopes() {
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
        assert!(admin.authorize::<EnterAdmin>().is_err(), "keys are no way into the panel");
    }
}
