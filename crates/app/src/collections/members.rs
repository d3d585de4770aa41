//! Members of collections.

use super::{ensure_can_share, ensure_manages, managed, not_found};
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, ChangeCollections, ViewCollections, ViewGroups};
use docent_domain::audit::AuditAction;
use docent_domain::collection::{COLLECTION_MEMBERS_MAX, CollectionRole, Member, Membership};
use docent_domain::error::{Rule, ValidationError};
use docent_domain::group::GroupName;
use docent_domain::id::{CollectionId, GroupId, UserId};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_domain::user::Person;
use docent_ports::store::UnitOfWork;

/// A member with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMember {
    /// The membership.
    pub membership: Membership,
    /// Email address of the account, or name of the group.
    pub name: String,
    /// Name that the person chose, if any.
    pub display_name: Option<String>,
}

/// How a request names a member.
#[derive(Clone, Debug)]
pub enum MemberName {
    /// Email address of an account.
    User(Email),
    /// Name of a group.
    Group(GroupName),
}

/// The members of a collection, for its managers and for staff: accounts, then groups, each in the order of their IDs.
///
/// # Errors
/// [`Error::NotFound`] outside the actor's scope; [`Error::Forbidden`] without the role of a manager or the permission; or
/// when the database cannot be reached.
pub async fn list(app: &App, actor: &Actor, id: CollectionId) -> Result<Vec<NamedMember>> {
    let mut view = app.store.read().await?;
    let role = scope::in_view(&mut *view, actor).await?.role_in(id);
    ensure_manages::<ViewCollections>(actor, id, role)?;
    view.collections().get(id).await?.ok_or_else(not_found)?;
    let members = view.collections().members(id).await?;
    let users: Vec<_> = members.iter().filter_map(|of| user(of.member)).collect();
    let groups: Vec<_> = members.iter().filter_map(|of| group(of.member)).collect();
    let (people, names) = (view.users().people(&users).await?, view.groups().names(&groups).await?);
    let named = |membership: Membership| {
        let person = user(membership.member).and_then(|user| people.get(&user));
        let name = match membership.member {
            Member::User(_) => person.map(|person| person.email.as_str().to_owned()),
            Member::Group(group) => names.get(&group).cloned(),
        };
        let display_name = person.and_then(Person::name).map(str::to_owned);
        NamedMember { name: name.unwrap_or_default(), display_name, membership }
    };
    Ok(members.into_iter().map(named).collect())
}

const fn user(member: Member) -> Option<UserId> {
    match member {
        Member::User(user) => Some(user),
        Member::Group(_) => None,
    }
}

const fn group(member: Member) -> Option<GroupId> {
    match member {
        Member::User(_) => None,
        Member::Group(group) => Some(group),
    }
}

/// A page of the members: accounts, then groups, each by name.
///
/// # Errors
/// As [`list`].
pub async fn page(
    app: &App,
    actor: &Actor,
    id: CollectionId,
    page: PageRequest,
) -> Result<Page<NamedMember>> {
    let mut members = list(app, actor, id).await?;
    let total = members.len() as u64;
    let is_group = |of: &NamedMember| group(of.membership.member).is_some();
    members.sort_by(|a, b| (is_group(a), &a.name).cmp(&(is_group(b), &b.name)));
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let records = members.into_iter().skip(number(page.offset)).take(number(page.limit)).collect();
    Ok(Page { records, total })
}

/// Gives an account or a group a role on a collection, instead of any that it has.
///
/// # Errors
/// [`Error::NotFound`] for an unknown account or group and for a group that the actor cannot name, and as
/// [`list`]; [`Error::ProofNeeded`]; [`Error::FixedCollection`] for a personal one; or when the database cannot be
/// reached.
pub async fn set(
    app: &App,
    actor: &Actor,
    id: CollectionId,
    member: &MemberName,
    role: CollectionRole,
) -> Result<NamedMember> {
    let mut work = app.store.begin().await?;
    let (collection, initiator) = ensure_can_share(&mut *work, actor, id).await?;
    let members = work.collections().members(id).await?;
    let (member, name, display_name) = match member {
        MemberName::User(email) => {
            let user = work.users().by_email(email).await?.ok_or(Error::NotFound(RecordKind::User))?;
            if collection.owner == Some(user.id) && role != CollectionRole::Manager {
                return Err(ValidationError::of("role", Rule::OwnerManages).into());
            }
            (Member::User(user.id), user.email.as_str().to_owned(), user.name)
        }
        MemberName::Group(name) => {
            let group = work.groups().by_name(name).await?;
            let group = match group {
                Some(group) if can_name(&mut *work, actor, group.id, &members).await? => group,
                Some(_) | None => return Err(Error::NotFound(RecordKind::Group)),
            };
            (Member::Group(group.id), group.name.as_str().to_owned(), None)
        }
    };
    let before = members.iter().find(|of| of.member == member).map(|of| of.role);
    if before.is_none() && members.len() >= COLLECTION_MEMBERS_MAX {
        return Err(ValidationError::of("members", Rule::MaxMembers(COLLECTION_MEMBERS_MAX)).into());
    }
    work.collections().set_member(id, member, Some(role)).await?;
    let changes = Changes::default().field(
        &format!("member {name}"),
        before.map(|role| role.to_string()),
        Some(role.to_string()),
    );
    if !changes.is_empty() {
        let target = AuditTarget::collection(&collection);
        app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    }
    work.commit().await?;
    let display_name = display_name.map(|name| name.as_str().to_owned());
    Ok(NamedMember { membership: Membership { member, role }, name, display_name })
}

/// Whether the actor can name a group: one that it may view, that it is in, or that is a member already and
/// listed with its name. For any other group the answer is that of an unknown one, so that names cannot be
/// tested.
async fn can_name(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    group: GroupId,
    members: &[Membership],
) -> Result<bool> {
    let is_member = members.iter().any(|of| of.member == Member::Group(group));
    Ok(is_member
        || actor.authorize::<ViewGroups>().is_ok()
        || work.groups().assigned_permissions(actor.user()).await?.groups.contains(&group))
}

/// Removes a member's role on a collection. Members can also remove themselves.
///
/// # Errors
/// [`Error::NotFound`] if it is no member, and as [`list`].
pub async fn remove(app: &App, actor: &Actor, id: CollectionId, member: Member) -> Result<()> {
    let mut work = app.store.begin().await?;
    let (collection, initiator) = match managed::<ChangeCollections>(&mut *work, actor, id).await {
        Err(Error::Forbidden) if member == Member::User(actor.user()) => {
            let collection = work.collections().get(id).await?.ok_or_else(not_found)?;
            (collection, Initiator::actor(actor))
        }
        managed => managed?,
    };
    let members = work.collections().members(id).await?;
    let before = members.iter().find(|of| of.member == member).map(|of| of.role);
    let before = before.ok_or(Error::MemberNotFound)?;
    let name = name(&mut *work, member).await?;
    work.collections().set_member(id, member, None).await?;
    let changes = Changes::default().field(&format!("member {name}"), Some(before.to_string()), None);
    let target = AuditTarget::collection(&collection);
    app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    Ok(work.commit().await?)
}

async fn name(work: &mut dyn UnitOfWork, member: Member) -> Result<String> {
    Ok(match member {
        Member::User(user) => work.users().get(user).await?.map(|user| user.email.as_str().to_owned()),
        Member::Group(group) => work.groups().get(group).await?.map(|group| group.name.as_str().to_owned()),
    }
    .unwrap_or_default())
}
