//! Sharing conversations with the readers of collections, who can only read them.

use super::find::find;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::documents::label;
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, Chat, Grant};
use docent_domain::audit::AuditAction;
use docent_domain::conversation::Conversation;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, ConversationId};
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_domain::text::Email;
use docent_domain::user::Person;
use docent_ports::store::ReadView;
use std::collections::BTreeSet;

/// Who else reads a conversation, as the requesting account sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Collections that it is shared with: for its owner all, otherwise those that the account can read.
    pub with: Vec<CollectionId>,
    /// The owner, if it is another account.
    pub by: Option<Person>,
}

impl Sharing {
    /// `by` is the owner, if it is another account than that of the grant.
    pub(super) fn new(
        grant: &Grant<Chat>,
        scope: &Scope,
        collections: BTreeSet<CollectionId>,
        by: Option<Person>,
    ) -> Self {
        let sees_all = by.is_none() && grant.limited_key().is_none();
        let is_seen = |id: &CollectionId| sees_all || scope.role_in(*id).is_some();
        Self { with: collections.into_iter().filter(is_seen).collect(), by }
    }
}

/// A conversation that an actor can read, and who else reads it.
///
/// # Errors
/// [`Error::NotFound`], also for a conversation that is not shared with the actor; or when the database cannot be reached.
pub(super) async fn readable(
    view: &mut dyn ReadView,
    grant: &Grant<Chat>,
    scope: &Scope,
    id: ConversationId,
) -> Result<(Conversation, Sharing)> {
    let not_found = || Error::NotFound(RecordKind::Conversation);
    let conversation = view.conversations().get(id).await?.ok_or_else(not_found)?;
    let collections = view.conversations().shared_with(&[id]).await?.remove(&id).unwrap_or_default();
    let by = if conversation.is_open_to(grant) {
        None
    } else if conversation.is_readable_through(grant, scope, &collections) {
        let owner = conversation.owner;
        Some(view.users().people(&[owner]).await?.remove(&owner).ok_or_else(not_found)?)
    } else {
        return Err(not_found());
    };
    let sharing = Sharing::new(grant, scope, collections, by);
    Ok((conversation, sharing))
}

/// Shares a conversation with the readers of these collections and no others. Sharing with no collection ends it.
///
/// Collections that it is shared with already can stay, also if the account can no longer read them.
///
/// # Errors
/// [`Error::NotFound`] for the conversation, or for a collection that the actor cannot read; [`Error::Invalid`] for a personal
/// collection; or when the database cannot be reached.
pub async fn share(
    app: &App,
    actor: &Actor,
    grant: &Grant<Chat>,
    id: ConversationId,
    collections: BTreeSet<CollectionId>,
) -> Result<(Conversation, Sharing)> {
    let mut work = app.store.begin().await?;
    let conversation = find(work.conversations(), grant, id).await?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let before = work.conversations().shared_with(&[id]).await?.remove(&id).unwrap_or_default();
    for added in collections.difference(&before) {
        let is_readable = scope.role_in(*added).is_some();
        // Reading the collection locks it, so that it is not deleted meanwhile.
        if !is_readable || work.collections().get(*added).await?.is_none() {
            return Err(Error::NotFound(RecordKind::Collection));
        }
        if *added == CollectionId::personal(grant.user()) {
            let reason = "must not have the personal collection, which no other account reads";
            return Err(ValidationError::new("collection_ids", reason).into());
        }
    }
    if collections != before {
        work.conversations().share(id, &collections).await?;
        let changes =
            Changes::default().changed("shared_with", label::ids(&before), label::ids(&collections));
        // As for views: the title may repeat a question.
        let emails = work.users().emails(&[conversation.owner]).await?;
        let label = emails.get(&conversation.owner).map_or("", Email::as_str);
        let target = AuditTarget::new(RecordKind::Conversation, id, label);
        app.audit(&mut *work, &Initiator::actor(actor), AuditAction::Change, target, changes).await?;
        work.commit().await?;
    }
    Ok((conversation, Sharing::new(grant, &scope, collections, None)))
}
