//! Who can read a document, what an account can read, and why.
//!
//! Roles on collections let accounts find, read and ask documents. In the panel, superusers and staff with a permission read
//! all documents. Owning a document is no reason.

use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Grant, ViewCollections, ViewDocuments, ViewUsers};
use docent_domain::collection::{
    COLLECTIONS_OF_DOCUMENT_MAX, Collection, CollectionRole, Member, RoleSource, SourcedRole,
};
use docent_domain::document::Document;
use docent_domain::id::{CollectionId, DocumentId, GroupId, UserId};
use docent_domain::listing::{CollectionFilter, Page, PageRequest, UserFilter};
use docent_domain::permission::{Permission, RecordKind};
use docent_domain::scope::Scope;
use docent_domain::user::User;
use docent_ports::store::ReadView;
use std::collections::{BTreeMap, HashMap};

/// Accounts that can read a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Every active account.
    Everyone,
    /// An account.
    User(UserId),
    /// The active accounts of a group.
    Group(GroupId),
}

/// Why documents can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The account owns a collection.
    Owner(CollectionId),
    /// The role on a collection.
    Role(CollectionId, CollectionRole),
    /// The permission to view all documents in the panel.
    Permission,
    /// The account is a superuser, which views all documents in the panel.
    Superuser,
}

/// Accounts that can read a document for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The accounts.
    pub who: Who,
    /// Email address of the account, or name of the group; empty for every account.
    pub name: String,
    /// Whether the account is active. A deactivated one reads nothing until it is activated.
    pub is_active: bool,
    /// Why.
    pub reason: Reason,
}

/// The readers of a document.
#[derive(Clone, Debug)]
pub struct DocumentReaders {
    /// The document.
    pub document: Document,
    /// Names of its collections.
    pub collections: HashMap<CollectionId, String>,
    /// Its readers. Accounts with several reasons are listed with each.
    pub readers: Page<Reader>,
}

/// What viewing readers takes: the permissions with which they could be put together from other pages.
pub type ReaderGrants = (Grant<ViewDocuments>, Grant<ViewCollections>, Grant<ViewUsers>);

/// A page of the readers of a document: by roles on its collections, then by the permission, then superusers.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn of_document(
    app: &App,
    _grants: ReaderGrants,
    id: DocumentId,
    page: PageRequest,
) -> Result<DocumentReaders> {
    let mut view = app.store.read().await?;
    let document = view.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let ids: Vec<CollectionId> = document.collections.iter().copied().collect();
    let filter = CollectionFilter { scope: Scope::SERVICE.within(&ids), ..CollectionFilter::default() };
    let collections = view.collections().list(&filter, COLLECTIONS_OF_DOCUMENT_MAX as u64).await?;
    let mut by_role = Vec::new();
    for collection in &collections {
        by_role.extend(of_collection(&mut *view, collection).await?);
    }
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let mut total = by_role.len() as u64;
    let mut readers = Vec::new();
    for (who, reason) in by_role.into_iter().skip(number(page.offset)).take(number(page.limit)) {
        readers.push(named(&mut *view, who, reason).await?);
    }
    for (filter, reason) in [(holders(), Reason::Permission), (superusers(), Reason::Superuser)] {
        let offset = page.offset.saturating_sub(total);
        let rest = PageRequest { offset, limit: page.limit.saturating_sub(readers.len() as u64) };
        let listed = view.users().list(&filter, rest).await?;
        total += listed.total;
        readers.extend(listed.records.iter().map(|user| reader(user, reason)));
    }
    let collections = collections.into_iter().map(|of| (of.id, of.name.as_str().to_owned())).collect();
    Ok(DocumentReaders { document, collections, readers: Page { records: readers, total } })
}

/// Accounts and groups with a role on a collection.
async fn of_collection(view: &mut dyn ReadView, collection: &Collection) -> Result<Vec<(Who, Reason)>> {
    let id = collection.id;
    let of_all = collection.role_of_all.map(|role| (Who::Everyone, Reason::Role(id, role)));
    let owner = collection.owner.map(|owner| (Who::User(owner), Reason::Owner(id)));
    let members = view.collections().members(id).await?.into_iter().map(|of| match of.member {
        Member::User(user) => (Who::User(user), Reason::Role(id, of.role)),
        Member::Group(group) => (Who::Group(group), Reason::Role(id, of.role)),
    });
    Ok(of_all.into_iter().chain(owner).chain(members).collect())
}

/// Accounts that view all documents with the permission.
fn holders() -> UserFilter {
    UserFilter {
        is_active: Some(true),
        can_use_panel: Some(true),
        is_superuser: Some(false),
        permission: Some(Permission::ViewDocument),
        ..UserFilter::default()
    }
}

fn superusers() -> UserFilter {
    UserFilter { is_active: Some(true), is_superuser: Some(true), ..UserFilter::default() }
}

async fn named(view: &mut dyn ReadView, who: Who, reason: Reason) -> Result<Reader> {
    Ok(match who {
        Who::User(id) => match view.users().get(id).await? {
            Some(user) => reader(&user, reason),
            None => Reader { who, name: id.to_string(), is_active: false, reason },
        },
        Who::Group(id) => {
            let name = view.groups().names(&[id]).await?.remove(&id).unwrap_or_default();
            Reader { who, name, is_active: true, reason }
        }
        Who::Everyone => Reader { who, name: String::new(), is_active: true, reason },
    })
}

fn reader(user: &User, reason: Reason) -> Reader {
    let name = user.email.as_str().to_owned();
    Reader { who: Who::User(user.id), name, is_active: user.is_active, reason }
}

/// What an account can read.
#[derive(Clone, Debug)]
pub struct AccountReach {
    /// Why it views all documents in the panel, if it does.
    pub views_all: Option<Reason>,
    /// The collections that it has a role on.
    pub collections: Page<ReachedCollection>,
    /// Names of the groups that give it roles.
    pub groups: HashMap<GroupId, String>,
}

/// A collection that an account has a role on.
#[derive(Clone, Debug)]
pub struct ReachedCollection {
    /// The collection.
    pub collection: Collection,
    /// Number of its documents.
    pub documents: u64,
    /// The highest role.
    pub role: CollectionRole,
    /// Where its roles come from.
    pub sources: Vec<RoleSource>,
}

/// A page of the collections that an account has a role on. A deactivated account would read them after its activation.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn of_account(
    app: &App,
    _grants: (Grant<ViewUsers>, Grant<ViewCollections>),
    id: UserId,
    page: PageRequest,
) -> Result<AccountReach> {
    let mut view = app.store.read().await?;
    let user = view.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
    let mut roles = view.collections().sourced_roles(id).await?;
    // An account manages its personal collection from its creation, also when another version created it.
    let personal = CollectionId::personal(id);
    if !roles.iter().any(|of| of.collection == personal && of.source == RoleSource::Owner) {
        let (role, source) = (CollectionRole::Manager, RoleSource::Owner);
        roles.push(SourcedRole { collection: personal, role, source });
    }
    roles.sort_by_key(|of| (of.collection, of.source));
    let mut reached: BTreeMap<CollectionId, (CollectionRole, Vec<RoleSource>)> = BTreeMap::new();
    for SourcedRole { collection, role, source } in roles {
        let (highest, sources) = reached.entry(collection).or_insert((role, Vec::new()));
        *highest = (*highest).max(role);
        sources.push(source);
    }
    let ids: Vec<CollectionId> = reached.keys().copied().collect();
    let filter = CollectionFilter { scope: Scope::SERVICE.within(&ids), ..CollectionFilter::default() };
    let found = view.collections().page(&filter, page).await?;
    let collections: Vec<ReachedCollection> = found
        .records
        .into_iter()
        .filter_map(|(collection, size)| {
            let (role, sources) = reached.remove(&collection.id)?;
            Some(ReachedCollection { collection, documents: size.documents, role, sources })
        })
        .collect();
    let group = |source: &RoleSource| match source {
        RoleSource::Group(group) => Some(*group),
        RoleSource::Owner | RoleSource::Member | RoleSource::Everyone => None,
    };
    let groups: Vec<GroupId> = collections.iter().flat_map(|of| &of.sources).filter_map(group).collect();
    let groups = view.groups().names(&groups).await?;
    let views_all = match user.is_superuser {
        true => Some(Reason::Superuser),
        false if user.is_staff => {
            let permissions = view.groups().permissions(id).await?;
            permissions.contains(Permission::ViewDocument).then_some(Reason::Permission)
        }
        false => None,
    };
    Ok(AccountReach { views_all, collections: Page { records: collections, total: found.total }, groups })
}
