//! Delegated administration: an actor can manage only the access that it has itself.
//!
//! Managing accounts, groups, API keys and links would otherwise be a way to more access (privilege escalation).
//! An actor can grant and revoke only permissions that it has, add members to, remove them from and delete only
//! groups whose permissions it has, and take over, deactivate or delete only accounts without permissions that it
//! lacks. A key for another account gives access to that account's data, so it takes the permissions that the panel
//! demands for that data. Only superusers manage accounts of superusers and make new ones. This is the only place that decides it.

use crate::access::{Actor, Forbidden};
use crate::api_key::{ApiKeyScope, ApiKeyScopes};
use crate::error::{Rule, ValidationError};
use crate::permission::Permission::{
    AddDocument, ChangeDocument, ChangeWebhook, DeleteConversation, DeleteDocument, DeleteWebhook,
    ViewConversation, ViewDocument, ViewWebhook,
};
use crate::permission::{Permission, PermissionSet};
use crate::user::User;

/// The access of an account, of a group, or in which either changes: what an actor needs to manage it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    is_superuser: bool,
    permissions: PermissionSet,
}

impl Access {
    /// The access of a superuser.
    pub const SUPERUSER: Self = Self { is_superuser: true, permissions: PermissionSet::EMPTY };

    /// The access of an account with these permissions, its own and those of its groups.
    pub fn of_account(user: &User, permissions: PermissionSet) -> Self {
        Self { is_superuser: user.is_superuser, permissions }
    }
}

impl From<PermissionSet> for Access {
    fn from(permissions: PermissionSet) -> Self {
        Self { is_superuser: false, permissions }
    }
}

impl From<Permission> for Access {
    fn from(permission: Permission) -> Self {
        PermissionSet::from_iter([permission]).into()
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
        // Gives only what the permissions of the account allow.
        ApiKeyScope::Admin => &[],
    };
    scopes.iter().flat_map(of).copied().collect()
}

impl Actor {
    /// Whether the actor has this access itself.
    pub fn can_manage(&self, access: impl Into<Access>) -> bool {
        let access = access.into();
        self.is_superuser() || !access.is_superuser && self.permissions().contains_all(access.permissions)
    }

    /// Checks that the actor has this access itself.
    ///
    /// # Errors
    /// [`Forbidden`] when the actor lacks some of it.
    pub fn ensure_can_manage(&self, access: impl Into<Access>) -> Result<(), Forbidden> {
        if self.can_manage(access) { Ok(()) } else { Err(Forbidden::MissingPermission) }
    }

    /// Whether the actor can edit an account at all: a superuser's only as a superuser. Changes of access need more.
    pub fn can_edit(&self, account: &User) -> bool {
        self.can_manage(Access::of_account(account, PermissionSet::EMPTY))
    }

    /// Checks that the actor can create an API key with these scopes for another account with this access.
    ///
    /// # Errors
    /// [`ValidationError`] for the field `account`, or `scopes` for those that give access to data that the actor
    /// cannot see or change in the panel.
    pub fn ensure_can_create_key(&self, access: Access, scopes: ApiKeyScopes) -> Result<(), ValidationError> {
        if !self.can_manage(access) {
            return Err(ValidationError::of("account", Rule::OtherPermissions));
        }
        let missing = permissions_for_data(scopes).without(self.permissions());
        if missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<_> = missing.iter().map(|permission| permission.to_string()).collect();
        let reason = format!(
            "give access to data of the other account, for which you need the permissions {}",
            missing.join(", ")
        );
        Err(ValidationError::new("scopes", reason))
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
        let invalid = |_| ValidationError::of("permissions", Rule::OwnPermissions);
        self.ensure_can_manage(changed).map_err(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::UserId;
    use crate::text::Email;
    use crate::user::PasswordHash;
    use Permission::ViewJob;
    use chrono::DateTime;

    fn user(is_superuser: bool) -> User {
        User {
            id: UserId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            email: Email::parse("a@b.c").unwrap(),
            password: PasswordHash::from_phc(String::new()),
            is_active: true,
            is_staff: true,
            is_superuser,
            created_at: DateTime::UNIX_EPOCH,
            last_login_at: None,
            email_verified_at: None,
            sessions_from: DateTime::UNIX_EPOCH,
            limits: crate::limits::AccountLimits::default(),
            second_factor: None,
            language: None,
        }
    }

    fn actor(is_superuser: bool, permissions: &[Permission]) -> Actor {
        Actor::of(&user(is_superuser)).unwrap().with_permissions(set(permissions))
    }

    fn set(permissions: &[Permission]) -> PermissionSet {
        permissions.iter().copied().collect()
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
            assert_eq!(staff.can_manage(permissions), is_allowed);
            assert_eq!(staff.can_manage(Access::of_account(&user(false), permissions)), is_allowed);
            assert_eq!(staff.ensure_can_manage(permissions).is_ok(), is_allowed);
        }
        assert!(staff.can_manage(ViewJob) && !staff.can_manage(DeleteDocument));
    }

    #[test]
    fn superuser_access_is_managed_only_by_superusers() {
        let account = Access::of_account(&user(true), PermissionSet::EMPTY);
        assert_eq!(account, Access::SUPERUSER);
        let all: Vec<Permission> = PermissionSet::all().iter().collect();
        assert!(!actor(false, &all).can_manage(account));
        assert!(!actor(false, &all).can_edit(&user(true)) && actor(false, &[]).can_edit(&user(false)));
        assert!(actor(true, &[]).can_manage(account) && actor(true, &[]).can_edit(&user(true)));
        assert!(actor(true, &[]).can_manage(Access::of_account(&user(true), PermissionSet::all())));
    }

    #[test]
    fn key_for_another_account_requires_the_permissions_for_its_data() {
        let plain = Access::of_account(&user(false), PermissionSet::EMPTY);
        let refused = |actor: &Actor, scopes: &[&'static str]| {
            let scopes = ApiKeyScopes::parse(scopes.iter().copied()).unwrap();
            actor.ensure_can_create_key(plain, scopes).err().map(|error| error.field)
        };
        let reader = actor(false, &[ViewConversation, DeleteConversation]);
        assert_eq!(refused(&reader, &["chat"]), None);
        assert_eq!(refused(&actor(false, &[ViewConversation]), &["chat"]), Some("scopes"));
        assert_eq!(refused(&reader, &["chat", "read"]), Some("scopes"));
        assert_eq!(refused(&reader, &["ingest"]), Some("scopes"));
        assert_eq!(refused(&actor(false, &[ViewDocument]), &["read", "admin"]), None);
        assert_eq!(refused(&actor(true, &[]), &["read", "ingest", "chat", "admin"]), None);
        let scopes = ApiKeyScopes::parse(["admin"]).unwrap();
        let error = reader.ensure_can_create_key(Access::SUPERUSER, scopes).unwrap_err();
        assert_eq!(error.field, "account");
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
