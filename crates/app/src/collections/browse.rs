//! Collections in the panel: all of them for staff with the permission, otherwise those that the account has a role on.

use super::{ensure_manages, not_found};
use crate::error::Result;
use crate::{App, scope};
use docent_domain::access::{Actor, ChangeCollections, DeleteCollections, ShareCollections, ViewCollections};
use docent_domain::collection::{Collection, CollectionKind, CollectionRole, Member};
use docent_domain::id::CollectionId;
use docent_domain::listing::{AccountCollections, CollectionFilter, Page, PageRequest};
use docent_domain::scope::Scope;
use docent_ports::collections::{CollectionSize, ListedCollection};

/// Maximum number of collections to choose from in a form.
pub const CHOICES_MAX: u64 = 500;

/// A collection, and what the actor may do with it.
#[derive(Clone, Debug)]
pub struct OpenCollection {
    /// The collection.
    pub collection: Collection,
    /// Its size.
    pub size: CollectionSize,
    /// The role of the actor, if any.
    pub role: Option<CollectionRole>,
    /// Whether the actor is a member itself, and not only through a group.
    pub is_member: bool,
    /// Whether the actor may view the members.
    pub can_view_members: bool,
    /// Whether the actor may change settings and members.
    pub can_change: bool,
    /// Whether the actor may delete the collection.
    pub can_delete: bool,
}

/// A page of the collections that the actor may view.
///
/// # Errors
/// When the database cannot be reached.
pub async fn page(
    app: &App,
    actor: &Actor,
    name_contains: Option<String>,
    kind: Option<CollectionKind>,
    page: PageRequest,
) -> Result<Page<(Collection, CollectionSize)>> {
    let mut view = app.store.read().await?;
    let scope = match sees_all(actor) {
        true => None,
        false => Some(scope::in_view(&mut *view, actor).await?),
    };
    let filter = CollectionFilter { scope, name_contains, kind };
    Ok(view.collections().page(&filter, page).await?)
}

/// A collection that the actor may view.
///
/// # Errors
/// [`Error::NotFound`](crate::error::Error::NotFound), also without a role on it and without the permission; or when the
/// database cannot be reached.
pub async fn open(app: &App, actor: &Actor, id: CollectionId) -> Result<OpenCollection> {
    let mut view = app.store.read().await?;
    let role = scope::in_view(&mut *view, actor).await?.role_in(id);
    if role.is_none() && !sees_all(actor) {
        return Err(not_found());
    }
    let only = CollectionFilter { scope: Scope::SERVICE.within(&[id]), ..CollectionFilter::default() };
    let found = view.collections().page(&only, PageRequest { offset: 0, limit: 1 }).await?;
    let (collection, size) = found.records.into_iter().next().ok_or_else(not_found)?;
    let members = view.collections().members(id).await?;
    Ok(OpenCollection {
        is_member: members.iter().any(|of| of.member == Member::User(actor.user())),
        can_view_members: ensure_manages::<ViewCollections>(actor, id, role).is_ok(),
        can_change: ensure_manages::<ChangeCollections>(actor, id, role).is_ok(),
        can_delete: collection.kind == CollectionKind::Shared
            && ensure_manages::<DeleteCollections>(actor, id, role).is_ok(),
        collection,
        size,
        role,
    })
}

/// Collections to choose from in forms: that of everyone, the actor's own and the shared ones by name. At most about
/// [`CHOICES_MAX`].
///
/// # Errors
/// When the database cannot be reached.
pub async fn choices(app: &App, actor: &Actor) -> Result<Vec<Collection>> {
    let mut view = app.store.read().await?;
    if !sees_all(actor) {
        let scope = scope::in_view(&mut *view, actor).await?.shown();
        let own_first = view.collections().list_of_account(&choices_of(actor, scope)).await?;
        return Ok(own_first.into_iter().map(|listed| listed.collection).collect());
    }
    let fixed = Scope::SERVICE.within(&[CollectionId::EVERYONE, CollectionId::personal(actor.user())]);
    let fixed = CollectionFilter { scope: fixed, ..CollectionFilter::default() };
    let shared = CollectionFilter { kind: Some(CollectionKind::Shared), ..CollectionFilter::default() };
    let mut found = view.collections().list(&fixed, CHOICES_MAX).await?;
    found.extend(view.collections().list(&shared, CHOICES_MAX).await?);
    Ok(found)
}

/// Collections of the scope that the actor may add documents to, with their sizes. At most [`CHOICES_MAX`].
///
/// # Errors
/// When the database cannot be reached.
pub async fn destinations(app: &App, actor: &Actor, scope: &Scope) -> Result<Vec<ListedCollection>> {
    let choices = choices_of(actor, scope.shown().at_least(CollectionRole::Contributor));
    Ok(app.store.read().await?.collections().list_of_account(&choices).await?)
}

/// Collections that the actor can give roles on, to choose from in forms: that of everyone and the shared ones. At most about
/// [`CHOICES_MAX`].
///
/// # Errors
/// When the database cannot be reached.
pub async fn shareable(app: &App, actor: &Actor) -> Result<Vec<Collection>> {
    let mut found = if sees_all(actor) && actor.can::<ShareCollections>() {
        choices(app, actor).await?
    } else {
        let mut view = app.store.read().await?;
        let managed = scope::in_view(&mut *view, actor).await?.at_least(CollectionRole::Manager);
        let listed = view.collections().list_of_account(&choices_of(actor, managed)).await?;
        listed.into_iter().map(|listed| listed.collection).collect()
    };
    found.retain(|collection| collection.kind != CollectionKind::Personal);
    Ok(found)
}

fn choices_of(actor: &Actor, scope: Scope) -> AccountCollections {
    AccountCollections { user: actor.user(), scope, name_contains: None, after: None, limit: CHOICES_MAX }
}

/// Whether the actor may view all collections. The panel accepts no API keys, which can be limited to some.
fn sees_all(actor: &Actor) -> bool {
    actor.api_key().is_none() && actor.authorize::<ViewCollections>().is_ok()
}
