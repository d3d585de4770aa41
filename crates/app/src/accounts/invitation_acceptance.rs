//! Acceptance of invitations, by their links and by sign-ins at identity providers.

use super::create::Flags;
use super::invitations::{add_names, ensure_can_give, existing, target};
use super::verification::digest;
use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::access::{Actor, AddInvitations, ManageGroups, UseAdminPanel};
use docent_domain::audit::AuditAction;
use docent_domain::collection::Member;
use docent_domain::fault::Fault;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::UserId;
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::text::{Email, PersonName};
use docent_domain::user::{Password, User};
use docent_ports::store::UnitOfWork;
use std::net::IpAddr;

/// What an invited person sees before it accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInvitation {
    /// Its email address.
    pub email: Email,
    /// Email address of the inviting account.
    pub invited_by: Option<Email>,
    /// Whether the account can have a password; otherwise it signs in at an identity provider.
    pub can_have_password: bool,
}

/// The invitation of a link, for its page.
///
/// # Errors
/// [`Error::InvalidLink`], or when the database cannot be reached.
pub async fn open(app: &App, token: &str) -> Result<OpenInvitation> {
    let mut view = app.store.read().await?;
    let invitation = view.invitations().by_sha256(&digest(token)).await?;
    let invitation = invitation.filter(|it| it.is_valid(app.now())).ok_or(Error::InvalidLink)?;
    let inviter: Vec<_> = invitation.invited_by.into_iter().collect();
    Ok(OpenInvitation {
        invited_by: view.users().emails(&inviter).await?.into_values().next(),
        can_have_password: app.settings.password_login.allows(&invitation.email),
        email: invitation.email,
    })
}

/// Accepts an invitation by its link: creates the account with this password, and the name that others see, if any.
///
/// # Errors
/// [`Error::InvalidLink`], also when the address has an account in the meantime, or the inviter can no longer give the
/// access; [`Error::Invalid`] for the password; [`Error::Forbidden`] when the account could not sign in with a password; or when the database cannot be
/// reached.
pub async fn accept(
    app: &App,
    token: &str,
    name: Option<PersonName>,
    password: Password,
    address: IpAddr,
) -> Result<User> {
    // Hashing is expensive, so the link is checked first.
    let open = open(app, token).await?;
    if !open.can_have_password {
        return Err(Error::Forbidden);
    }
    let user = app.account_service().new_user(open.email, password, Flags::default()).await?;
    let mut work = app.store.begin().await?;
    let invitation = work.invitations().by_sha256(&digest(token)).await?;
    let acceptable = acceptable(app, &mut *work, invitation).await?.ok_or(Error::InvalidLink)?;
    let verified_at = acceptable.invitation.is_emailed.then_some(user.created_at);
    let user = User { email_verified_at: verified_at, name, ..user };
    match acceptable.add_account(app, &mut *work, &user, address, Changes::default()).await {
        Err(Error::EmailTaken) => return Err(Error::InvalidLink),
        added => added?,
    }
    work.commit().await?;
    Ok(user)
}

/// An invitation that can be accepted now.
pub(super) struct Acceptable {
    invitation: Invitation,
    /// What it gives, without deleted groups and collections.
    access: InvitedAccess,
}

/// The invitation, if it has not expired and its inviter can still give the access.
pub(super) async fn acceptable(
    app: &App,
    work: &mut dyn UnitOfWork,
    invitation: Option<Invitation>,
) -> Result<Option<Acceptable>> {
    let Some(invitation) = invitation.filter(|it| it.is_valid(app.now())) else { return Ok(None) };
    let access = existing(work, &invitation.access).await?;
    let Some(by) = invitation.invited_by else { return Ok(Some(Acceptable { invitation, access })) };
    let allowed = match inviter(work, by, &access).await? {
        Some(actor) => match ensure_can_give(work, &actor, &access).await {
            Err(Error::Fault(fault)) => return Err(fault.into()),
            checked => checked.map_err(|error| error.to_string()),
        },
        None => Err("the inviter may no longer invite".to_owned()),
    };
    if let Err(reason) = allowed {
        tracing::warn!(invitation = %invitation.id, reason, "an invitation can no longer be accepted: its inviter lacks access");
        return Ok(None);
    }
    Ok(Some(Acceptable { invitation, access }))
}

/// The inviting account with its access as of now, if it may still invite: in the panel, or into groups that it manages.
async fn inviter(
    work: &mut dyn UnitOfWork,
    id: UserId,
    access: &InvitedAccess,
) -> Result<Option<Actor>, Fault> {
    let Some(actor) = work.users().get(id).await?.as_ref().and_then(Actor::of) else { return Ok(None) };
    let actor = actor.with_permissions(work.groups().permissions(id).await?);
    let managed = work.groups().assigned_permissions(id).await?.managed;
    let manages_all = access.collections.is_empty() && access.groups.is_subset(&managed);
    let is_staff = actor.can::<UseAdminPanel>() && actor.can::<AddInvitations>();
    let is_manager = actor.can::<ManageGroups>() && manages_all && !access.groups.is_empty();
    Ok(Some(actor).filter(|_| is_staff || is_manager))
}

impl Acceptable {
    /// Adds the account of the invited person, with the access. The invitation is used up.
    pub(super) async fn add_account(
        self,
        app: &App,
        work: &mut dyn UnitOfWork,
        user: &User,
        address: IpAddr,
        changes: Changes,
    ) -> Result<()> {
        let Self { invitation, access } = self;
        if !work.invitations().remove(invitation.id).await? {
            return Err(Error::InvalidLink);
        }
        let service = app.account_service();
        let changes = add_names(work, &access, changes).await?;
        let by: Vec<_> = invitation.invited_by.into_iter().collect();
        let by = work.users().emails(&by).await?.into_values().next();
        let changes = changes.field("invited_by", None, by.map(|email| email.as_str().to_owned()));
        service.insert(work, &Initiator::unauthenticated(address), user, changes).await?;
        let assigned = AssignedPermissions { groups: access.groups, ..AssignedPermissions::default() };
        work.groups().set_assigned_permissions(user.id, &assigned).await?;
        let initiator = Initiator::account(user.id, Some(address));
        for (id, role) in access.collections {
            work.collections().set_member(id, Member::User(user.id), Some(role)).await?;
            if let Some(collection) = work.collections().get(id).await? {
                let member = format!("member {}", user.email.as_str());
                let changes = Changes::default().added(&member, role.to_string());
                let target = AuditTarget::collection(&collection);
                service.audit(work, &initiator, AuditAction::Change, target, changes).await?;
            }
        }
        service.audit(work, &initiator, AuditAction::Accept, target(&invitation), Changes::default()).await?;
        Ok(())
    }
}
