//! Members of collections.

use super::managed;
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::access::{Actor, ChangeCollections, ViewCollections};
use docent_domain::audit::AuditAction;
use docent_domain::collection::{COLLECTION_MEMBERS_MAX, CollectionKind, CollectionRole, Member, Membership};
use docent_domain::error::ValidationError;
use docent_domain::group::GroupName;
use docent_domain::id::CollectionId;
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_ports::store::UnitOfWork;

/// A member with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMember {
    /// The membership.
    pub membership: Membership,
    /// Email address of the account, or name of the group.
    pub name: String,
}

/// How a request names a member.
#[derive(Clone, Debug)]
pub enum MemberName {
    /// Email address of an account.
    User(Email),
    /// Name of a group.
    Group(GroupName),
}

/// The members of a collection, for its managers and for staff.
///
/// # Errors
/// [`Error::NotFound`] outside the actor's scope; [`Error::Forbidden`] without the role of a manager or the permission; or
/// when the database cannot be reached.
pub async fn list(app: &App, actor: &Actor, id: CollectionId) -> Result<Vec<NamedMember>> {
    let mut work = app.store.begin().await?;
    managed::<ViewCollections>(&mut *work, actor, id).await?;
    let members = work.collections().members(id).await?;
    let mut named = Vec::with_capacity(members.len());
    for membership in members {
        let name = name(&mut *work, membership.member).await?;
        named.push(NamedMember { membership, name });
    }
    Ok(named)
}

/// Gives an account or a group a role on a collection, instead of any that it has.
///
/// # Errors
/// [`Error::NotFound`] for an unknown account or group, and as [`list`]; [`Error::FixedCollection`] for a personal one; or
/// when the database cannot be reached.
pub async fn set(
    app: &App,
    actor: &Actor,
    id: CollectionId,
    member: &MemberName,
    role: CollectionRole,
) -> Result<NamedMember> {
    let mut work = app.store.begin().await?;
    let (collection, initiator) = managed::<ChangeCollections>(&mut *work, actor, id).await?;
    if collection.kind == CollectionKind::Personal {
        return Err(Error::FixedCollection("a personal collection cannot be shared; create another one"));
    }
    let (member, name) = match member {
        MemberName::User(email) => {
            let user = work.users().by_email(email).await?.ok_or(Error::NotFound(RecordKind::User))?;
            (Member::User(user.id), user.email.as_str().to_owned())
        }
        MemberName::Group(name) => {
            let group = work.groups().by_name(name).await?.ok_or(Error::NotFound(RecordKind::Group))?;
            (Member::Group(group.id), group.name.as_str().to_owned())
        }
    };
    let members = work.collections().members(id).await?;
    let before = members.iter().find(|of| of.member == member).map(|of| of.role);
    if before.is_none() && members.len() >= COLLECTION_MEMBERS_MAX {
        let reason = format!("must be at most {COLLECTION_MEMBERS_MAX}; use a group");
        return Err(ValidationError::new("members", reason).into());
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
    Ok(NamedMember { membership: Membership { member, role }, name })
}

/// Removes a member's role on a collection. Members can also remove themselves.
///
/// # Errors
/// [`Error::NotFound`] if it is no member, and as [`list`].
pub async fn remove(app: &App, actor: &Actor, id: CollectionId, member: Member) -> Result<()> {
    let mut work = app.store.begin().await?;
    let (collection, initiator) = match managed::<ChangeCollections>(&mut *work, actor, id).await {
        Err(Error::Forbidden) if member == Member::User(actor.user()) => {
            let collection = work.collections().get(id).await?.ok_or_else(super::not_found)?;
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
