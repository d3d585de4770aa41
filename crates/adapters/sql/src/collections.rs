//! Collections in SQL.

use super::conditions;
use super::entities::collections::{Column, Entity, role};
use super::entities::{
    collection_groups, collection_users, document_collections, documents, hidden_collections, user_groups,
};
use super::listing::contains;
use super::record::Record;
use super::roles::{self, OwnRoles, RoleRow};
use super::transaction::Transaction;
use super::values::{counted, json, of_json};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::collection::{
    Collection, CollectionKind, CollectionRole, Member, Membership, RoleSource, SourcedRole,
};
use docent_domain::fault::Result;
use docent_domain::file_batch::{CollectionMetadata, FileBatch};
use docent_domain::id::{CollectionId, FileBatchId, GroupId, UserId};
use docent_domain::listing::{AccountCollections, CollectionFilter, CollectionGroup, Page, PageRequest};
use docent_domain::scope::AccountRoles;
use docent_ports::collections::{CollectionReader, CollectionSize, CollectionWriter, ListedCollection};
use sea_orm::sea_query::{Expr, ExprTrait, Func, OnConflict};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select, Set,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use uuid::Uuid;

#[async_trait]
impl CollectionReader for Transaction {
    async fn get(&mut self, id: CollectionId) -> Result<Option<Collection>> {
        self.fetch_one("read a collection", Entity::find_by_id(id.as_uuid())).await
    }

    async fn page(
        &mut self,
        filter: &CollectionFilter,
        page: PageRequest,
    ) -> Result<Page<(Collection, CollectionSize)>> {
        let (backend, rows) = (self.backend(), self.selected(filter));
        let order = |rows| ordered(rows, backend);
        let listed = self.listed("list collections", rows, order, page, Collection::from_row).await?;
        let ids: Vec<Uuid> = listed.records.iter().map(|collection| collection.id.as_uuid()).collect();
        let mut sizes = self.sizes(&ids).await?;
        let sized = |collection: Collection| {
            let size = sizes.remove(&collection.id.as_uuid()).unwrap_or_default();
            (collection, size)
        };
        Ok(Page { records: listed.records.into_iter().map(sized).collect(), total: listed.total })
    }

    async fn list(&mut self, filter: &CollectionFilter, limit: u64) -> Result<Vec<Collection>> {
        let rows = ordered(self.selected(filter), self.backend()).limit(limit);
        self.fetch_all("list collections", rows).await
    }

    async fn names(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, String>> {
        let (columns, ids) = ([Column::Id, Column::Name], ids.iter().map(|id| id.as_uuid()));
        let rows = self.texts("read names of collections", Entity::find(), columns, ids).await?;
        Ok(rows.into_iter().map(|(id, name)| (CollectionId::from_uuid(id), name)).collect())
    }

    async fn list_of_account(&mut self, query: &AccountCollections) -> Result<Vec<ListedCollection>> {
        let collections = self.collections_of_account(query).await?;
        let ids: Vec<Uuid> = collections.iter().map(|collection| collection.id.as_uuid()).collect();
        let mut sizes = self.sizes(&ids).await?;
        let memberships = collection_users::Entity::find()
            .select_only()
            .column(collection_users::Column::CollectionId)
            .filter(collection_users::Column::UserId.eq(query.user.as_uuid()))
            .filter(collection_users::Column::CollectionId.is_in(ids))
            .into_tuple::<Uuid>();
        let memberships = self.run("read memberships of an account", |db| Box::pin(memberships.all(db)));
        let memberships: HashSet<Uuid> = memberships.await?.into_iter().collect();
        let listed = |collection: Collection| ListedCollection {
            size: sizes.remove(&collection.id.as_uuid()).unwrap_or_default(),
            is_member: memberships.contains(&collection.id.as_uuid()),
            collection,
        };
        Ok(collections.into_iter().map(listed).collect())
    }

    async fn count_owned(&mut self, owner: UserId) -> Result<u64> {
        let owned = Entity::find()
            .filter(Column::OwnerId.eq(owner.as_uuid()))
            .filter(Column::Kind.eq(CollectionKind::Shared.name()));
        self.count_rows("count collections of an account", owned).await
    }

    async fn metadata(&mut self, ids: &[CollectionId]) -> Result<HashMap<CollectionId, CollectionMetadata>> {
        self.find_metadata(ids).await
    }

    async fn file_batch(&mut self, id: FileBatchId) -> Result<Option<FileBatch>> {
        self.find_batch(id).await
    }

    async fn hidden_by(&mut self, id: CollectionId) -> Result<Vec<UserId>> {
        let users = hidden_collections::Entity::find()
            .select_only()
            .column(hidden_collections::Column::UserId)
            .filter(hidden_collections::Column::CollectionId.eq(id.as_uuid()))
            .order_by_asc(hidden_collections::Column::UserId)
            .into_tuple::<Uuid>();
        let users = self.run("read who has hidden a collection", |db| Box::pin(users.all(db))).await?;
        Ok(users.into_iter().map(UserId::from_uuid).collect())
    }

    async fn roles(&mut self, user: UserId) -> Result<AccountRoles> {
        let own = if let Some(lookups) = self.lookups() {
            lookups.roles.get(user).await?
        } else {
            let rows = roles::select(vec![user.as_uuid()]).into_model::<RoleRow>();
            let rows = self.run(roles::READ, |db| Box::pin(rows.all(db))).await?;
            roles::by_user(&[user], rows).pop().map(|(_, own)| own).transpose()?
        };
        let OwnRoles { roles, hidden, version } = own.unwrap_or_default();
        Ok(AccountRoles { own: roles, open: self.open_collections(version).await?, hidden })
    }

    async fn sourced_roles(&mut self, user: UserId) -> Result<Vec<SourcedRole>> {
        let doing = roles::READ;
        let sourced =
            |id, role, source| SourcedRole { collection: CollectionId::from_uuid(id), role, source };
        let owned = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::OwnerId.eq(user.as_uuid()))
            .into_tuple::<Uuid>();
        let owned = self.run(doing, |db| Box::pin(owned.all(db))).await?;
        let owned = owned.into_iter().map(|id| sourced(id, CollectionRole::Manager, RoleSource::Owner));
        let mut roles: Vec<SourcedRole> = owned.collect();
        let of_all = Entity::find()
            .select_only()
            .columns([Column::Id, Column::RoleOfAll])
            .filter(Column::RoleOfAll.is_not_null())
            .into_tuple::<(Uuid, String)>();
        for (id, name) in self.run(doing, |db| Box::pin(of_all.all(db))).await? {
            roles.push(sourced(id, role(&name)?, RoleSource::Everyone));
        }
        let own =
            collection_users::Entity::find().filter(collection_users::Column::UserId.eq(user.as_uuid()));
        for row in self.run(doing, |db| Box::pin(own.all(db))).await? {
            roles.push(sourced(row.collection_id, role(&row.role)?, RoleSource::Member));
        }
        let memberships = user_groups::Entity::find()
            .select_only()
            .column(user_groups::Column::GroupId)
            .filter(user_groups::Column::UserId.eq(user.as_uuid()))
            .into_query();
        let through_groups = collection_groups::Entity::find()
            .filter(collection_groups::Column::GroupId.in_subquery(memberships));
        for row in self.run(doing, |db| Box::pin(through_groups.all(db))).await? {
            let source = RoleSource::Group(GroupId::from_uuid(row.group_id));
            roles.push(sourced(row.collection_id, role(&row.role)?, source));
        }
        Ok(roles)
    }

    async fn roles_of_groups(
        &mut self,
        groups: &[GroupId],
    ) -> Result<HashMap<GroupId, Vec<(CollectionId, CollectionRole)>>> {
        let rows = collection_groups::Entity::find()
            .filter(collection_groups::Column::GroupId.is_in(groups.iter().map(|id| id.as_uuid())));
        let mut roles: HashMap<GroupId, Vec<_>> = HashMap::new();
        for row in self.run("read the roles of groups", |db| Box::pin(rows.all(db))).await? {
            let group = roles.entry(GroupId::from_uuid(row.group_id)).or_default();
            group.push((CollectionId::from_uuid(row.collection_id), role(&row.role)?));
        }
        Ok(roles)
    }

    async fn members(&mut self, id: CollectionId) -> Result<Vec<Membership>> {
        let users = collection_users::Entity::find()
            .filter(collection_users::Column::CollectionId.eq(id.as_uuid()))
            .order_by_asc(collection_users::Column::UserId);
        let users = self.run("read members of a collection", |db| Box::pin(users.all(db))).await?;
        let groups = collection_groups::Entity::find()
            .filter(collection_groups::Column::CollectionId.eq(id.as_uuid()))
            .order_by_asc(collection_groups::Column::GroupId);
        let groups = self.run("read members of a collection", |db| Box::pin(groups.all(db))).await?;
        let users = users.into_iter().map(|row| (Member::User(UserId::from_uuid(row.user_id)), row.role));
        let groups =
            groups.into_iter().map(|row| (Member::Group(GroupId::from_uuid(row.group_id)), row.role));
        users.chain(groups).map(|(member, name)| Ok(Membership { member, role: role(&name)? })).collect()
    }

    async fn only_here(&mut self, id: CollectionId) -> Result<u64> {
        let rows = documents::Entity::find()
            .filter(documents::Column::DeletedAt.is_null())
            .filter(conditions::in_any([id.as_uuid()]))
            .filter(conditions::in_no_other_than(id));
        self.count_rows("count documents of a collection", rows).await
    }
}

#[async_trait]
impl CollectionWriter for Transaction {
    async fn insert(&mut self, collection: &Collection) -> Result<()> {
        self.insert_record("add a collection", collection).await
    }

    async fn update(&mut self, collection: &Collection) -> Result<bool> {
        let update =
            Entity::update_many().set(collection.to_row()?).filter(Column::Id.eq(collection.id.as_uuid()));
        Ok(self.update_rows("change a collection", update).await? > 0)
    }

    async fn delete(&mut self, id: CollectionId) -> Result<bool> {
        let documents = documents::Entity::find().filter(conditions::in_any([id.as_uuid()]));
        // Locked, so that a change that is being made is not overwritten, and in the order in which others lock.
        let documents = self.for_update(documents.order_by_asc(documents::Column::Id));
        for document in self.run("list documents of a collection", |db| Box::pin(documents.all(db))).await? {
            let mut left: BTreeSet<CollectionId> =
                of_json(document.collections, "document's collections").unwrap_or_default();
            left.remove(&id);
            let update = documents::Entity::update_many()
                .col_expr(documents::Column::Collections, Expr::val(json(&left)?))
                .col_expr(documents::Column::LabelsRevision, Expr::val(document.labels_revision + 1))
                .filter(documents::Column::Id.eq(document.id));
            self.update_rows("take a document out of a collection", update).await?;
        }
        self.delete_by_id::<Entity>("remove a collection", id.as_uuid()).await
    }

    async fn set_member(
        &mut self,
        id: CollectionId,
        member: Member,
        role: Option<CollectionRole>,
    ) -> Result<()> {
        let doing = "change a member of a collection";
        match (member, role) {
            (Member::User(user), Some(role)) => {
                let row = collection_users::ActiveModel {
                    collection_id: Set(id.as_uuid()),
                    user_id: Set(user.as_uuid()),
                    role: Set(role.name().to_owned()),
                };
                let key = [collection_users::Column::CollectionId, collection_users::Column::UserId];
                let replace =
                    OnConflict::columns(key).update_column(collection_users::Column::Role).to_owned();
                let insert = collection_users::Entity::insert(row).on_conflict(replace);
                self.insert_rows(doing, insert).await.map(drop)
            }
            (Member::Group(group), Some(role)) => {
                let row = collection_groups::ActiveModel {
                    collection_id: Set(id.as_uuid()),
                    group_id: Set(group.as_uuid()),
                    role: Set(role.name().to_owned()),
                };
                let key = [collection_groups::Column::CollectionId, collection_groups::Column::GroupId];
                let replace =
                    OnConflict::columns(key).update_column(collection_groups::Column::Role).to_owned();
                let insert = collection_groups::Entity::insert(row).on_conflict(replace);
                self.insert_rows(doing, insert).await.map(drop)
            }
            (Member::User(user), None) => self
                .delete_by_id::<collection_users::Entity>(doing, (id.as_uuid(), user.as_uuid()))
                .await
                .map(drop),
            (Member::Group(group), None) => self
                .delete_by_id::<collection_groups::Entity>(doing, (id.as_uuid(), group.as_uuid()))
                .await
                .map(drop),
        }
    }

    async fn set_metadata(&mut self, id: CollectionId, metadata: &CollectionMetadata) -> Result<()> {
        self.put_metadata(id, metadata).await
    }

    async fn put_file_batch(&mut self, batch: &FileBatch) -> Result<()> {
        self.put_batch(batch).await
    }

    async fn purge_file_batches(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.purge_batches(before, limit).await
    }

    async fn set_hidden(&mut self, user: UserId, id: CollectionId, is_hidden: bool) -> Result<()> {
        let (doing, key) = ("hide a collection", (user.as_uuid(), id.as_uuid()));
        if !is_hidden {
            return self.delete_by_id::<hidden_collections::Entity>(doing, key).await.map(drop);
        }
        let row = hidden_collections::ActiveModel { user_id: Set(key.0), collection_id: Set(key.1) };
        let columns = [hidden_collections::Column::UserId, hidden_collections::Column::CollectionId];
        let keep = OnConflict::columns(columns).do_nothing().to_owned();
        self.insert_rows(doing, hidden_collections::Entity::insert(row).on_conflict(keep)).await.map(drop)
    }
}

impl Transaction {
    /// The collections that a filter selects, in no order.
    fn selected(&self, filter: &CollectionFilter) -> Select<Entity> {
        Entity::find()
            .apply_if(filter.scope.as_ref().and_then(|scope| scope.collections()), |rows, readable| {
                rows.filter(conditions::is_readable(readable))
            })
            .apply_if(filter.name_contains.as_deref(), |rows, text| {
                rows.filter(contains(Expr::col(Column::Name), text, self.backend()))
            })
            .apply_if(filter.kind, |rows, kind| rows.filter(Column::Kind.eq(kind.name())))
    }

    /// The collections that a query of an account selects, in their order.
    async fn collections_of_account(&mut self, query: &AccountCollections) -> Result<Vec<Collection>> {
        let (doing, backend) = ("list collections of an account", self.backend());
        let Some(readable) = query.scope.collections() else { return Ok(Vec::new()) };
        let filter = CollectionFilter {
            scope: Some(query.scope.clone()),
            name_contains: query.name_contains.clone(),
            kind: None,
        };
        let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
        let is_open = query.after.as_ref().filter(|after| after.group == CollectionGroup::Open);
        // Everything but the open ones, whose number is limited.
        let own = readable.named().chain([CollectionId::EVERYONE]).map(CollectionId::as_uuid);
        let own = Column::Id.is_in(own);
        let mut found: Vec<Collection> = Vec::new();
        if is_open.is_none() {
            found = self.fetch_all(doing, self.selected(&filter).filter(own.clone())).await?;
            found.retain(|collection| query.after.as_ref().is_none_or(|of| query.position(collection) > *of));
            found.sort_by_cached_key(|collection| query.position(collection));
            found.truncate(limit);
        }
        if found.len() < limit && readable.has_open() {
            // Equal to the index of open collections by name.
            let name = || lower_name(backend);
            let rows = self.selected(&filter).filter(own.not()).filter(Column::RoleOfAll.is_not_null());
            let rows = rows.apply_if(is_open, |rows, after| {
                let position = [Expr::val(after.name.as_str()), Expr::val(after.id.as_uuid())];
                // SQLite uses the index of an expression only if the expression is compared alone.
                rows.filter(name().gte(after.name.as_str()))
                    .filter(Expr::tuple([name(), Expr::col(Column::Id)]).gt(Expr::tuple(position)))
            });
            let rows = rows.order_by(name(), Order::Asc).order_by_asc(Column::Id);
            let rows = rows.limit((limit - found.len()) as u64);
            found.extend(self.fetch_all::<Collection>(doing, rows).await?);
        }
        Ok(found)
    }

    /// Sizes of collections; those without members and documents are omitted.
    async fn sizes(&mut self, ids: &[Uuid]) -> Result<HashMap<Uuid, CollectionSize>> {
        use document_collections::Column as InCollection;
        let mut sizes: HashMap<Uuid, CollectionSize> = HashMap::new();
        let live = documents::Entity::find()
            .select_only()
            .column(documents::Column::Id)
            .filter(documents::Column::DeletedAt.is_null())
            .into_query();
        let documents = document_collections::Entity::find()
            .select_only()
            .column(InCollection::CollectionId)
            .column_as(InCollection::DocumentId.count(), "documents")
            .filter(InCollection::CollectionId.is_in(ids.iter().copied()))
            .filter(InCollection::DocumentId.in_subquery(live))
            .group_by(InCollection::CollectionId)
            .into_tuple::<(Uuid, i64)>();
        let documents = self.run("count documents of collections", |db| Box::pin(documents.all(db))).await?;
        for (id, count) in documents {
            sizes.entry(id).or_default().documents = counted(count, "count of documents")?;
        }
        let users = collection_users::Entity::find()
            .select_only()
            .column(collection_users::Column::CollectionId)
            .column_as(collection_users::Column::UserId.count(), "members")
            .filter(collection_users::Column::CollectionId.is_in(ids.iter().copied()))
            .group_by(collection_users::Column::CollectionId)
            .into_tuple::<(Uuid, i64)>();
        let mut members = self.run("count members of collections", |db| Box::pin(users.all(db))).await?;
        let groups = collection_groups::Entity::find()
            .select_only()
            .column(collection_groups::Column::CollectionId)
            .column_as(collection_groups::Column::GroupId.count(), "members")
            .filter(collection_groups::Column::CollectionId.is_in(ids.iter().copied()))
            .group_by(collection_groups::Column::CollectionId)
            .into_tuple::<(Uuid, i64)>();
        members.extend(self.run("count members of collections", |db| Box::pin(groups.all(db))).await?);
        for (id, count) in members {
            sizes.entry(id).or_default().members += counted::<u64>(count, "count of members")?;
        }
        Ok(sizes)
    }
}

fn ordered(rows: Select<Entity>, backend: DbBackend) -> Select<Entity> {
    rows.order_by_asc(Column::Kind).order_by(lower_name(backend), Order::Asc).order_by_asc(Column::Id)
}

/// The name, in lower case as far as it has ASCII letters, sorted by its bytes.
fn lower_name(backend: DbBackend) -> Expr {
    let name = match backend {
        DbBackend::Sqlite => Expr::col(Column::Name),
        _ => Expr::cust_with_expr("$1 COLLATE \"C\"", Expr::col(Column::Name)),
    };
    Func::lower(name).into()
}
