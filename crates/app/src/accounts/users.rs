//! What staff do with accounts.
//!
//! Nobody gains by it what they were not given: staff who are no superusers leave the accounts of superusers alone,
//! hand out and take away only what they hold themselves, and neither shut out nor remove an account that is allowed
//! more than they, nor set its password. And nobody locks themselves out: whoever takes a superuser's rights is a
//! superuser when that is done, so that one is always left.
//! (The command line, which is nobody's account, keeps the last one by [`Error::LastSuperuser`].)

use crate::{
    App,
    accounts::create::Flags,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{
    access::{Actor, AddUsers, ChangeUsers, DeleteUsers, Grant, ViewUsers},
    audit::AuditAction,
    error::{Forbidden, ValidationError},
    group::{AssignedPermissions, Group},
    id::{GroupId, UserId},
    permission::{PermissionSet, RecordKind},
    text::Email,
    user::{Password, User},
};
use docent_ports::{
    page::{Page, PageRequest},
    store::UnitOfWork,
    users::UserFilter,
};
use std::collections::HashMap;

/// An account as staff want it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its address.
    pub email: Email,
    /// Whether it may be used.
    pub is_active: bool,
    /// Whether it may enter the panel.
    pub is_staff: bool,
    /// Whether it bypasses all permission checks.
    pub is_superuser: bool,
    /// What it is given.
    pub rights: AssignedPermissions,
}

/// An account and what it is allowed.
#[derive(Clone, Debug)]
pub struct Account {
    /// The account.
    pub user: User,
    /// What it was given.
    pub rights: AssignedPermissions,
    /// What it is allowed, by itself and by its groups.
    pub permissions: PermissionSet,
}

/// Accounts of a kind.
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

/// The addresses of those of these accounts that exist, for lists of what is theirs. Whoever sees a record sees
/// whose it is.
///
/// # Errors
/// When the database cannot be reached.
pub async fn emails(app: &App, ids: &[UserId]) -> Result<HashMap<UserId, Email>> {
    Ok(app.store.read().await?.users().emails(ids).await?)
}

/// The account with this address, for lists of what is its own: their readers see addresses anyway.
///
/// # Errors
/// When the database cannot be reached.
pub async fn find(app: &App, email: &Email) -> Result<Option<UserId>> {
    Ok(app.store.read().await?.users().by_email(email).await?.map(|user| user.id))
}

/// One account.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewUsers>, id: UserId) -> Result<Account> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    let rights = view.groups().assigned_permissions(id).await?;
    let permissions = view.groups().permissions(id).await?;
    Ok(Account { user, rights, permissions })
}

/// Creates an account.
///
/// # Errors
/// [`Error::EmailTaken`], [`Error::Invalid`] for what the actor may not hand out, or when the database cannot be
/// reached.
pub async fn create(
    app: &App,
    actor: &Actor,
    grant: Grant<AddUsers>,
    wanted: Wanted,
    password: Password,
) -> Result<User> {
    let flags = Flags { is_staff: wanted.is_staff, is_superuser: wanted.is_superuser };
    let drafted = app.registrar().draft(wanted.email.clone(), password, flags).await?;
    let user = User { is_active: wanted.is_active, ..drafted };
    let mut work = app.store.begin().await?;
    handed_out(&mut *work, actor, &AssignedPermissions::default(), false, &wanted).await?;
    let names = group_names(&mut *work, &[&wanted.rights]).await?;
    let told = |text: String| Some(text).filter(|text| !text.is_empty());
    let permissions = super::groups::permissions_text(wanted.rights.permissions);
    let given = Changes::default().field("groups", None, told(groups_text(&wanted.rights, &names))).field(
        "permissions",
        None,
        told(permissions),
    );
    app.registrar().insert(&mut *work, &By::holder(&grant), &user, given).await?;
    work.groups().set_assigned_permissions(user.id, &wanted.rights).await?;
    work.commit().await?;
    Ok(user)
}

/// Changes an account. A deactivation ends its sessions.
///
/// # Errors
/// [`Error::NotFound`], [`Error::EmailTaken`], [`Error::Forbidden`] for an account of a superuser,
/// [`Error::Invalid`] for what the actor may not hand out or take from themselves, or when the database cannot
/// be reached.
pub async fn change(
    app: &App,
    actor: &Actor,
    grant: Grant<ChangeUsers>,
    id: UserId,
    wanted: &Wanted,
) -> Result<User> {
    let mut work = app.store.begin().await?;
    let before = held(&mut *work, actor, id).await?;
    within_reach(actor, &before)?;
    let rights = work.groups().assigned_permissions(id).await?;
    handed_out(&mut *work, actor, &rights, before.is_superuser, wanted).await?;
    taken_away(&mut *work, actor, &rights, wanted).await?;
    if id == actor.user() {
        stays_in(&before, wanted)?;
    }
    if !actor.permissions().contains_all(work.groups().permissions(id).await?) {
        // Whoever reads an account's mail can have its password reset.
        for (field, is_changed) in [
            ("email", wanted.email != before.email),
            ("is_active", before.is_active && !wanted.is_active),
            ("is_staff", before.is_staff && !wanted.is_staff),
        ] {
            if is_changed {
                let message = "is that of an account that is allowed more than you are";
                return Err(ValidationError::new(field, message).into());
            }
        }
    }
    if let Some(other) = work.users().by_email(&wanted.email).await?
        && other.id != id
    {
        return Err(Error::EmailTaken);
    }
    let mut after = User {
        email: wanted.email.clone(),
        is_active: wanted.is_active,
        is_staff: wanted.is_staff,
        is_superuser: wanted.is_superuser,
        ..before.clone()
    };
    if after.email != before.email {
        after.email_verified_at = None;
    }
    if after.email != before.email || before.is_active && !after.is_active {
        // What was sent to the address before proves nothing of the new one, and opens nothing any more.
        work.verifications().remove_for_user(id, None).await?;
    }
    if before.is_active == after.is_active {
        work.users().update(&after).await?;
    } else {
        app.registrar().end_sessions(&mut *work, &mut after).await?;
    }
    if rights != wanted.rights {
        work.groups().set_assigned_permissions(id, &wanted.rights).await?;
    }
    let names = group_names(&mut *work, &[&rights, &wanted.rights]).await?;
    let changes = Changes::default()
        .changed("email", before.email.as_str(), after.email.as_str())
        .changed("is_active", before.is_active, after.is_active)
        .changed("is_staff", before.is_staff, after.is_staff)
        .changed("is_superuser", before.is_superuser, after.is_superuser)
        .changed("groups", groups_text(&rights, &names), groups_text(&wanted.rights, &names))
        .changed(
            "permissions",
            super::groups::permissions_text(rights.permissions),
            super::groups::permissions_text(wanted.rights.permissions),
        );
    if !changes.is_empty() {
        let by = By::holder(&grant);
        app.auditor().write(&mut *work, &by, AuditAction::Change, Subject::user(&after), changes).await?;
    }
    work.commit().await?;
    Ok(after)
}

/// Gives an account a new password, which ends its sessions.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`] for an account that is allowed more than the actor, or when the
/// database cannot be reached.
pub async fn set_password(
    app: &App,
    actor: &Actor,
    grant: Grant<ChangeUsers>,
    id: UserId,
    password: Password,
) -> Result<()> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    within_reach(actor, &user)?;
    if !actor.permissions().contains_all(view.groups().permissions(id).await?) {
        return Err(Forbidden.into());
    }
    drop(view);
    app.registrar().set_password(&By::holder(&grant), id, password).await?;
    Ok(())
}

/// Removes an account with its rights, keys, sessions and conversations. Its documents stay, without an owner.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`] for one's own account, those of superusers and those that are allowed
/// more than the actor, or when the database cannot be reached.
pub async fn delete(app: &App, actor: &Actor, grant: Grant<DeleteUsers>, id: UserId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let user = held(&mut *work, actor, id).await?;
    within_reach(actor, &user)?;
    let is_allowed_more = !actor.permissions().contains_all(work.groups().permissions(id).await?);
    if id == actor.user() || is_allowed_more {
        return Err(Forbidden.into());
    }
    work.users().delete(id).await?;
    let by = By::holder(&grant);
    app.auditor()
        .write(&mut *work, &by, AuditAction::Delete, Subject::user(&user), Changes::default())
        .await?;
    Ok(work.commit().await?)
}

/// The account, while nobody else changes it or the actor's own. Of two who take each other's rights at once, the
/// second finds that it has none any more.
async fn held(work: &mut dyn UnitOfWork, actor: &Actor, id: UserId) -> Result<User> {
    // In the order of their ids, or each of the two would wait for the other.
    let mut found = None;
    for one in [actor.user().min(id), actor.user().max(id)] {
        let user = work.users().get(one).await?;
        if one == actor.user() {
            let stands = |user: &User| user.is_active && (user.is_superuser || !actor.is_superuser());
            user.as_ref().filter(|user| stands(user)).ok_or(Forbidden)?;
        }
        if one == id {
            found = user;
        }
    }
    found.ok_or(Error::NotFound(RecordKind::User))
}

/// Superusers' accounts are for superusers.
fn within_reach(actor: &Actor, user: &User) -> Result<(), Forbidden> {
    if user.is_superuser && !actor.is_superuser() { Err(Forbidden) } else { Ok(()) }
}

/// Nobody hands out what they do not hold.
async fn handed_out(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    before: &AssignedPermissions,
    was_superuser: bool,
    wanted: &Wanted,
) -> Result<()> {
    for group in &wanted.rights.groups {
        if work.groups().get(*group).await?.is_none() {
            return Err(ValidationError::new("groups", "names a group that does not exist any more").into());
        }
    }
    if actor.is_superuser() {
        return Ok(());
    }
    if wanted.is_superuser && !was_superuser {
        return Err(ValidationError::new("is_superuser", "is for superusers to give").into());
    }
    let added = wanted.rights.permissions.without(before.permissions);
    if !actor.permissions().contains_all(added) {
        return Err(ValidationError::new("permissions", "hold some that you do not have yourself").into());
    }
    for group in wanted.rights.groups.difference(&before.groups) {
        let group = work.groups().get(*group).await?;
        if group.is_some_and(|group| !actor.permissions().contains_all(group.permissions)) {
            return Err(ValidationError::new("groups", "hold one that is allowed more than you are").into());
        }
    }
    Ok(())
}

/// Nobody takes away what they do not hold: it would make an account theirs that was out of their reach.
async fn taken_away(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    before: &AssignedPermissions,
    wanted: &Wanted,
) -> Result<()> {
    let removed = before.permissions.without(wanted.rights.permissions);
    if !actor.permissions().contains_all(removed) {
        return Err(ValidationError::new("permissions", "lack some that you do not have yourself").into());
    }
    for group in before.groups.difference(&wanted.rights.groups) {
        let group = work.groups().get(*group).await?;
        if group.is_some_and(|group| !actor.permissions().contains_all(group.permissions)) {
            return Err(ValidationError::new("groups", "lack one that is allowed more than you are").into());
        }
    }
    Ok(())
}

/// Nobody locks themselves out.
fn stays_in(before: &User, wanted: &Wanted) -> Result<(), ValidationError> {
    let keeps = |field, had: bool, has: bool| {
        if had && !has {
            Err(ValidationError::new(field, "cannot be taken from your own account"))
        } else {
            Ok(())
        }
    };
    keeps("is_active", before.is_active, wanted.is_active)?;
    keeps("is_superuser", before.is_superuser, wanted.is_superuser)?;
    keeps("is_staff", before.is_staff && !before.is_superuser, wanted.is_staff)
}

async fn group_names(
    work: &mut dyn UnitOfWork,
    rights: &[&AssignedPermissions],
) -> Result<HashMap<GroupId, Group>> {
    let mut groups = HashMap::new();
    for id in rights.iter().flat_map(|rights| &rights.groups) {
        if let Some(group) = work.groups().get(*id).await? {
            groups.insert(*id, group);
        }
    }
    Ok(groups)
}

fn groups_text(rights: &AssignedPermissions, groups: &HashMap<GroupId, Group>) -> String {
    let names = rights.groups.iter().filter_map(|id| groups.get(id)).map(|group| group.name.as_str());
    names.collect::<Vec<_>>().join(", ")
}
