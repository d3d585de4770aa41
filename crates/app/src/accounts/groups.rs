//! Groups of accounts, as staff manage them.

use super::access;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, AddGroups, ChangeGroups, DeleteGroups, Grant, ViewGroups};
use docent_domain::audit::AuditAction;
use docent_domain::delegation::Access;
use docent_domain::group::{Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::{PermissionSet, RecordKind};

/// A page of groups by name, each with its number of members.
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

/// The groups, at most 1,000, to filter accounts by.
///
/// # Errors
/// When the database cannot be reached.
pub async fn all(app: &App) -> Result<Vec<Group>> {
    let page = PageRequest { offset: 0, limit: 1000 };
    let groups = app.store.read().await?.groups().list(None, page).await?.records;
    Ok(groups.into_iter().map(|(group, _)| group).collect())
}

/// All groups, at most 1,000, as the choices for an account, each with the access that it gives.
///
/// # Errors
/// When the database cannot be reached.
pub async fn choices(app: &App) -> Result<Vec<(Group, Access)>> {
    let groups = all(app).await?;
    let accesses = access::of_groups(&mut *app.store.read().await?, &groups).await?;
    Ok(groups.into_iter().zip(accesses).collect())
}

/// The group with this ID, and the access that it gives.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ViewGroups>, id: GroupId) -> Result<(Group, Access)> {
    let mut view = app.store.read().await?;
    let group = view.groups().get(id).await?.ok_or(Error::NotFound(RecordKind::Group))?;
    let access = access::of_groups(&mut *view, std::slice::from_ref(&group)).await?;
    Ok((group, access.into_iter().next().unwrap_or_default()))
}

/// Creates a group.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::Invalid`] for permissions that the actor does not have, or when the database
/// cannot be reached.
pub async fn create(
    app: &App,
    actor: &Actor,
    grant: Grant<AddGroups>,
    name: GroupName,
    permissions: PermissionSet,
) -> Result<Group> {
    actor.ensure_can_assign(PermissionSet::EMPTY, permissions)?;
    let group = Group { id: app.new_id(GroupId::generate), name, permissions, created_at: app.now() };
    let mut work = app.store.begin().await?;
    if !work.groups().insert(&group).await? {
        return Err(Error::NameTaken);
    }
    let changes = Changes::default()
        .added("name", group.name.as_str())
        .added("permissions", permission_names(permissions));
    let initiator = Initiator::grantee(&grant);
    app.audit(&mut *work, &initiator, AuditAction::Add, AuditTarget::group(&group), changes).await?;
    work.commit().await?;
    Ok(group)
}

/// Changes a group's name and permissions.
///
/// # Errors
/// [`Error::NotFound`], [`Error::NameTaken`], [`Error::Invalid`] for granted or revoked permissions that the actor
/// does not have, [`Error::MissingAccess`] for another name of a group with access that the actor does not have, or when the
/// database cannot be reached.
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
    actor.ensure_can_assign(before.permissions, permissions)?;
    if name != before.name {
        // Collections are shared with groups by name, so a new name must not hide which access a group has.
        let groups = access::groups_in_work(&mut *work, &[id].into()).await?;
        let scope = scope::in_work(&mut *work, actor).await?;
        for (_, access) in groups.values() {
            actor.ensure_can_manage(&scope, access)?;
        }
    }
    if let Some(other) = work.groups().by_name(&name).await?
        && other.id != id
    {
        return Err(Error::NameTaken);
    }
    let after = Group { name, permissions, ..before.clone() };
    let changes = Changes::default().changed("name", before.name.as_str(), after.name.as_str()).changed(
        "permissions",
        permission_names(before.permissions),
        permission_names(after.permissions),
    );
    if !changes.is_empty() {
        work.groups().update(&after).await?;
        let initiator = Initiator::grantee(&grant);
        app.audit(&mut *work, &initiator, AuditAction::Change, AuditTarget::group(&after), changes).await?;
    }
    work.commit().await?;
    Ok(after)
}

/// Deletes a group. Its members lose its permissions and its roles on collections.
///
/// # Errors
/// [`Error::NotFound`], [`Error::MissingAccess`] for a group with access that the actor does not have, or
/// when the database cannot be reached.
pub async fn delete(app: &App, actor: &Actor, grant: Grant<DeleteGroups>, id: GroupId) -> Result<Group> {
    let mut work = app.store.begin().await?;
    let groups = access::groups_in_work(&mut *work, &[id].into()).await?;
    let (group, access) = groups.into_values().next().ok_or(Error::NotFound(RecordKind::Group))?;
    actor.ensure_can_manage(&scope::in_work(&mut *work, actor).await?, &access)?;
    work.groups().delete(id).await?;
    let changes = Changes::default().field("permissions", Some(permission_names(group.permissions)), None);
    let initiator = Initiator::grantee(&grant);
    app.audit(&mut *work, &initiator, AuditAction::Delete, AuditTarget::group(&group), changes).await?;
    work.commit().await?;
    Ok(group)
}

/// The names of the permissions, separated by commas.
pub(super) fn permission_names(permissions: PermissionSet) -> String {
    permissions.iter().map(|permission| permission.to_string()).collect::<Vec<_>>().join(", ")
}
