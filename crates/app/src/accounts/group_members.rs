//! Members of groups, as staff and the managers of a group manage them.
//!
//! A manager of a group is a member that adds and removes other members and invites people into the group. It needs no
//! permission: as a member it has all access of the group itself, so it gives nothing that it lacks. Only staff make and
//! remove managers.

use super::access;
use super::invitations::{self, Delivery, InvitationOutcome};
use super::notices::Notice;
use super::users;
use crate::audit::Initiator;
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, AddInvitations, ChangeUsers, ManageGroups, UseAdminPanel, ViewUsers};
use docent_domain::group::{AssignedPermissions, Group};
use docent_domain::id::{GroupId, UserId};
use docent_domain::listing::{Page, PageRequest, UserFilter};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_domain::user::User;
use docent_ports::store::{ReadView, UnitOfWork};

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The account.
    pub user: User,
    /// Whether it manages the group.
    pub is_manager: bool,
}

/// What an actor may do with the members of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberRights {
    /// Whether it may see them.
    pub can_view: bool,
    /// Whether it may add and remove them.
    pub can_change: bool,
    /// Whether it may make and remove managers.
    pub can_set_managers: bool,
}

/// The outcome of adding an address.
#[derive(Clone, Debug)]
pub enum MemberOutcome {
    /// The account is a member now.
    Added(User),
    /// It was a member already.
    IsMember(User),
    /// There is no account, and the actor may not invite people. Managers invite by email alone: with a link they could make
    /// the account of another person.
    NoAccount,
    /// Only staff can add the account: it is a superuser's, or has API keys of others, which end when it gains access.
    NeedsStaff(User),
    /// There is no account; the person was invited into the group.
    Invited(InvitationOutcome),
}

/// The groups of the actor's account by name, and whether it manages them.
///
/// # Errors
/// When the database cannot be reached.
pub async fn own(app: &App, actor: &Actor) -> Result<Vec<(Group, bool)>> {
    let mut view = app.store.read().await?;
    let assigned = view.groups().assigned_permissions(actor.user()).await?;
    let mut groups = Vec::new();
    for id in &assigned.groups {
        let group = view.groups().get(*id).await?;
        groups.extend(group.map(|group| (group, assigned.managed.contains(id))));
    }
    groups.sort_by_key(|(group, _)| group.name.key());
    Ok(groups)
}

/// A group with a page of its members by email address, and what the actor may do with them.
///
/// # Errors
/// [`Error::NotFound`] for a group whose members the actor may not see; or when the database cannot be reached.
pub async fn page(
    app: &App,
    actor: &Actor,
    id: GroupId,
    page: PageRequest,
) -> Result<(Group, MemberRights, Page<GroupMember>)> {
    let mut view = app.store.read().await?;
    let group = view.groups().get(id).await?.ok_or(Error::NotFound(RecordKind::Group))?;
    let rights = rights(&mut *view, actor, &group).await?;
    if !rights.can_view {
        return Err(Error::NotFound(RecordKind::Group));
    }
    let filter = UserFilter { group: Some(id), ..UserFilter::default() };
    let found = view.users().list(&filter, page).await?;
    let managers = view.groups().managers(id).await?;
    let member = |user: User| GroupMember { is_manager: managers.contains(&user.id), user };
    let records = found.records.into_iter().map(member).collect();
    Ok((group, rights, Page { records, total: found.total }))
}

async fn rights(view: &mut dyn ReadView, actor: &Actor, group: &Group) -> Result<MemberRights> {
    let access = access::of_groups(view, std::slice::from_ref(group)).await?.remove(0);
    let has_access = actor.can_manage(&scope::in_view(view, actor).await?, &access);
    let manages = actor.can::<ManageGroups>()
        && view.groups().assigned_permissions(actor.user()).await?.managed.contains(&group.id);
    Ok(MemberRights {
        can_view: manages || actor.can::<ViewUsers>(),
        can_change: manages || has_access && is_staff(actor),
        can_set_managers: has_access && is_staff(actor),
    })
}

/// Adds the accounts with these addresses to a group, and invites people who have none, if the actor may.
///
/// # Errors
/// [`Error::NotFound`] for an unknown group, [`Error::Forbidden`] for an actor that neither manages it nor may change
/// accounts; [`Error::ProofNeeded`]; [`Error::Invalid`] for a group with access that the actor does not have; or
/// when the database cannot be reached. Accounts that were added before stay members.
pub async fn add(
    app: &App,
    actor: &Actor,
    id: GroupId,
    emails: &[Email],
    delivery: Delivery,
) -> Result<Vec<(Email, MemberOutcome)>> {
    let (mut outcomes, mut unknown) = (Vec::with_capacity(emails.len()), Vec::new());
    let manages = ensure_may_add(app, actor, id).await?;
    for email in emails {
        match app.store.read().await?.users().by_email(email).await? {
            Some(user) => outcomes.push((email.clone(), add_account(app, actor, id, user).await?)),
            None => unknown.push(email.clone()),
        }
    }
    if unknown.is_empty() {
        return Ok(outcomes);
    }
    let may_email = manages && delivery == Delivery::Email && app.mailer.is_configured();
    if !may_email && !actor.can::<AddInvitations>() {
        outcomes.extend(unknown.into_iter().map(|email| (email, MemberOutcome::NoAccount)));
        return Ok(outcomes);
    }
    let invited = invitations::invite_into(app, actor, &unknown, id, delivery).await?;
    outcomes.extend(invited.into_iter().map(|(email, outcome)| (email, MemberOutcome::Invited(outcome))));
    Ok(outcomes)
}

/// Checks that the actor may add members to a group at all. Returns whether it manages the group.
async fn ensure_may_add(app: &App, actor: &Actor, id: GroupId) -> Result<bool> {
    let mut work = app.store.begin().await?;
    let groups = access::groups_in_work(&mut *work, &[id].into()).await?;
    if !groups.contains_key(&id) {
        return Err(Error::NotFound(RecordKind::Group));
    }
    authorize(&mut *work, actor, id).await?;
    let scope = scope::in_work(&mut *work, actor).await?;
    access::ensure_can_add_to(actor, &scope, &groups, [&id])?;
    Ok(work.groups().assigned_permissions(actor.user()).await?.managed.contains(&id))
}

async fn add_account(app: &App, actor: &Actor, id: GroupId, user: User) -> Result<MemberOutcome> {
    let mut work = app.store.begin().await?;
    // Accounts are locked before groups, as everywhere.
    users::lock_account(&mut *work, actor, user.id).await?;
    let initiator = authorize(&mut *work, actor, id).await?;
    if work.groups().assigned_permissions(user.id).await?.groups.contains(&id) {
        return Ok(MemberOutcome::IsMember(user));
    }
    let has_keys_of_others = !users::keys_of_others(app, &mut *work, actor, user.id).await?.is_empty();
    if !actor.can_edit(&user) || has_keys_of_others && !is_staff(actor) {
        return Ok(MemberOutcome::NeedsStaff(user));
    }
    let join = |assigned: &mut AssignedPermissions| {
        assigned.groups.insert(id);
    };
    let joined = users::set_groups(app, &mut *work, actor, &initiator, user.id, join).await?;
    let by = work.users().emails(&[actor.user()]).await?.remove(&actor.user());
    work.commit().await?;
    if let Some(groups) = joined {
        let by = by.as_ref().map_or("", |email| email.as_str());
        app.notify(&user.email, Notice::AddedToGroups { groups: &groups, by });
    }
    Ok(MemberOutcome::Added(user))
}

/// Whether the actor changes members by its permission, in the panel, and not as a manager.
fn is_staff(actor: &Actor) -> bool {
    actor.can::<ChangeUsers>() && actor.can::<UseAdminPanel>()
}

/// Removes a member from a group. Members can also leave it themselves.
///
/// # Errors
/// [`Error::MemberNotFound`]; [`Error::Forbidden`] also for another manager of the group, unless the actor is staff; and as [`add`].
pub async fn remove(app: &App, actor: &Actor, id: GroupId, user: UserId) -> Result<()> {
    let mut work = app.store.begin().await?;
    users::lock_account(&mut *work, actor, user).await.map_err(|error| match error {
        Error::NotFound(RecordKind::User) => Error::MemberNotFound,
        other => other,
    })?;
    let initiator = authorize(&mut *work, actor, id).await?;
    let assigned = work.groups().assigned_permissions(user).await?;
    if !assigned.groups.contains(&id) {
        return Err(Error::MemberNotFound);
    }
    if assigned.managed.contains(&id) && user != actor.user() && !is_staff(actor) {
        return Err(Error::Forbidden);
    }
    let leave = |assigned: &mut AssignedPermissions| {
        assigned.groups.remove(&id);
        assigned.managed.remove(&id);
    };
    users::set_groups(app, &mut *work, actor, &initiator, user, leave).await?;
    Ok(work.commit().await?)
}

/// Makes a member a manager of its group, or an ordinary member again.
///
/// # Errors
/// [`Error::MemberNotFound`]; [`Error::Forbidden`] without the permission to change accounts; and as [`add`].
pub async fn set_manager(
    app: &App,
    actor: &Actor,
    id: GroupId,
    user: UserId,
    is_manager: bool,
) -> Result<()> {
    let grant = actor.authorize::<ChangeUsers>()?;
    let mut work = app.store.begin().await?;
    if !work.groups().assigned_permissions(user).await?.groups.contains(&id) {
        return Err(Error::MemberNotFound);
    }
    let set = |assigned: &mut AssignedPermissions| {
        if is_manager {
            assigned.managed.insert(id);
        } else {
            assigned.managed.remove(&id);
        }
    };
    users::set_groups(app, &mut *work, actor, &Initiator::grantee(&grant), user, set).await?;
    Ok(work.commit().await?)
}

/// Checks that the actor may change the members of a group, by a permission or as its manager. Includes the proof. What staff may
/// add to the group is checked with the change.
async fn authorize(work: &mut dyn UnitOfWork, actor: &Actor, id: GroupId) -> Result<Initiator> {
    if is_staff(actor) {
        return Ok(Initiator::grantee(&actor.authorize::<ChangeUsers>()?));
    }
    if work.groups().assigned_permissions(actor.user()).await?.managed.contains(&id) {
        return Ok(Initiator::grantee(&actor.authorize::<ManageGroups>()?));
    }
    Err(Error::Forbidden)
}
