//! Collections: their settings and members, and where new documents go.

pub mod browse;
pub mod members;
pub mod metadata;
pub mod readers;

use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::settings::{DefaultCollection, OpenCollectionsRule};
use crate::{App, scope};
use docent_domain::access::{
    Actor, AddCollections, AddDocuments, ChangeCollections, CreateCollections, DeleteCollections, Grant,
    HideCollections, ManageCollections, OpenCollections, Operation, ReadDocuments, ShareCollections,
    ViewCollections,
};
use docent_domain::audit::AuditAction;
use docent_domain::collection::{
    COLLECTIONS_OF_ACCOUNT_MAX, Collection, CollectionDescription, CollectionKind, CollectionName,
    CollectionRole, HIDDEN_COLLECTIONS_MAX, OPEN_COLLECTIONS_MAX,
};
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, UserId};
use docent_domain::listing::AccountCollections;
use docent_domain::permission::RecordKind;
use docent_domain::scope::{Readable, Scope};
use docent_ports::collections::ListedCollection;
use docent_ports::store::UnitOfWork;
use std::collections::HashMap;

/// Settings of a collection.
#[derive(Clone, Debug)]
pub struct CollectionSettings {
    /// Name.
    pub name: CollectionName,
    /// Description.
    pub description: CollectionDescription,
    /// Role of every account, if it is open to all.
    pub role_of_all: Option<CollectionRole>,
}

/// The collections that a query selects for the account, with their sizes.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(
    app: &App,
    _grant: Grant<ReadDocuments>,
    query: &AccountCollections,
) -> Result<Vec<ListedCollection>> {
    Ok(app.store.read().await?.collections().list_of_account(query).await?)
}

/// The names of the collections that exist among these, for documents that list them.
///
/// # Errors
/// When the database cannot be reached.
pub async fn names(app: &App, ids: &[CollectionId]) -> Result<HashMap<CollectionId, String>> {
    Ok(app.store.read_latest().await?.collections().names(ids).await?)
}

/// The collection with this ID.
///
/// # Errors
/// [`Error::NotFound`], also for a collection outside the scope; or when the database cannot be reached.
pub async fn get(
    app: &App,
    _grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: CollectionId,
) -> Result<Collection> {
    if scope.role_in(id).is_none() {
        return Err(not_found());
    }
    app.store.read_latest().await?.collections().get(id).await?.ok_or_else(not_found)
}

/// Creates a shared collection that the actor owns.
///
/// # Errors
/// [`Error::Forbidden`]; [`Error::OpeningForbidden`] and [`Error::TooManyOpenCollections`] for a role of every account;
/// [`Error::TooManyCollections`]; or when the database cannot be reached.
pub async fn create(app: &App, actor: &Actor, settings: CollectionSettings) -> Result<Collection> {
    let grant = actor.authorize::<CreateCollections>()?;
    let mut work = app.store.begin().await?;
    let collection = insert(app, &mut *work, actor, &grant, settings, Some(grant.user())).await?;
    work.commit().await?;
    Ok(collection)
}

/// Creates a shared collection for an account, or without an owner, for staff.
///
/// # Errors
/// As [`create`].
pub async fn add(
    app: &App,
    actor: &Actor,
    settings: CollectionSettings,
    owner: Option<UserId>,
) -> Result<Collection> {
    let grant = actor.authorize::<AddCollections>()?;
    let mut work = app.store.begin().await?;
    let collection = insert(app, &mut *work, actor, &grant, settings, owner).await?;
    work.commit().await?;
    Ok(collection)
}

/// Inserts a shared collection.
pub(crate) async fn insert<A>(
    app: &App,
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    grant: &Grant<A>,
    settings: CollectionSettings,
    owner: Option<UserId>,
) -> Result<Collection> {
    let CollectionSettings { name, description, role_of_all } = settings;
    ensure_can_open(app, work, actor, (None, role_of_all)).await?;
    if role_of_all.is_some() {
        actor.ensure_proof::<OpenCollections>()?;
    }
    let now = app.now();
    let collection = Collection {
        id: app.new_id(CollectionId::generate),
        kind: CollectionKind::Shared,
        name,
        description,
        owner,
        role_of_all,
        created_at: now,
        updated_at: now,
    };
    if let Some(owner) = owner {
        // Locks the account, so that concurrent calls cannot exceed the maximum.
        work.users().get(owner).await?.ok_or(Error::NotFound(RecordKind::User))?;
        if work.collections().count_owned(owner).await? >= COLLECTIONS_OF_ACCOUNT_MAX {
            return Err(Error::TooManyCollections);
        }
    }
    work.collections().insert(&collection).await?;
    let changes = Changes::default().added("name", collection.name.as_str()).field(
        "role_of_all",
        None,
        role_of_all.map(|role| role.to_string()),
    );
    let (initiator, target) = (Initiator::grantee(grant), AuditTarget::collection(&collection));
    app.audit(work, &initiator, AuditAction::Add, target, changes).await?;
    Ok(collection)
}

/// Whether an actor may give every account a role on collections that it manages.
pub fn can_open(app: &App, actor: &Actor) -> bool {
    match app.settings.open_collections {
        OpenCollectionsRule::Managers => true,
        OpenCollectionsRule::Permission => actor.can::<OpenCollections>(),
    }
}

/// Checks that an actor may change the role of every account. A manager may always lower it.
///
/// Collections that are opened at the same time may exceed the maximum.
async fn ensure_can_open(
    app: &App,
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    (before, after): (Option<CollectionRole>, Option<CollectionRole>),
) -> Result<()> {
    if after > before && !can_open(app, actor) {
        return Err(Error::OpeningForbidden);
    }
    let is_opened = before.is_none() && after.is_some();
    if is_opened && work.collections().roles(actor.user()).await?.open.len() >= OPEN_COLLECTIONS_MAX {
        return Err(Error::TooManyOpenCollections);
    }
    Ok(())
}

/// Changes a collection's settings, as far as they are given. The role of all accounts decides who reads
/// documents, so its change needs a recent proof of identity.
///
/// # Errors
/// [`Error::NotFound`] outside the actor's scope; [`Error::Forbidden`] without the role of a manager or the permission;
/// [`Error::ProofNeeded`]; [`Error::FixedCollection`] for opening a personal one; [`Error::OpeningForbidden`] for a higher role of every account;
/// [`Error::TooManyOpenCollections`]; or when the database cannot be reached.
pub async fn change(
    app: &App,
    actor: &Actor,
    id: CollectionId,
    settings: impl FnOnce(&Collection) -> CollectionSettings + Send,
) -> Result<Collection> {
    let mut work = app.store.begin().await?;
    let (before, initiator) = managed::<ChangeCollections>(&mut *work, actor, id).await?;
    let CollectionSettings { name, description, role_of_all } = settings(&before);
    if before.kind == CollectionKind::Personal && role_of_all.is_some() {
        return Err(Error::FixedCollection("a personal collection cannot be shared; create another one"));
    }
    ensure_can_open(app, &mut *work, actor, (before.role_of_all, role_of_all)).await?;
    if before.role_of_all != role_of_all {
        actor.ensure_proof::<OpenCollections>()?;
    }
    let after = Collection { name, description, role_of_all, updated_at: app.now(), ..before.clone() };
    let role = |collection: &Collection| collection.role_of_all.map(|role| role.to_string());
    let changes = Changes::default()
        .changed("name", before.name.as_str(), after.name.as_str())
        .changed("description", before.description.as_str(), after.description.as_str())
        .field("role_of_all", role(&before), role(&after));
    if changes.is_empty() {
        return Ok(before);
    }
    work.collections().update(&after).await?;
    app.audit(&mut *work, &initiator, AuditAction::Change, AuditTarget::collection(&after), changes).await?;
    work.commit().await?;
    Ok(after)
}

/// Deletes a shared collection. Its documents must be in other collections too.
///
/// # Errors
/// [`Error::NotFound`] and [`Error::Forbidden`] as for [`change`]; [`Error::ProofNeeded`];
/// [`Error::FixedCollection`]; [`Error::CollectionNotEmpty`]; or when the database cannot be reached.
pub async fn delete(app: &App, actor: &Actor, id: CollectionId) -> Result<Collection> {
    let mut work = app.store.begin().await?;
    let (collection, initiator) = managed::<DeleteCollections>(&mut *work, actor, id).await?;
    if collection.kind != CollectionKind::Shared {
        let reason = "the collection of everyone and personal collections cannot be deleted";
        return Err(Error::FixedCollection(reason));
    }
    let documents = work.collections().only_here(id).await?;
    if documents > 0 {
        return Err(Error::CollectionNotEmpty(documents));
    }
    work.collections().delete(id).await?;
    let target = AuditTarget::collection(&collection);
    app.audit(&mut *work, &initiator, AuditAction::Delete, target, Changes::default()).await?;
    work.commit().await?;
    app.process.new_labels.notify_one();
    Ok(collection)
}

/// Hides a collection from the lists and searches of the actor's account, or shows it again. The account can still use it.
///
/// # Errors
/// [`Error::NotFound`] outside the actor's scope; [`Error::TooManyHiddenCollections`]; or when the database cannot be
/// reached.
pub async fn set_hidden(
    app: &App,
    grant: Grant<HideCollections>,
    actor: &Actor,
    id: CollectionId,
    is_hidden: bool,
) -> Result<()> {
    let mut work = app.store.begin().await?;
    // Locks the account, so that concurrent calls cannot exceed the maximum.
    work.users().get(grant.user()).await?.ok_or(Error::Unauthenticated)?;
    let roles = work.collections().roles(grant.user()).await?;
    let (was_hidden, hidden) = (roles.hidden.contains(&id), roles.hidden.len());
    if !was_hidden && scope::of_roles(actor, roles).role_in(id).is_none() {
        return Err(not_found());
    }
    if is_hidden == was_hidden {
        return Ok(());
    }
    if is_hidden && hidden >= HIDDEN_COLLECTIONS_MAX {
        return Err(Error::TooManyHiddenCollections);
    }
    work.collections().set_hidden(grant.user(), id, is_hidden).await?;
    Ok(work.commit().await?)
}

/// The collection, if the actor manages it, or can see it and has permission `A`. Includes the proof for `A`.
async fn managed<A: Operation>(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    id: CollectionId,
) -> Result<(Collection, Initiator)> {
    let role = scope::in_work(work, actor).await?.role_in(id);
    ensure_manages::<A>(actor, id, role)?;
    actor.ensure_proof::<A>()?;
    let collection = work.collections().get(id).await?.ok_or_else(not_found)?;
    Ok((collection, Initiator::actor(actor)))
}

/// Checks that the actor can give roles on a collection: that it manages it, or can see it and has the permission, and
/// that the collection is not personal. Includes the proof.
pub(crate) async fn ensure_can_share(
    work: &mut dyn UnitOfWork,
    actor: &Actor,
    id: CollectionId,
) -> Result<(Collection, Initiator)> {
    let (collection, initiator) = managed::<ShareCollections>(work, actor, id).await?;
    if collection.kind == CollectionKind::Personal {
        return Err(Error::FixedCollection("a personal collection cannot be shared; create another one"));
    }
    Ok((collection, initiator))
}

/// Checks that an actor with this role on a collection manages it, or can see it and has permission `A`, if
/// necessary after a proof of identity.
fn ensure_manages<A: Operation>(actor: &Actor, id: CollectionId, role: Option<CollectionRole>) -> Result<()> {
    let can_see = role.is_some() || actor.can::<ViewCollections>();
    let has_permission = can_see && actor.can_use(id) && actor.can::<A>();
    let is_manager = role == Some(CollectionRole::Manager) && actor.can::<ManageCollections>();
    if has_permission || is_manager {
        return Ok(());
    }
    Err(role.map_or_else(not_found, |_| Error::Forbidden))
}

/// The collection for a new document: the requested one; else the default one, the personal one, or the only one that the
/// actor may add documents to.
///
/// # Errors
/// [`Error::NotFound`] for a collection outside the scope, [`Error::Forbidden`] for one that the actor may only read, and
/// [`Error::Invalid`] if no collection was requested and there is not exactly one to add to.
pub fn destination(
    app: &App,
    grant: &Grant<AddDocuments>,
    scope: &Scope,
    requested: Option<CollectionId>,
) -> Result<CollectionId> {
    let can_add = |id: CollectionId| scope.role_in(id) >= Some(CollectionRole::Contributor);
    if let Some(id) = requested {
        return match scope.role_in(id) {
            None => Err(not_found()),
            Some(_) if can_add(id) => Ok(id),
            Some(_) => Err(Error::Forbidden),
        };
    }
    let personal = CollectionId::personal(grant.user());
    let default = match app.settings.default_collection {
        DefaultCollection::Everyone => CollectionId::EVERYONE,
        DefaultCollection::Personal => personal,
    };
    if let Some(id) = [default, personal].into_iter().find(|id| can_add(*id)) {
        return Ok(id);
    }
    let mut usable = scope.collections().into_iter().flat_map(Readable::iter).filter(|id| can_add(*id));
    match (usable.next(), usable.next()) {
        (Some(only), None) => Ok(only),
        _ => {
            Err(ValidationError::new("collection_id", "must be given: there is no default one to add to")
                .into())
        }
    }
}

/// The error of an unknown collection.
pub(crate) const fn not_found() -> Error {
    Error::NotFound(RecordKind::Collection)
}
