//! Delegated administration: an actor can manage only the access that it has itself.
//!
//! Managing accounts, groups, API keys and links would otherwise be a way to more access (privilege
//! escalation). An access is the status of a superuser, permissions, and roles on collections. An actor can
//!
//! - grant and revoke only permissions that it has;
//! - add members to, remove them from and delete only groups whose access it has;
//! - deactivate or delete only accounts whose access it has;
//! - take over only accounts whose access it has, and with the permissions that the panel demands for the
//!   account's own data. Setting the password, the email address or the second factor takes over an account,
//!   and so do links for a new password. Keys of another account are the same for the data that their scopes
//!   open.
//!
//! Only superusers manage accounts of superusers and make new ones. An account always has its own access.
//! This is the only place that decides it.

use crate::access::Actor;
use crate::api_key::{ApiKeyScope, ApiKeyScopes};
use crate::collection::CollectionRole;
use crate::error::{Rule, ValidationError};
use crate::id::{CollectionId, UserId};
use crate::missing_access::MissingAccess;
use crate::permission::Permission::{
    AddDocument, ChangeCollection, ChangeDocument, ChangeWebhook, DeleteConversation, DeleteDocument,
    DeleteWebhook, ViewCollection, ViewConversation, ViewDocument, ViewWebhook,
};
use crate::permission::{Permission, PermissionSet};
use crate::scope::Scope;
use crate::user::User;
use std::collections::BTreeMap;

/// The permissions with which staff can give any account any role on any collection but a personal one.
const SET_ROLES: &[Permission] = &[ViewCollection, ChangeCollection];
/// The permissions with which staff see what a viewer of any collection sees: its documents, its settings,
/// and the conversations that are shared with its readers.
const SEE_AS_VIEWER: &[Permission] = &[ViewDocument, ViewCollection, ViewConversation];

/// The access of an account or of a group, or a part of it: what an actor needs to manage it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The account, if it is the access of one.
    account: Option<UserId>,
    is_superuser: bool,
    permissions: PermissionSet,
    /// The highest role on each collection.
    roles: BTreeMap<CollectionId, CollectionRole>,
}

impl Access {
    /// The access of an account with these permissions and roles, its own and those of its groups, without
    /// its own data.
    pub fn of_account(
        user: &User,
        permissions: PermissionSet,
        roles: impl IntoIterator<Item = (CollectionId, CollectionRole)>,
    ) -> Self {
        let mut access = Self::of_group(permissions, roles);
        access.roles.remove(&CollectionId::personal(user.id));
        Self { account: Some(user.id), is_superuser: user.is_superuser, ..access }
    }

    /// The access that a group with these permissions and roles gives to its members.
    pub fn of_group(
        permissions: PermissionSet,
        roles: impl IntoIterator<Item = (CollectionId, CollectionRole)>,
    ) -> Self {
        let mut highest = BTreeMap::new();
        for (collection, role) in roles {
            let known = highest.entry(collection).or_insert(role);
            *known = (*known).max(role);
        }
        Self { permissions, roles: highest, ..Self::default() }
    }

    /// With all data of the account: its personal documents, its conversations and its webhooks.
    #[must_use]
    pub fn with_data(self) -> Self {
        let permissions = self.permissions.union(permissions_for_data(ApiKeyScopes::all()));
        Self { permissions, ..self }
    }
}

/// The permissions that the panel demands for what API keys with these scopes can do with their account's data.
fn permissions_for_data(scopes: ApiKeyScopes) -> PermissionSet {
    let of = |scope: ApiKeyScope| match scope {
        ApiKeyScope::Read => &[ViewDocument][..],
        ApiKeyScope::Ingest => {
            &[AddDocument, ChangeDocument, DeleteDocument, ViewWebhook, ChangeWebhook, DeleteWebhook]
        }
        ApiKeyScope::Chat => &[ViewConversation, DeleteConversation],
        // Gives only what the permissions and the roles of the account allow.
        ApiKeyScope::Admin => &[],
    };
    scopes.iter().flat_map(of).copied().collect()
}

impl Actor {
    /// What the actor lacks of an access. `scope` is that of the actor.
    pub fn missing_of(&self, scope: &Scope, access: &Access) -> MissingAccess {
        if self.is_superuser() || access.account == Some(self.user()) {
            return MissingAccess::default();
        }
        let has_role = |(collection, role): (&CollectionId, &CollectionRole)| {
            scope.role_in(*collection) >= Some(*role)
                || self.has_all(SET_ROLES)
                || *role == CollectionRole::Viewer && self.has_all(SEE_AS_VIEWER)
        };
        MissingAccess {
            is_superuser: access.is_superuser,
            permissions: access.permissions.without(self.permissions()),
            has_roles: !access.roles.iter().all(has_role),
        }
    }

    fn has_all(&self, permissions: &[Permission]) -> bool {
        permissions.iter().all(|permission| self.can_grant(*permission))
    }

    /// Whether the actor has this access itself. `scope` is that of the actor.
    pub fn can_manage(&self, scope: &Scope, access: &Access) -> bool {
        self.missing_of(scope, access).is_empty()
    }

    /// Checks that the actor has this access itself. `scope` is that of the actor.
    ///
    /// # Errors
    /// What it lacks.
    pub fn ensure_can_manage(&self, scope: &Scope, access: &Access) -> Result<(), MissingAccess> {
        let missing = self.missing_of(scope, access);
        if missing.is_empty() { Ok(()) } else { Err(missing) }
    }

    /// Whether the actor can grant and revoke this permission.
    pub fn can_grant(&self, permission: Permission) -> bool {
        self.permissions().contains(permission)
    }

    /// Whether the actor can edit an account at all: a superuser's only as a superuser. Changes of access need more.
    pub fn can_edit(&self, account: &User) -> bool {
        self.is_superuser() || !account.is_superuser
    }

    /// Checks that the actor can create an API key with these scopes for an account with this access.
    ///
    /// # Errors
    /// [`ValidationError`] for the field `account`, or `scopes` for those that give access to data that the actor
    /// cannot see or change in the panel.
    pub fn ensure_can_create_key(
        &self,
        scope: &Scope,
        access: &Access,
        scopes: ApiKeyScopes,
    ) -> Result<(), ValidationError> {
        let refused = |missing| ValidationError::of("account", Rule::OtherAccess(missing));
        self.ensure_can_manage(scope, access).map_err(refused)?;
        let permissions = permissions_for_data(scopes);
        let data = Access { account: access.account, permissions, ..Access::default() };
        let refused = |missing| ValidationError::of("scopes", Rule::DataAccess(missing));
        self.ensure_can_manage(scope, &data).map_err(refused)
    }

    /// Checks that the actor has all permissions that are granted or revoked between `before` and `after`.
    ///
    /// # Errors
    /// [`ValidationError`] for the field `permissions`.
    pub fn ensure_can_assign(
        &self,
        before: PermissionSet,
        after: PermissionSet,
    ) -> Result<(), ValidationError> {
        let changed = before.without(after).union(after.without(before));
        if self.permissions().contains_all(changed) {
            return Ok(());
        }
        Err(ValidationError::of("permissions", Rule::OwnPermissions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access;
    use crate::scope::AccountRoles;
    use CollectionRole::{Contributor, Manager, Viewer};
    use Permission::ViewJob;
    use chrono::DateTime;
    use uuid::Uuid;

    fn user(is_superuser: bool) -> User {
        access::tests::user(true, true, is_superuser)
    }

    fn actor(is_superuser: bool, permissions: &[Permission]) -> Actor {
        Actor::of(&user(is_superuser)).unwrap().with_permissions(set(permissions))
    }

    fn set(permissions: &[Permission]) -> PermissionSet {
        permissions.iter().copied().collect()
    }

    fn collection(n: u128) -> CollectionId {
        CollectionId::from_uuid(Uuid::from_u128(n))
    }

    fn scope_of(actor: &Actor, roles: &[(u128, CollectionRole)]) -> Scope {
        let own = roles.iter().map(|(n, role)| (collection(*n), *role)).collect();
        Scope::of(actor, AccountRoles { own, ..AccountRoles::default() })
    }

    fn manages(actor: &Actor, access: &Access) -> bool {
        actor.can_manage(&scope_of(actor, &[]), access)
    }

    /// Another account than that of [`actor`].
    fn other(is_superuser: bool) -> User {
        User { id: UserId::generate(DateTime::UNIX_EPOCH, [2; 10]), ..user(is_superuser) }
    }

    #[test]
    fn staff_manage_only_access_that_they_have() {
        let staff = actor(false, &[ViewJob, ViewDocument]);
        for (permissions, is_allowed) in [
            (set(&[]), true),
            (set(&[ViewJob]), true),
            (set(&[ViewJob, ViewDocument]), true),
            (set(&[ViewJob, DeleteDocument]), false),
            (PermissionSet::all(), false),
        ] {
            let (group, account) =
                (Access::of_group(permissions, []), Access::of_account(&other(false), permissions, []));
            assert_eq!((manages(&staff, &group), manages(&staff, &account)), (is_allowed, is_allowed));
            assert_eq!(staff.ensure_can_manage(&scope_of(&staff, &[]), &group).is_ok(), is_allowed);
        }
        assert!(staff.can_grant(ViewJob) && !staff.can_grant(DeleteDocument));
    }

    #[test]
    fn superuser_access_is_managed_only_by_superusers() {
        let account = Access::of_account(&other(true), PermissionSet::EMPTY, []);
        let all: Vec<Permission> = PermissionSet::all().iter().collect();
        assert!(!manages(&actor(false, &all), &account));
        assert!(!actor(false, &all).can_edit(&user(true)) && actor(false, &[]).can_edit(&user(false)));
        assert!(manages(&actor(true, &[]), &account) && actor(true, &[]).can_edit(&user(true)));
        let everything = [(collection(1), Manager)];
        assert!(manages(
            &actor(true, &[]),
            &Access::of_account(&other(true), PermissionSet::all(), everything)
        ));
    }

    // Invariant: Staff give, take and take over only access that they have, roles on collections and data of
    // accounts included.
    #[test]
    fn roles_are_given_only_by_those_who_have_them_or_can_set_them() {
        let group = |role| Access::of_group(PermissionSet::EMPTY, [(collection(1), role)]);
        for (permissions, own, up_to) in [
            (&[][..], None, None),
            (&[], Some(Viewer), Some(Viewer)),
            (&[], Some(Contributor), Some(Contributor)),
            (&[], Some(Manager), Some(Manager)),
            (SET_ROLES, None, Some(Manager)),
            (&[ChangeCollection], None, None),
            (SEE_AS_VIEWER, None, Some(Viewer)),
            (SEE_AS_VIEWER, Some(Contributor), Some(Contributor)),
            (&[ViewDocument, ViewCollection], None, None),
        ] {
            let actor = actor(false, permissions);
            let own: Vec<_> = own.map(|role| (1, role)).into_iter().chain([(2, Manager)]).collect();
            for role in CollectionRole::ALL {
                let missing = actor.missing_of(&scope_of(&actor, &own), &group(*role));
                let expected = MissingAccess { has_roles: Some(*role) > up_to, ..MissingAccess::default() };
                assert_eq!(missing, expected, "{permissions:?} {own:?} {role:?}");
            }
        }
    }

    // Invariant: Staff give, take and take over only access that they have, roles on collections and data of
    // accounts included.
    #[test]
    fn taking_over_an_account_requires_the_permissions_for_its_data() {
        let personal = (CollectionId::personal(other(false).id), Manager);
        let plain = Access::of_account(&other(false), PermissionSet::EMPTY, [personal]);
        assert!(manages(&actor(false, &[]), &plain), "the personal collection is data");
        let data = permissions_for_data(ApiKeyScopes::all());
        let all: Vec<Permission> = data.iter().collect();
        assert!(manages(&actor(false, &all), &plain.clone().with_data()));
        for left_out in &all {
            let rest: Vec<Permission> = data.without(set(&[*left_out])).iter().collect();
            let staff = actor(false, &rest);
            let missing = staff.missing_of(&scope_of(&staff, &[]), &plain.clone().with_data());
            assert_eq!(missing.permissions, set(&[*left_out]));
        }
        let own = Access::of_account(&user(false), PermissionSet::EMPTY, [(collection(1), Manager)]);
        assert!(manages(&actor(false, &[]), &own.with_data()), "an account has its own access");
    }

    // Invariant: A key for another account requires the permissions for the data that it opens.
    #[test]
    fn key_for_another_account_requires_the_permissions_for_its_data() {
        let plain = Access::of_account(&other(false), PermissionSet::EMPTY, []);
        let refused = |actor: &Actor, access: &Access, scopes: &[&'static str]| {
            let scopes = ApiKeyScopes::parse(scopes.iter().copied()).unwrap();
            let scope = scope_of(actor, &[]);
            actor.ensure_can_create_key(&scope, access, scopes).err().map(|error| error.field)
        };
        let reader = actor(false, &[ViewConversation, DeleteConversation]);
        assert_eq!(refused(&reader, &plain, &["chat"]), None);
        assert_eq!(refused(&actor(false, &[ViewConversation]), &plain, &["chat"]), Some("scopes"));
        assert_eq!(refused(&reader, &plain, &["chat", "read"]), Some("scopes"));
        assert_eq!(refused(&reader, &plain, &["ingest"]), Some("scopes"));
        assert_eq!(refused(&actor(false, &[ViewDocument]), &plain, &["read", "admin"]), None);
        assert_eq!(refused(&actor(true, &[]), &plain, &["read", "ingest", "chat", "admin"]), None);
        let superuser = Access::of_account(&other(true), PermissionSet::EMPTY, []);
        assert_eq!(refused(&reader, &superuser, &["admin"]), Some("account"));
        let manager = Access::of_account(&other(false), PermissionSet::EMPTY, [(collection(1), Manager)]);
        assert_eq!(refused(&reader, &manager, &["admin"]), Some("account"));
    }

    #[test]
    fn permissions_are_granted_and_revoked_only_by_holders() {
        let staff = actor(false, &[ViewJob]);
        for (before, after, is_allowed) in [
            (set(&[]), set(&[ViewJob]), true),
            (set(&[ViewJob]), set(&[]), true),
            (set(&[DeleteDocument]), set(&[DeleteDocument, ViewJob]), true),
            (set(&[]), set(&[DeleteDocument]), false),
            (set(&[DeleteDocument]), set(&[]), false),
            (set(&[DeleteDocument]), set(&[ViewJob]), false),
        ] {
            let result = staff.ensure_can_assign(before, after);
            assert_eq!(
                result.map_err(|error| error.field),
                if is_allowed { Ok(()) } else { Err("permissions") }
            );
            assert_eq!(actor(true, &[]).ensure_can_assign(before, after), Ok(()));
        }
    }
}
