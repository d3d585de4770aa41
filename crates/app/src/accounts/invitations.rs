//! Invitations: people create their accounts by a link, or by signing in at an identity provider
//! ([`invitation_acceptance`](super::invitation_acceptance)).
//!
//! An account and its groups and roles exist only once the invitation is accepted. The inviter needs the access that it
//! gives twice: when it invites, and when the invitation is accepted. In between it may have lost access or the right to
//! invite, and the groups may have gained some; such an invitation cannot be accepted at all, until staff with the access
//! send it again in their own name.

use super::verification::{TOKEN_LENGTH, digest};
use super::{AccountService, access, random_text};
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, collections, scope};
use docent_domain::access::{
    Actor, AddInvitations, DeleteInvitations, Grant, ViewCollections, ViewInvitations, ViewUsers,
};
use docent_domain::audit::AuditAction;
use docent_domain::collection::{COLLECTION_MEMBERS_MAX, CollectionRole};
use docent_domain::error::{Rule, ValidationError};
use docent_domain::fault::Fault;
use docent_domain::id::{CollectionId, GroupId, InvitationId, UserId};
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::listing::{Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_ports::mailer::Mail;
use docent_ports::store::UnitOfWork;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// How long an invitation can be accepted.
pub const LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How a link reaches the invited person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// By email. The inviter does not see the link, so that using it verifies the address.
    Email,
    /// By the inviter, who sees the link once.
    Link,
}

/// A new link. It cannot be retrieved later.
#[derive(Clone)]
pub struct NewInvitation {
    /// The stored record.
    pub record: Invitation,
    /// The URL.
    pub link: String,
}

impl fmt::Debug for NewInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewInvitation({:?})", self.record)
    }
}

/// What an invitation of an address has led to.
#[derive(Clone, Debug)]
pub enum InvitationOutcome {
    /// It was created; its email, if it has one, is being sent.
    Invited(NewInvitation),
    /// The address has an account, which was not changed.
    HasAccount(UserId),
    /// The address has an invitation, which was not changed.
    IsInvited,
}

/// An invitation with what staff may know about it.
#[derive(Clone, Debug)]
pub struct ListedInvitation {
    /// The invitation.
    pub invitation: Invitation,
    /// Email address of the inviting account.
    pub invited_by: Option<Email>,
    /// Names of its groups.
    pub groups: Vec<String>,
    /// Names of its collections that the actor may see.
    pub collections: Vec<String>,
}

/// Invites people. Nothing happens to addresses that have an account or an invitation. Only actors that may view accounts
/// learn that there is an account: for others the address is invited with a link that cannot be used.
///
/// # Errors
/// [`Error::Invalid`] for an access that the actor cannot give, for an unknown group, and for emails without a mail server;
/// [`Error::NotFound`], [`Error::Forbidden`] and [`Error::FixedCollection`] for a collection that the actor cannot give
/// roles on; or when the database cannot be reached.
pub async fn invite(
    app: &App,
    actor: &Actor,
    grant: &Grant<AddInvitations>,
    emails: &[Email],
    access: &InvitedAccess,
    delivery: Delivery,
) -> Result<Vec<(Email, InvitationOutcome)>> {
    create(app, actor, &Initiator::grantee(grant), emails, access, delivery, false).await
}

/// Invites people into a group that the actor manages or gives access to. An invitation that the actor has made before is
/// sent again, with the group in addition.
///
/// # Errors
/// As [`invite`].
pub(super) async fn invite_into(
    app: &App,
    actor: &Actor,
    emails: &[Email],
    group: GroupId,
    delivery: Delivery,
) -> Result<Vec<(Email, InvitationOutcome)>> {
    let access = InvitedAccess { groups: [group].into(), ..InvitedAccess::default() };
    create(app, actor, &Initiator::actor(actor), emails, &access, delivery, true).await
}

async fn create(
    app: &App,
    actor: &Actor,
    initiator: &Initiator,
    emails: &[Email],
    access: &InvitedAccess,
    delivery: Delivery,
    extends_own: bool,
) -> Result<Vec<(Email, InvitationOutcome)>> {
    ensure_can_deliver(app, delivery)?;
    let service = app.account_service();
    let mut work = app.store.begin().await?;
    ensure_can_give(&mut *work, actor, access).await?;
    let (mut outcomes, mut mails) = (Vec::with_capacity(emails.len()), Vec::new());
    // In order, so that concurrent lists wait for each other.
    let emails: BTreeSet<&Email> = emails.iter().collect();
    for email in emails {
        let account = work.users().by_email(email).await?;
        if let Some(user) = account.as_ref().filter(|_| actor.can::<ViewUsers>()) {
            outcomes.push((email.clone(), InvitationOutcome::HasAccount(user.id)));
            continue;
        }
        let mut access = access.clone();
        let earlier = work.invitations().by_email(email).await?;
        if let Some(earlier) = earlier.filter(|earlier| earlier.is_valid(app.now())) {
            if !extends_own || earlier.invited_by != Some(actor.user()) {
                outcomes.push((email.clone(), InvitationOutcome::IsInvited));
                continue;
            }
            access.groups.extend(earlier.access.groups);
            access.collections.extend(earlier.access.collections);
        }
        let terms = Terms {
            access: &access,
            invited_by: Some(actor.user()),
            is_emailed: delivery == Delivery::Email,
        };
        let put = service.put_invitation(&mut *work, initiator, email, &terms).await?;
        // Another process can invite the address at the same time.
        let Some((record, token)) = put else {
            outcomes.push((email.clone(), InvitationOutcome::IsInvited));
            continue;
        };
        let new = NewInvitation { record, link: link(&app.settings.public_url, &token) };
        if delivery == Delivery::Email && account.is_none() {
            mails.push(new.clone());
        }
        outcomes.push((email.clone(), InvitationOutcome::Invited(new)));
    }
    let by = work.users().emails(&[actor.user()]).await?.remove(&actor.user());
    work.commit().await?;
    let mails = mails.iter().map(|new| mail(&app.settings.public_url, new, by.as_ref())).collect();
    app.send_list_in_background(mails);
    Ok(outcomes)
}

/// Sends an invitation again, in the name of the actor: earlier links no longer work.
///
/// # Errors
/// [`Error::NotFound`] when it was accepted or revoked, and those of [`invite`].
pub async fn resend(
    app: &App,
    actor: &Actor,
    grant: &Grant<AddInvitations>,
    id: InvitationId,
    delivery: Delivery,
) -> Result<NewInvitation> {
    ensure_can_deliver(app, delivery)?;
    let mut work = app.store.begin().await?;
    let before = work.invitations().get(id).await?.ok_or(Error::NotFound(RecordKind::Invitation))?;
    let access = existing(&mut *work, &before.access).await?;
    ensure_can_give(&mut *work, actor, &access).await?;
    let (now, token) = (app.now(), random_text(&*app.entropy, TOKEN_LENGTH));
    let after = Invitation {
        access,
        invited_by: Some(actor.user()),
        is_emailed: delivery == Delivery::Email,
        sha256: digest(&token),
        created_at: now,
        expires_at: now + LIFETIME,
        ..before.clone()
    };
    work.invitations().update(&after).await?;
    let changes = Changes::default().changed("is_emailed", before.is_emailed, after.is_emailed).changed(
        "expires_at",
        before.expires_at,
        after.expires_at,
    );
    app.audit(&mut *work, &Initiator::grantee(grant), AuditAction::Change, target(&after), changes).await?;
    let by = work.users().emails(&[actor.user()]).await?.remove(&actor.user());
    let has_account = work.users().by_email(&after.email).await?.is_some();
    work.commit().await?;
    let new = NewInvitation { record: after, link: link(&app.settings.public_url, &token) };
    if delivery == Delivery::Email && !has_account {
        app.send_in_background(mail(&app.settings.public_url, &new, by.as_ref()));
    }
    Ok(new)
}

/// Revokes an invitation.
///
/// # Errors
/// [`Error::NotFound`] when it was accepted or revoked, or when the database cannot be reached.
pub async fn revoke(app: &App, grant: &Grant<DeleteInvitations>, id: InvitationId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let invitation = work.invitations().get(id).await?.ok_or(Error::NotFound(RecordKind::Invitation))?;
    work.invitations().remove(id).await?;
    let (initiator, target) = (Initiator::grantee(grant), target(&invitation));
    app.audit(&mut *work, &initiator, AuditAction::Revoke, target, Changes::default()).await?;
    Ok(work.commit().await?)
}

/// A page of invitations, newest first, optionally only those whose address contains `text`.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    actor: &Actor,
    _grant: &Grant<ViewInvitations>,
    text: Option<&str>,
    page: PageRequest,
) -> Result<Page<ListedInvitation>> {
    let mut view = app.store.read().await?;
    let found = view.invitations().list(text, page).await?;
    let inviters: Vec<_> = found.records.iter().filter_map(|invitation| invitation.invited_by).collect();
    let emails = view.users().emails(&inviters).await?;
    let groups: Vec<_> =
        found.records.iter().flat_map(|invitation| &invitation.access.groups).copied().collect();
    let groups = view.groups().names(&groups).await?;
    let scope = scope::in_view(&mut *view, actor).await?;
    let can_see = |id| actor.can::<ViewCollections>() || scope.role_in(id).is_some();
    let ids = found.records.iter().flat_map(|invitation| invitation.access.collections.keys()).copied();
    let ids: Vec<_> = ids.filter(|id| can_see(*id)).collect();
    let collections = view.collections().names(&ids).await?;
    let listed = |invitation: Invitation| ListedInvitation {
        invited_by: invitation.invited_by.and_then(|by| emails.get(&by).cloned()),
        groups: invitation.access.groups.iter().filter_map(|id| groups.get(id).cloned()).collect(),
        collections: invitation
            .access
            .collections
            .keys()
            .filter_map(|id| collections.get(id).cloned())
            .collect(),
        invitation,
    };
    Ok(Page { records: found.records.into_iter().map(listed).collect(), total: found.total })
}

/// The groups and collections of an access that exist.
pub(super) async fn existing(
    work: &mut dyn UnitOfWork,
    access: &InvitedAccess,
) -> Result<InvitedAccess, Fault> {
    let (groups, collections): (Vec<_>, Vec<_>) =
        (access.groups.iter().copied().collect(), access.collections.keys().copied().collect());
    let groups = work.groups().names(&groups).await?;
    let collections = work.collections().names(&collections).await?;
    let mut existing = access.clone();
    existing.groups.retain(|id| groups.contains_key(id));
    existing.collections.retain(|id, _| collections.contains_key(id));
    Ok(existing)
}

/// Checks that an actor can add members to the groups, and give roles on the collections: the rules of the pages of accounts
/// and of collections.
pub(super) async fn ensure_can_give(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    given: &InvitedAccess,
) -> Result<()> {
    let scope = scope::in_work(work, actor).await?;
    let groups = access::groups_in_work(work, &given.groups).await?;
    access::ensure_can_add_to(actor, &scope, &groups, &given.groups)?;
    for collection in given.collections.keys() {
        collections::ensure_can_share(work, actor, *collection).await?;
        if work.collections().members(*collection).await?.len() >= COLLECTION_MEMBERS_MAX {
            return Err(ValidationError::of("collections", Rule::MaxMembers(COLLECTION_MEMBERS_MAX)).into());
        }
    }
    Ok(())
}

fn ensure_can_deliver(app: &App, delivery: Delivery) -> Result<()> {
    if delivery == Delivery::Email && !app.mailer.is_configured() {
        return Err(
            ValidationError::new("delivery", "cannot be by email: no mail server is configured").into()
        );
    }
    Ok(())
}

/// Adds the groups and roles by their names, as the audit log has them.
pub(super) async fn add_names(
    work: &mut dyn UnitOfWork,
    access: &InvitedAccess,
    changes: Changes,
) -> Result<Changes, Fault> {
    let (groups, collections): (Vec<_>, Vec<_>) =
        (access.groups.iter().copied().collect(), access.collections.keys().copied().collect());
    let groups = work.groups().names(&groups).await?;
    let collections = work.collections().names(&collections).await?;
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort();
    let role = |(id, role): (&CollectionId, &CollectionRole)| {
        collections.get(id).map(|name| format!("{name} ({role})"))
    };
    let mut roles: Vec<_> = access.collections.iter().filter_map(role).collect();
    roles.sort();
    let text = |names: Vec<String>| Some(names.join(", ")).filter(|text| !text.is_empty());
    Ok(changes.field("groups", None, text(groups)).field("collections", None, text(roles)))
}

pub(super) fn target(invitation: &Invitation) -> AuditTarget {
    AuditTarget::new(RecordKind::Invitation, invitation.id, invitation.email.as_str())
}

/// The URL that accepts an invitation.
fn link(public_url: &str, token: &str) -> String {
    format!("{public_url}/account/invitation?token={token}")
}

/// The email with a link.
pub fn mail(public_url: &str, new: &NewInvitation, by: Option<&Email>) -> Mail {
    let (email, link) = (&new.record.email, &new.link);
    let by = by.map_or_else(|| "You are invited".to_owned(), |by| format!("{} invites you", by.as_str()));
    let expires_at = new.record.expires_at.format("%Y-%m-%d %H:%M");
    let text = format!(
        "{by} to\n{public_url}\n\nOpen this link to create your account:\n{link}\n\nThe link can be used once, \
         until {expires_at} UTC. If you did not expect this invitation, ignore this email.\n"
    );
    Mail { to: email.clone(), subject: "You are invited".to_owned(), text }
}

/// What an invitation is stored with.
struct Terms<'a> {
    access: &'a InvitedAccess,
    invited_by: Option<UserId>,
    is_emailed: bool,
}

impl AccountService<'_> {
    /// Invites a person from the command line, which can give every access. An earlier invitation of the address is replaced.
    ///
    /// # Errors
    /// [`Error::EmailTaken`] for an address that has an account, or when the database cannot be reached.
    pub async fn invite(
        self,
        email: &Email,
        access: &InvitedAccess,
        delivery: Delivery,
        public_url: &str,
    ) -> Result<NewInvitation> {
        let mut work = self.store.begin().await?;
        if work.users().by_email(email).await?.is_some() {
            return Err(Error::EmailTaken);
        }
        let terms = Terms { access, invited_by: None, is_emailed: delivery == Delivery::Email };
        let put = self.put_invitation(&mut *work, &Initiator::command_line(), email, &terms).await?;
        let (record, token) = put.ok_or(Error::EmailTaken)?;
        work.commit().await?;
        Ok(NewInvitation { record, link: link(public_url, &token) })
    }

    /// Adds an invitation instead of any earlier one of the address. Returns it with its secret; none if another process has
    /// invited the address at the same time.
    async fn put_invitation(
        self,
        work: &mut dyn UnitOfWork,
        initiator: &Initiator,
        email: &Email,
        terms: &Terms<'_>,
    ) -> Result<Option<(Invitation, String)>> {
        let (now, token) = (self.clock.now(), random_text(self.entropy, TOKEN_LENGTH));
        let invitation = Invitation {
            id: self.new_id(InvitationId::generate),
            email: email.clone(),
            access: terms.access.clone(),
            invited_by: terms.invited_by,
            is_emailed: terms.is_emailed,
            sha256: digest(&token),
            created_at: now,
            expires_at: now + LIFETIME,
        };
        self.withdraw_invitation(work, initiator, email).await?;
        if !work.invitations().insert(&invitation).await? {
            return Ok(None);
        }
        let changes = Changes::default()
            .added("is_emailed", invitation.is_emailed)
            .added("expires_at", invitation.expires_at);
        let changes = add_names(work, terms.access, changes).await?;
        self.audit(work, initiator, AuditAction::Add, target(&invitation), changes).await?;
        Ok(Some((invitation, token)))
    }

    /// Removes the invitation of an address, if it has one, because another one or an account replaces it.
    pub(super) async fn withdraw_invitation(
        self,
        work: &mut dyn UnitOfWork,
        initiator: &Initiator,
        email: &Email,
    ) -> Result<(), Fault> {
        if let Some(invitation) = work.invitations().by_email(email).await? {
            work.invitations().remove(invitation.id).await?;
            let target = target(&invitation);
            self.audit(work, initiator, AuditAction::Revoke, target, Changes::default()).await?;
        }
        Ok(())
    }
}
