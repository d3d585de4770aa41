//! Collections in memory.

use super::{Tables, Transaction, insert_once, page_of, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::collection::{
    Collection, CollectionKind, CollectionRole, Member, Membership, RoleSource, SourcedRole,
};
use docent_domain::fault::Result;
use docent_domain::file_batch::{CollectionMetadata, FileBatch};
use docent_domain::id::{CollectionId, FileBatchId, GroupId, UserId};
use docent_domain::listing::{AccountCollections, CollectionFilter, Page, PageRequest};
use docent_domain::scope::AccountRoles;
use docent_ports::collections::{CollectionReader, CollectionSize, CollectionWriter, ListedCollection};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

#[async_trait]
impl CollectionReader for Transaction {
    async fn get(&mut self, id: CollectionId) -> Result<Option<Collection>> {
        Ok(self.read()?.collections.get(&id).cloned())
    }

    async fn page(
        &mut self,
        filter: &CollectionFilter,
        page: PageRequest,
    ) -> Result<Page<(Collection, CollectionSize)>> {
        let tables = self.read()?;
        let found = selected(tables, filter);
        Ok(page_of(found.into_iter().map(|of| (of.clone(), size(tables, of.id))).collect(), page))
    }

    async fn list(&mut self, filter: &CollectionFilter, limit: u64) -> Result<Vec<Collection>> {
        let found = selected(self.read()?, filter).into_iter().cloned();
        Ok(found.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect())
    }

    async fn names(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, String>> {
        let collections = &self.read()?.collections;
        let name = |id: &CollectionId| Some((*id, collections.get(id)?.name.as_str().to_owned()));
        Ok(ids.iter().filter_map(name).collect())
    }

    async fn list_of_account(&mut self, query: &AccountCollections) -> Result<Vec<ListedCollection>> {
        let tables = self.read()?;
        if query.scope.collections().is_none() {
            return Ok(Vec::new());
        }
        let filter = CollectionFilter {
            scope: Some(query.scope.clone()),
            name_contains: query.name_contains.clone(),
            kind: None,
        };
        let found = selected(tables, &filter).into_iter();
        let mut found: Vec<_> = found.map(|collection| (query.position(collection), collection)).collect();
        found.retain(|(position, _)| query.after.as_ref().is_none_or(|after| position > after));
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        let listed = |collection: &Collection| ListedCollection {
            collection: collection.clone(),
            size: size(tables, collection.id),
            is_member: tables.members.contains_key(&(collection.id, Member::User(query.user))),
        };
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        Ok(found.into_iter().take(limit).map(|(_, collection)| listed(collection)).collect())
    }

    async fn count_owned(&mut self, owner: UserId) -> Result<u64> {
        let is_owned = |of: &&Collection| of.owner == Some(owner) && of.kind == CollectionKind::Shared;
        Ok(self.read()?.collections.values().filter(is_owned).count() as u64)
    }

    async fn metadata(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, CollectionMetadata>> {
        let metadata = &self.read()?.metadata;
        Ok(ids.iter().filter_map(|id| metadata.get(id).map(|of| (*id, of.clone()))).collect())
    }

    async fn file_batch(&mut self, id: FileBatchId) -> Result<Option<FileBatch>> {
        Ok(self.read()?.batches.get(&id).cloned())
    }

    async fn hidden_by(&mut self, id: CollectionId) -> Result<Vec<UserId>> {
        let hidden = self.read()?.hidden.iter().filter(|(_, of)| *of == id);
        Ok(hidden.map(|(user, _)| *user).collect())
    }

    async fn roles(&mut self, user: UserId) -> Result<AccountRoles> {
        let is_of_all = |of: &SourcedRole| of.source == RoleSource::Everyone;
        let (open, own): (Vec<_>, Vec<_>) = self.sourced_roles(user).await?.into_iter().partition(is_of_all);
        let hidden = self.read()?.hidden.iter().filter(|(of, _)| *of == user).map(|(_, id)| *id).collect();
        let roles = |sourced: Vec<SourcedRole>| sourced.into_iter().map(|of| (of.collection, of.role));
        Ok(AccountRoles { own: roles(own).collect(), open: Arc::new(roles(open).collect()), hidden })
    }

    async fn sourced_roles(&mut self, user: UserId) -> Result<Vec<SourcedRole>> {
        let tables = self.read()?;
        let groups = tables.rights.get(&user).map(|rights| rights.groups.clone()).unwrap_or_default();
        let sourced = |collection, role, source| SourcedRole { collection, role, source };
        let owned = tables.collections.values().filter(|of| of.owner == Some(user));
        let owned = owned.map(|of| sourced(of.id, CollectionRole::Manager, RoleSource::Owner));
        let of_all = tables.collections.values();
        let of_all = of_all.filter_map(|of| Some(sourced(of.id, of.role_of_all?, RoleSource::Everyone)));
        let as_member = tables.members.iter().filter_map(|((id, member), role)| {
            let source = match member {
                Member::User(member) => (*member == user).then_some(RoleSource::Member),
                Member::Group(group) => groups.contains(group).then_some(RoleSource::Group(*group)),
            };
            Some(sourced(*id, *role, source?))
        });
        Ok(owned.chain(of_all).chain(as_member).collect())
    }

    async fn roles_of_groups(
        &mut self,
        groups: &[GroupId],
    ) -> Result<HashMap<GroupId, Vec<(CollectionId, CollectionRole)>>> {
        let mut roles: HashMap<GroupId, Vec<_>> = HashMap::new();
        for ((collection, member), role) in &self.read()?.members {
            match member {
                Member::Group(group) if groups.contains(group) => {
                    roles.entry(*group).or_default().push((*collection, *role));
                }
                Member::User(_) | Member::Group(_) => {}
            }
        }
        Ok(roles)
    }

    async fn members(&mut self, id: CollectionId) -> Result<Vec<Membership>> {
        let members = self.read()?.members.iter().filter(|((of, _), _)| *of == id);
        Ok(members.map(|((_, member), role)| Membership { member: *member, role: *role }).collect())
    }

    async fn only_here(&mut self, id: CollectionId) -> Result<u64> {
        let only = BTreeSet::from([id]);
        Ok(self.read()?.documents.values().filter(|document| document.collections == only).count() as u64)
    }
}

#[async_trait]
impl CollectionWriter for Transaction {
    async fn insert(&mut self, collection: &Collection) -> Result<()> {
        self.write(|tables| {
            check_owner(tables, collection)?;
            insert_once(&mut tables.collections, collection.id, collection)
        })
    }

    async fn update(&mut self, collection: &Collection) -> Result<bool> {
        self.write(|tables| {
            if !tables.collections.contains_key(&collection.id) {
                return Ok(false);
            }
            check_owner(tables, collection)?;
            tables.collections.insert(collection.id, collection.clone());
            Ok(true)
        })
    }

    async fn delete(&mut self, id: CollectionId) -> Result<bool> {
        self.write(|tables| {
            for document in tables.documents.values_mut() {
                if document.collections.remove(&id) {
                    document.labels_revision += 1;
                }
            }
            tables.members.retain(|(of, _), _| *of != id);
            tables.shared.retain(|(_, collection)| *collection != id);
            tables.hidden.retain(|(_, collection)| *collection != id);
            tables.metadata.remove(&id);
            tables.batches.retain(|_, batch| batch.collection != id);
            Ok(tables.collections.remove(&id).is_some())
        })
    }

    async fn set_member(
        &mut self,
        id: CollectionId,
        member: Member,
        role: Option<CollectionRole>,
    ) -> Result<()> {
        self.write(|tables| {
            let Some(role) = role else {
                tables.members.remove(&(id, member));
                return Ok(());
            };
            let is_known = match member {
                Member::User(user) => tables.users.contains_key(&user),
                Member::Group(group) => tables.groups.contains_key(&group),
            };
            if !is_known || !tables.collections.contains_key(&id) {
                return Err(violation("the collection or the member does not exist"));
            }
            tables.members.insert((id, member), role);
            Ok(())
        })
    }

    async fn set_metadata(&mut self, id: CollectionId, metadata: &CollectionMetadata) -> Result<()> {
        self.write(|tables| {
            if !tables.collections.contains_key(&id) {
                return Err(violation("the collection does not exist"));
            }
            tables.metadata.insert(id, metadata.clone());
            Ok(())
        })
    }

    async fn put_file_batch(&mut self, batch: &FileBatch) -> Result<()> {
        self.write(|tables| {
            if !tables.collections.contains_key(&batch.collection) {
                return Err(violation("the collection does not exist"));
            }
            tables.batches.insert(batch.id, batch.clone());
            Ok(())
        })
    }

    async fn purge_file_batches(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let old = tables.batches.values().filter(|batch| batch.created_at < before);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let ids: Vec<FileBatchId> = old.map(|batch| batch.id).take(limit).collect();
            tables.batches.retain(|id, _| !ids.contains(id));
            Ok(ids.len() as u64)
        })
    }

    async fn set_hidden(&mut self, user: UserId, id: CollectionId, is_hidden: bool) -> Result<()> {
        self.write(|tables| {
            if !is_hidden {
                tables.hidden.remove(&(user, id));
                return Ok(());
            }
            if !tables.users.contains_key(&user) || !tables.collections.contains_key(&id) {
                return Err(violation("the account or the collection does not exist"));
            }
            tables.hidden.insert((user, id));
            Ok(())
        })
    }
}

fn size(tables: &Tables, id: CollectionId) -> CollectionSize {
    CollectionSize {
        members: tables.members.keys().filter(|(of, _)| *of == id).count() as u64,
        documents: tables.documents.values().filter(|of| of.collections.contains(&id)).count() as u64,
    }
}

/// The collections that a filter selects, in the order of lists.
fn selected<'t>(tables: &'t Tables, filter: &CollectionFilter) -> Vec<&'t Collection> {
    let lower = |text: &str| text.to_ascii_lowercase();
    let fits = |collection: &&Collection| {
        filter.scope.as_ref().is_none_or(|scope| scope.role_in(collection.id).is_some())
            && filter.kind.is_none_or(|kind| collection.kind == kind)
            && filter
                .name_contains
                .as_ref()
                .is_none_or(|text| lower(collection.name.as_str()).contains(&lower(text)))
    };
    let mut found: Vec<&Collection> = tables.collections.values().filter(fits).collect();
    found.sort_by_key(|collection| (collection.kind.name(), lower(collection.name.as_str()), collection.id));
    found
}

fn check_owner(tables: &Tables, collection: &Collection) -> Result<()> {
    collection.owner.map_or(Ok(()), |owner| tables.check_owner(owner))
}
