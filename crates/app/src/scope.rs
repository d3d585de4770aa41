//! The scopes of actors: which documents they may use.

use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Actor, Grant, Operation};
use docent_domain::collection::CollectionRole;
use docent_domain::condition::Condition;
use docent_domain::document::Document;
use docent_domain::fault::Fault;
use docent_domain::id::CollectionId;
use docent_domain::permission::RecordKind;
use docent_domain::scope::{AccountRoles, Scope};
use docent_domain::selection::Selection;
use docent_ports::store::{ReadView, UnitOfWork};

/// Reads the scope of an actor, as its memberships are now.
///
/// # Errors
/// When the database cannot be reached.
pub async fn load(app: &App, actor: &Actor) -> Result<Scope> {
    let roles = app.store.read_latest().await?.collections().roles(actor.user()).await?;
    Ok(of_roles(actor, roles))
}

/// The scope of an actor as of a unit of work.
pub(crate) async fn in_work(work: &mut dyn UnitOfWork, actor: &Actor) -> Result<Scope, Fault> {
    let roles = work.collections().roles(actor.user()).await?;
    Ok(of_roles(actor, roles))
}

/// The scope of an actor as of a view.
pub(crate) async fn in_view(view: &mut dyn ReadView, actor: &Actor) -> Result<Scope, Fault> {
    let roles = view.collections().roles(actor.user()).await?;
    Ok(of_roles(actor, roles))
}

/// An account manages its personal collection from its creation, also when another version created it.
pub(crate) fn of_roles(actor: &Actor, mut roles: AccountRoles) -> Scope {
    roles.own.push((CollectionId::personal(actor.user()), CollectionRole::Manager));
    Scope::of(actor, roles)
}

/// The part of a scope that a selection limits a request to, and its condition for that scope. Hidden collections belong to
/// it only if the selection names collections or documents.
///
/// # Errors
/// [`Error::NotFound`] for a collection outside the scope, as for one that does not exist.
pub(crate) fn select(scope: &Scope, selection: &Selection) -> Result<(Scope, Option<Condition>)> {
    let condition = selection.condition.clone().map(|condition| condition.within(scope));
    let selected = match &selection.collections {
        None if selection.documents.is_none() => scope.shown(),
        None => scope.clone(),
        Some(collections) => scope.within(collections).ok_or(Error::NotFound(RecordKind::Collection))?,
    };
    Ok((selected, condition))
}

/// Authorizes a change of a document: of an own one with the role of a contributor, of any with that of a manager, or
/// with a permission.
///
/// # Errors
/// [`Error::NotFound`] when the actor may not know that the document exists, otherwise [`Error::Forbidden`].
pub(crate) fn authorize<A: Operation>(actor: &Actor, scope: &Scope, document: &Document) -> Result<Grant<A>> {
    actor.authorize_on(scope, document).map_err(|forbidden| match scope.rights_on(document) {
        Some(_) => forbidden.into(),
        None => Error::NotFound(RecordKind::Document),
    })
}
