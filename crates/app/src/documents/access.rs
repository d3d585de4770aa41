//! Who added a document, where it is, and what an actor may do with it.

use crate::App;
use crate::error::Result;
use docent_domain::access::{Actor, ChangeDocuments, DeleteDocuments, ViewUsers};
use docent_domain::collection::CollectionRole;
use docent_domain::document::Document;
use docent_domain::id::{CollectionId, UserId};
use docent_domain::scope::Scope;
use docent_domain::text::{Email, PersonName};

/// What an actor may know and do about a document that it can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentAccess {
    /// Account that added it; none if that account was deleted.
    pub owner: Option<UserId>,
    /// Whether that is the actor's account.
    pub is_own: bool,
    /// Email address of that account. Only for the account itself, for managers of a collection that has the document, and
    /// for accounts that may view all accounts.
    pub owner_email: Option<Email>,
    /// Name that its owner chose, for the same accounts.
    pub owner_name: Option<PersonName>,
    /// Collections that have it and that the actor can see.
    pub collections: Vec<CollectionId>,
    /// Whether the actor may change it and retry its ingestion.
    pub can_change: bool,
    /// Whether the actor may delete it.
    pub can_delete: bool,
}

/// The access of an actor, with its permissions, to each of these documents of its scope, in their order.
///
/// # Errors
/// When the database cannot be reached.
pub async fn describe(
    app: &App,
    actor: &Actor,
    scope: &Scope,
    documents: &[Document],
) -> Result<Vec<DocumentAccess>> {
    let sees_accounts = actor.authorize::<ViewUsers>().is_ok();
    let sees_owner = |document: &Document| {
        let is_own = document.owner == Some(actor.user());
        let manages = |id: &CollectionId| scope.role_in(*id) == Some(CollectionRole::Manager);
        is_own || sees_accounts || document.collections.iter().any(manages)
    };
    let mut owners: Vec<UserId> = documents
        .iter()
        .filter(|document| sees_owner(document))
        .filter_map(|document| document.owner)
        .collect();
    owners.sort_unstable();
    owners.dedup();
    let people = app.store.read_latest().await?.users().people(&owners).await?;
    let owner = |document: &Document| people.get(&document.owner.filter(|_| sees_owner(document))?);
    let access = |document: &Document| DocumentAccess {
        owner: document.owner,
        is_own: document.owner == Some(actor.user()),
        owner_email: owner(document).map(|person| person.email.clone()),
        owner_name: owner(document).and_then(|person| person.name.clone()),
        collections: document.collections.iter().copied().filter(|id| scope.role_in(*id).is_some()).collect(),
        can_change: actor.authorize_on::<ChangeDocuments>(scope, document).is_ok(),
        can_delete: actor.authorize_on::<DeleteDocuments>(scope, document).is_ok(),
    };
    Ok(documents.iter().map(access).collect())
}
