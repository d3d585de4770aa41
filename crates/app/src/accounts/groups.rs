//! What staff do with groups.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{
    access::{Actor, AddGroups, ChangeGroups, DeleteGroups, Grant, ViewGroups},
    audit::AuditAction,
    error::{Forbidden, ValidationError},
    group::{Group, GroupName},
    id::GroupId,
    permission::{PermissionSet, RecordKind},
};
use docent_ports::page::{Page, PageRequest};

/// Groups by name, each with the number of its members.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ViewGroups>,
    text: Option<&str>,
    page: PageRequest,
) -> Result<Page<(Group, u64)>> {
    Ok(app.store.read().await?.groups().list(text, page).await?)
}

/// The names of all groups, for those who put accounts into them; at most 1,000.
///
/// # Errors
/// When the database cannot be reached.
pub async fn names(app: &App) -> Result<Vec<Group>> {
    let all = PageRequest { offset: 0, limit: 1000 };
    let listed = app.store.read().await?.groups().list(None, all).await?;
    Ok(listed.records.into_iter().map(|(group, _)| group).collect())
}

/// One group.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewGroups>, id: GroupId) -> Result<Group> {
    app.store.read().await?.groups().get(id).await?.ok_or(Error::NotFound(RecordKind::Group))
}

/// Creates a group.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::Invalid`] for permissions that the actor does not hold, or when the database
/// cannot be reached.
pub async fn create(
    app: &App,
    actor: &Actor,
    grant: Grant<AddGroups>,
    name: GroupName,
    permissions: PermissionSet,
) -> Result<Group> {
    holds(actor, permissions)?;
    let group = Group { id: app.new_id(GroupId::generate), name, permissions, created_at: app.clock.now() };
    let mut work = app.store.begin().await?;
    if !work.groups().insert(&group).await? {
        return Err(Error::NameTaken);
    }
    let changes = Changes::default()
        .added("name", group.name.as_str())
        .added("permissions", permissions_text(permissions));
    let by = By::holder(&grant);
    app.auditor().write(&mut *work, &by, AuditAction::Add, Subject::group(&group), changes).await?;
    work.commit().await?;
    Ok(group)
}

/// Changes a group's name and what it is allowed.
///
/// # Errors
/// [`Error::NotFound`], [`Error::NameTaken`], [`Error::Invalid`] for permissions that the actor would add or take
/// away and does not hold, or when the database cannot be reached.
pub async fn change(
    app: &App,
    actor: &Actor,
    grant: Grant<ChangeGroups>,
    id: GroupId,
    name: GroupName,
    permissions: PermissionSet,
) -> Result<Group> {
    let mut work = app.store.begin().await?;
    let before = work.groups().get(id).await?.ok_or(Error::NotFound(RecordKind::Group))?;
    holds(actor, permissions.without(before.permissions))?;
    if !actor.permissions().contains_all(before.permissions.without(permissions)) {
        return Err(ValidationError::new("permissions", "lack some that you do not have yourself").into());
    }
    if let Some(other) = work.groups().by_name(&name).await?
        && other.id != id
    {
        return Err(Error::NameTaken);
    }
    let after = Group { name, permissions, ..before.clone() };
    let changes = Changes::default().changed("name", before.name.as_str(), after.name.as_str()).changed(
        "permissions",
        permissions_text(before.permissions),
        permissions_text(after.permissions),
    );
    if !changes.is_empty() {
        work.groups().update(&after).await?;
        let by = By::holder(&grant);
        app.auditor().write(&mut *work, &by, AuditAction::Change, Subject::group(&after), changes).await?;
    }
    work.commit().await?;
    Ok(after)
}

/// Removes a group; its members lose what it was allowed.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`] for a group that is allowed more than the actor, or when the database
/// cannot be reached.
pub async fn delete(app: &App, actor: &Actor, grant: Grant<DeleteGroups>, id: GroupId) -> Result<Group> {
    let mut work = app.store.begin().await?;
    let group = work.groups().get(id).await?.ok_or(Error::NotFound(RecordKind::Group))?;
    if !actor.permissions().contains_all(group.permissions) {
        return Err(Forbidden.into());
    }
    work.groups().delete(id).await?;
    let changes = Changes::default().field("permissions", Some(permissions_text(group.permissions)), None);
    let by = By::holder(&grant);
    app.auditor().write(&mut *work, &by, AuditAction::Delete, Subject::group(&group), changes).await?;
    work.commit().await?;
    Ok(group)
}

/// Nobody hands out what they do not hold.
fn holds(actor: &Actor, added: PermissionSet) -> Result<(), ValidationError> {
    if actor.permissions().contains_all(added) {
        Ok(())
    } else {
        Err(ValidationError::new("permissions", "hold some that you do not have yourself"))
    }
}

/// The names of permissions with commas between them.
pub(super) fn permissions_text(permissions: PermissionSet) -> String {
    permissions.iter().map(|permission| permission.to_string()).collect::<Vec<_>>().join(", ")
}
