//! Accounts, as staff manage them.
//!
//! What staff can give, change and take is decided by [`docent_domain::delegation`]. In addition, an account cannot
//! deactivate itself or remove its own access to the panel: a superuser who removes another superuser remains one,
//! so there is always one left. (The command line acts for no account; [`Error::LastSuperuser`] protects the last
//! superuser there.)

use super::access::{self, GroupsWithAccess};
use super::groups::permission_names;
use super::notices::Notice;
use super::{api_keys, login_limits};
use crate::App;
use crate::accounts::create::Flags;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::scope;
use docent_domain::access::{Actor, AddUsers, ChangeUsers, DeleteUsers, Grant, ViewUsers};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::AuditAction;
use docent_domain::collection::CollectionRole;
use docent_domain::delegation::Access;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{CollectionId, GroupId, UserId};
use docent_domain::limits::AccountLimits;
use docent_domain::listing::{ApiKeyFilter, Page, PageRequest, UserFilter};
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::scope::Scope;
use docent_domain::text::Email;
use docent_domain::user::{Password, User};
use docent_domain::verification::VerificationPurpose;
use docent_ports::store::UnitOfWork;
use std::collections::{BTreeSet, HashMap};

/// The editable fields of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountInput {
    /// Its email address.
    pub email: Email,
    /// Whether it can be used.
    pub is_active: bool,
    /// Whether it can sign in to the admin panel.
    pub is_staff: bool,
    /// Whether it bypasses all permission checks.
    pub is_superuser: bool,
    /// Its own permissions and its groups.
    pub assigned: AssignedPermissions,
}

/// An account with its permissions.
#[derive(Clone, Debug)]
pub struct Account {
    /// The account.
    pub user: User,
    /// Its own permissions and its groups.
    pub assigned: AssignedPermissions,
    /// Its effective permissions: its own and those of its groups.
    pub permissions: PermissionSet,
    /// Its own roles on collections and those of its groups. A collection can occur several times.
    pub roles: Vec<(CollectionId, CollectionRole)>,
}

impl Account {
    /// The access that an actor needs itself to manage this account.
    pub fn access(&self) -> Access {
        Access::of_account(&self.user, self.permissions, self.roles.iter().copied())
    }
}

/// A page of accounts.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewUsers>,
    filter: &UserFilter,
    page: PageRequest,
) -> Result<Page<User>> {
    Ok(app.store.read().await?.users().list(filter, page).await?)
}

/// The email addresses of the accounts that exist among these, for lists of their records. A record's viewers may
/// see its owner.
///
/// # Errors
/// When the database cannot be reached.
pub async fn emails(app: &App, ids: &[UserId]) -> Result<HashMap<UserId, Email>> {
    Ok(app.store.read().await?.users().emails(ids).await?)
}

/// The account with this ID.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewUsers>, id: UserId) -> Result<Account> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    let assigned = view.groups().assigned_permissions(id).await?;
    let permissions = view.groups().permissions(id).await?;
    // Every account has the roles on collections that are open to all.
    let roles = view.collections().roles(id).await?.own;
    Ok(Account { user, assigned, permissions, roles })
}

/// Creates an account.
///
/// # Errors
/// [`Error::EmailTaken`], [`Error::Invalid`] for access that the actor cannot grant, or when the database cannot be
/// reached.
pub async fn create(
    app: &App,
    actor: &Actor,
    grant: Grant<AddUsers>,
    input: AccountInput,
    password: Password,
) -> Result<User> {
    let flags = Flags { is_staff: input.is_staff, is_superuser: input.is_superuser };
    let service = app.account_service();
    let user = service.new_user(input.email.clone(), password, flags).await?;
    let user = User { is_active: input.is_active, ..user };
    let mut work = app.store.begin().await?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let groups = access::groups_in_work(&mut *work, &input.assigned.groups).await?;
    ensure_can_assign(actor, &scope, &groups, &AssignedPermissions::default(), false, &input)?;
    let non_empty = |text: String| Some(text).filter(|text| !text.is_empty());
    let changes = Changes::default()
        .field("groups", None, non_empty(group_names(&input.assigned.groups, &groups)))
        .field("permissions", None, non_empty(permission_names(input.assigned.permissions)));
    service.insert(&mut *work, &Initiator::grantee(&grant), &user, changes).await?;
    work.groups().set_assigned_permissions(user.id, &input.assigned).await?;
    work.commit().await?;
    Ok(user)
}

/// Changes an account and notifies its owner of a new address and of new groups. A deactivation ends its
/// sessions; new access ends what others made to act for the account.
///
/// # Errors
/// [`Error::NotFound`], [`Error::EmailTaken`], [`Error::Forbidden`] for a superuser's account, [`Error::Invalid`] for
/// changes that the actor cannot make, or when the database cannot be reached.
pub async fn change(
    app: &App,
    actor: &Actor,
    grant: Grant<ChangeUsers>,
    id: UserId,
    input: &AccountInput,
) -> Result<User> {
    let mut work = app.store.begin().await?;
    let before = lock_account(&mut *work, actor, id).await?;
    let assigned = work.groups().assigned_permissions(id).await?;
    // Managers are made on the page of the group.
    let managed = assigned.managed.intersection(&input.assigned.groups).copied().collect();
    let input = &AccountInput {
        assigned: AssignedPermissions { managed, ..input.assigned.clone() },
        ..input.clone()
    };
    if !actor.can_edit(&before) {
        return Err(Error::Forbidden);
    }
    let scope = scope::in_work(&mut *work, actor).await?;
    let either: BTreeSet<GroupId> = assigned.groups.union(&input.assigned.groups).copied().collect();
    let groups = access::groups_in_work(&mut *work, &either).await?;
    ensure_can_assign(actor, &scope, &groups, &assigned, before.is_superuser, input)?;
    if id == actor.user() {
        ensure_keeps_own_access(&before, input)?;
    }
    let access = access::of_account_in_work(&mut *work, &before).await?;
    ensure_can_change_fields(actor, &scope, &before, &access, input)?;
    if let Some(other) = work.users().by_email(&input.email).await?
        && other.id != id
    {
        return Err(Error::EmailTaken);
    }
    let mut after = User {
        email: input.email.clone(),
        is_active: input.is_active,
        is_staff: input.is_staff,
        is_superuser: input.is_superuser,
        ..before.clone()
    };
    if after.email != before.email {
        after.email_verified_at = None;
    }
    if after.email != before.email || before.is_active && !after.is_active {
        // Links sent to the previous address must not verify the new one, nor open an inactive account.
        work.verifications().remove_for_user(id, None).await?;
    }
    if before.is_active == after.is_active {
        work.users().update(&after).await?;
    } else {
        app.account_service().end_sessions(&mut *work, &mut after).await?;
    }
    if assigned != input.assigned {
        work.groups().set_assigned_permissions(id, &input.assigned).await?;
    }
    if gains_access((&before, &assigned), (&after, &input.assigned)) {
        end_access_of_others(app, &mut *work, actor, id).await?;
    }
    let changes = Changes::default()
        .changed("email", before.email.as_str(), after.email.as_str())
        .changed("is_active", before.is_active, after.is_active)
        .changed("is_staff", before.is_staff, after.is_staff)
        .changed("is_superuser", before.is_superuser, after.is_superuser)
        .changed(
            "groups",
            group_names(&assigned.groups, &groups),
            group_names(&input.assigned.groups, &groups),
        )
        .changed(
            "permissions",
            permission_names(assigned.permissions),
            permission_names(input.assigned.permissions),
        );
    if !changes.is_empty() {
        let initiator = Initiator::grantee(&grant);
        app.audit(&mut *work, &initiator, AuditAction::Change, AuditTarget::user(&after), changes).await?;
    }
    let by = work.users().emails(&[actor.user()]).await?.remove(&actor.user());
    work.commit().await?;
    if after.email != before.email {
        app.notify(&before.email, Notice::EmailChanged { new: &after.email });
    }
    let joined = input.assigned.groups.difference(&assigned.groups).copied().collect();
    let joined = group_names(&joined, &groups);
    if !joined.is_empty() {
        let by = by.as_ref().map_or("", |email| email.as_str());
        app.notify(&before.email, Notice::AddedToGroups { groups: &joined, by });
    }
    Ok(after)
}

/// Changes the groups of an account and which of them it manages, by the rules of [`change`]. Returns the names of the groups
/// that it has joined, if any.
pub(super) async fn set_groups(
    app: &App,
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    initiator: &Initiator,
    id: UserId,
    change: impl FnOnce(&mut AssignedPermissions) + Send,
) -> Result<Option<String>> {
    let user = lock_account(work, actor, id).await?;
    if !actor.can_edit(&user) {
        return Err(Error::Forbidden);
    }
    let before = work.groups().assigned_permissions(id).await?;
    let mut after = before.clone();
    change(&mut after);
    let either: BTreeSet<GroupId> = before.groups.union(&after.groups).copied().collect();
    let groups = access::groups_in_work(work, &either).await?;
    let scope = scope::in_work(work, actor).await?;
    let changed = before.groups.symmetric_difference(&after.groups);
    let changed = changed.chain(before.managed.symmetric_difference(&after.managed));
    access::ensure_can_add_to(actor, &scope, &groups, changed)?;
    if after == before {
        return Ok(None);
    }
    work.groups().set_assigned_permissions(id, &after).await?;
    if gains_access((&user, &before), (&user, &after)) {
        end_access_of_others(app, work, actor, id).await?;
    }
    let changes = Changes::default()
        .changed("groups", group_names(&before.groups, &groups), group_names(&after.groups, &groups))
        .changed(
            "managed_groups",
            group_names(&before.managed, &groups),
            group_names(&after.managed, &groups),
        );
    app.audit(work, initiator, AuditAction::Change, AuditTarget::user(&user), changes).await?;
    let joined = after.groups.difference(&before.groups).copied().collect();
    Ok(Some(group_names(&joined, &groups)).filter(|names| !names.is_empty()))
}

/// Whether an account gains access by a change.
fn gains_access(before: (&User, &AssignedPermissions), after: (&User, &AssignedPermissions)) -> bool {
    let gains = |had: bool, has: bool| has && !had;
    gains(before.0.is_superuser, after.0.is_superuser)
        || gains(before.0.is_staff, after.0.is_staff)
        || !before.1.permissions.contains_all(after.1.permissions)
        || !before.1.groups.is_superset(&after.1.groups)
}

/// Ends what others made to act for an account, which gains access that they may not have: links for a new password, and API keys.
/// Those of the actor, who gives the access, stay.
async fn end_access_of_others(
    app: &App,
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    user: UserId,
) -> Result<()> {
    work.verifications().remove_for_user(user, Some(VerificationPurpose::ResetPassword)).await?;
    for key in keys_of_others(app, work, actor, user).await? {
        work.api_keys().revoke(key.id, app.now()).await?;
        let (initiator, target) = (Initiator::actor(actor), api_keys::audit_target(&key));
        app.audit(work, &initiator, AuditAction::Revoke, target, Changes::default()).await?;
    }
    Ok(())
}

/// The valid keys of an account that neither it nor the actor has made.
pub(super) async fn keys_of_others(
    app: &App,
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    user: UserId,
) -> Result<Vec<ApiKey>> {
    let filter = ApiKeyFilter { user: Some(user), valid_at: Some(app.now()), ..ApiKeyFilter::default() };
    let keys = work.api_keys().list(&filter, PageRequest { offset: 0, limit: 1000 }).await?.records;
    let is_of_other = |key: &ApiKey| key.created_by.is_some_and(|by| by != user && by != actor.user());
    Ok(keys.into_iter().filter(is_of_other).collect())
}

/// Sets an account's password, ends its sessions and notifies its owner.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MissingAccess`] for an account with access or data that the actor does not
/// have, or when the database cannot be reached.
pub async fn set_password(
    app: &App,
    actor: &Actor,
    grant: Grant<ChangeUsers>,
    id: UserId,
    password: Password,
) -> Result<()> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    access::ensure_can_take_over(&mut *view, actor, &user).await?;
    drop(view);
    app.account_service().set_password(&Initiator::grantee(&grant), id, password).await?;
    app.notify(&user.email, Notice::PasswordChanged);
    login_limits::forget_failures(app, &user.email).await;
    Ok(())
}

/// Sets the limits of an account that replace those of the settings.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MissingAccess`] for an account with access that the actor does not have, or
/// when the database cannot be reached.
pub async fn set_limits(
    app: &App,
    actor: &Actor,
    grant: Grant<ChangeUsers>,
    id: UserId,
    limits: AccountLimits,
) -> Result<()> {
    let mut work = app.store.begin().await?;
    let user = lock_account(&mut *work, actor, id).await?;
    access::ensure_can_manage(&mut *work, actor, &user).await?;
    let text = |limit: Option<u64>| limit.map(|limit| limit.to_string());
    let before = user.limits;
    let changes = Changes::default()
        .field("answers", text(before.answers), text(limits.answers))
        .field("tokens_per_day", text(before.tokens_per_day), text(limits.tokens_per_day))
        .field("stored_bytes", text(before.stored_bytes), text(limits.stored_bytes))
        .field("page_images_per_hour", text(before.page_images_per_hour), text(limits.page_images_per_hour));
    if !changes.is_empty() {
        work.users().update(&User { limits, ..user.clone() }).await?;
        let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::user(&user));
        app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    }
    Ok(work.commit().await?)
}

/// Deletes an account with its permissions, API keys, sessions and conversations. Its documents remain, without an
/// owner.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`] for the actor's own account, [`Error::MissingAccess`] for one
/// with access that the actor does not have, or when the database cannot be reached.
pub async fn delete(app: &App, actor: &Actor, grant: Grant<DeleteUsers>, id: UserId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let user = lock_account(&mut *work, actor, id).await?;
    access::ensure_can_manage(&mut *work, actor, &user).await?;
    if id == actor.user() {
        return Err(Error::Forbidden);
    }
    work.users().delete(id).await?;
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::user(&user));
    app.audit(&mut *work, &initiator, AuditAction::Delete, target, Changes::default()).await?;
    Ok(work.commit().await?)
}

/// Locks the account and the actor's own, and checks that the actor still has its access: if two actors
/// concurrently revoke each other's, the second attempt fails.
pub(super) async fn lock_account(work: &mut dyn UnitOfWork, actor: &Actor, id: UserId) -> Result<User> {
    let mut account = None;
    // Lock in ID order to prevent deadlocks.
    for locked_id in [actor.user().min(id), actor.user().max(id)] {
        let user = work.users().get(locked_id).await?;
        if locked_id == actor.user() {
            let has_access = |user: &User| user.is_active && (user.is_superuser || !actor.is_superuser());
            user.as_ref().filter(|user| has_access(user)).ok_or(Error::Forbidden)?;
        }
        if locked_id == id {
            account = user;
        }
    }
    account.ok_or(Error::NotFound(RecordKind::User))
}

/// Checks that the actor can make the changes of the superuser flag, the permissions and the groups.
fn ensure_can_assign(
    actor: &Actor,
    scope: &Scope,
    groups: &GroupsWithAccess,
    before: &AssignedPermissions,
    was_superuser: bool,
    input: &AccountInput,
) -> Result<(), ValidationError> {
    if !input.assigned.groups.iter().all(|id| groups.contains_key(id)) {
        return Err(ValidationError::of("groups", Rule::UnknownGroup));
    }
    if input.is_superuser && !was_superuser && !actor.is_superuser() {
        return Err(ValidationError::of("is_superuser", Rule::SuperuserOnly));
    }
    actor.ensure_can_assign(before.permissions, input.assigned.permissions)?;
    let changed = before.groups.symmetric_difference(&input.assigned.groups);
    access::ensure_can_add_to(actor, scope, groups, changed.filter(|id| groups.contains_key(id)))
}

/// Checks changes of fields that could be used to take over or lock out an account with more access than the
/// actor, or to let it in again.
fn ensure_can_change_fields(
    actor: &Actor,
    scope: &Scope,
    before: &User,
    access: &Access,
    input: &AccountInput,
) -> Result<(), ValidationError> {
    for (field, is_changed, access) in [
        // The owner of the mailbox can reset the password.
        ("email", input.email != before.email, &access.clone().with_data()),
        ("is_active", input.is_active != before.is_active, access),
        ("is_staff", input.is_staff != before.is_staff, access),
    ] {
        let refused = |missing| ValidationError::of(field, Rule::AccountAccess(missing));
        if is_changed {
            actor.ensure_can_manage(scope, access).map_err(refused)?;
        }
    }
    Ok(())
}

/// Checks that the actor does not lock itself out.
fn ensure_keeps_own_access(before: &User, input: &AccountInput) -> Result<(), ValidationError> {
    for (field, is_removed) in [
        ("is_active", before.is_active && !input.is_active),
        ("is_superuser", before.is_superuser && !input.is_superuser),
        ("is_staff", before.is_staff && !before.is_superuser && !input.is_staff),
    ] {
        if is_removed {
            return Err(ValidationError::of(field, Rule::OwnAccess));
        }
    }
    Ok(())
}

/// The names of groups, separated by commas.
fn group_names(ids: &BTreeSet<GroupId>, groups: &GroupsWithAccess) -> String {
    let names = ids.iter().filter_map(|id| groups.get(id)).map(|(group, _)| group.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}
