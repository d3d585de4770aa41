//! The access of accounts and groups, as [`docent_domain::delegation`] weighs it.

use crate::error::Result;
use crate::scope;
use docent_domain::access::Actor;
use docent_domain::delegation::Access;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::fault::Fault;
use docent_domain::group::Group;
use docent_domain::id::GroupId;
use docent_domain::scope::Scope;
use docent_domain::user::User;
use docent_ports::store::{ReadView, UnitOfWork};
use std::collections::{BTreeSet, HashMap};

/// Groups with the access that each gives to its members.
pub(super) type GroupsWithAccess = HashMap<GroupId, (Group, Access)>;

/// The access of an account as of a view.
pub(super) async fn of_account(view: &mut dyn ReadView, user: &User) -> Result<Access, Fault> {
    let permissions = view.groups().permissions(user.id).await?;
    Ok(Access::of_account(user, permissions, view.collections().roles(user.id).await?.own))
}

/// The access of an account as of a unit of work.
pub(super) async fn of_account_in_work(work: &mut dyn UnitOfWork, user: &User) -> Result<Access, Fault> {
    let permissions = work.groups().permissions(user.id).await?;
    Ok(Access::of_account(user, permissions, work.collections().roles(user.id).await?.own))
}

/// The access of each of these groups as of a view, in their order.
pub(super) async fn of_groups(view: &mut dyn ReadView, groups: &[Group]) -> Result<Vec<Access>, Fault> {
    let ids: Vec<GroupId> = groups.iter().map(|group| group.id).collect();
    let mut roles = view.collections().roles_of_groups(&ids).await?;
    let access =
        |group: &Group| Access::of_group(group.permissions, roles.remove(&group.id).unwrap_or_default());
    Ok(groups.iter().map(access).collect())
}

/// The groups that exist among these, with their access, as of a unit of work.
pub(super) async fn groups_in_work(
    work: &mut dyn UnitOfWork,
    ids: &BTreeSet<GroupId>,
) -> Result<GroupsWithAccess, Fault> {
    let asked: Vec<GroupId> = ids.iter().copied().collect();
    let mut roles = work.collections().roles_of_groups(&asked).await?;
    let mut groups = HashMap::new();
    for id in asked {
        if let Some(group) = work.groups().get(id).await? {
            let access = Access::of_group(group.permissions, roles.remove(&id).unwrap_or_default());
            groups.insert(id, (group, access));
        }
    }
    Ok(groups)
}

/// Checks that the actor can take over an account: that it has the access of the account and of its data.
///
/// # Errors
/// [`Error::MissingAccess`](crate::error::Error::MissingAccess), or when the database cannot be reached.
pub(super) async fn ensure_can_take_over(view: &mut dyn ReadView, actor: &Actor, user: &User) -> Result<()> {
    let access = of_account(view, user).await?.with_data();
    Ok(actor.ensure_can_manage(&scope::in_view(view, actor).await?, &access)?)
}

/// Checks that the actor has the access of an account, as of a unit of work.
///
/// # Errors
/// [`Error::MissingAccess`](crate::error::Error::MissingAccess), or when the database cannot be reached.
pub(super) async fn ensure_can_manage(work: &mut dyn UnitOfWork, actor: &Actor, user: &User) -> Result<()> {
    let access = of_account_in_work(work, user).await?;
    Ok(actor.ensure_can_manage(&scope::in_work(work, actor).await?, &access)?)
}

/// Checks that the actor can add members to these groups, or remove members from them; `groups` has those that exist.
///
/// # Errors
/// [`ValidationError`] for the field `groups`, for an unknown one too.
pub(super) fn ensure_can_add_to<'i>(
    actor: &Actor,
    scope: &Scope,
    groups: &GroupsWithAccess,
    ids: impl IntoIterator<Item = &'i GroupId>,
) -> Result<(), ValidationError> {
    for id in ids {
        let (_, access) = groups.get(id).ok_or_else(|| ValidationError::of("groups", Rule::UnknownGroup))?;
        let refused = |missing| ValidationError::of("groups", Rule::GroupAccess(missing));
        actor.ensure_can_manage(scope, access).map_err(refused)?;
    }
    Ok(())
}
