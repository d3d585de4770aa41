//! The statements that all tables share.

use super::record::Record;
use super::transaction::Transaction;
use docent_domain::fault::Result;
use sea_orm::sea_query::{IntoCondition, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DeleteMany, EntityTrait, Insert, InsertMany, PrimaryKeyTrait, QueryFilter,
    QuerySelect, QueryTrait, Select, UpdateMany,
};

impl Transaction {
    /// Reads a record, and locks it in a unit of work.
    pub(super) async fn fetch_one<R: Record>(
        &mut self,
        doing: &'static str,
        query: Select<R::Entity>,
    ) -> Result<Option<R>> {
        let query = self.for_update(query);
        let row = self.run(doing, |db| Box::pin(query.one(db))).await?;
        row.map(R::from_row).transpose()
    }

    /// Reads records without locking them.
    pub(super) async fn fetch_all<R: Record>(
        &mut self,
        doing: &'static str,
        query: Select<R::Entity>,
    ) -> Result<Vec<R>> {
        let rows = self.run(doing, |db| Box::pin(query.all(db))).await?;
        rows.into_iter().map(R::from_row).collect()
    }

    /// Inserts a record.
    pub(super) async fn insert_record<R: Record>(&mut self, doing: &'static str, record: &R) -> Result<()> {
        self.insert_rows(doing, <R::Entity>::insert(record.to_row()?)).await.map(drop)
    }

    /// Inserts a record; false if it conflicts with one that is stored. A unique violation is not caught, since
    /// PostgreSQL accepts no further statements after one.
    pub(super) async fn insert_new<R: Record>(
        &mut self,
        doing: &'static str,
        record: &R,
        mut conflict: OnConflict,
    ) -> Result<bool> {
        conflict.do_nothing();
        let insert = <R::Entity>::insert(record.to_row()?).on_conflict(conflict);
        Ok(self.insert_rows(doing, insert).await? > 0)
    }

    /// Runs an insert and returns the number of rows.
    pub(super) async fn insert_rows<A: ActiveModelTrait + Send + 'static>(
        &mut self,
        doing: &'static str,
        insert: Insert<A>,
    ) -> Result<u64> {
        self.run(doing, |db| Box::pin(insert.exec_without_returning(db))).await
    }

    /// Runs an insert of any number of rows, none included.
    pub(super) async fn insert_many_rows<A: ActiveModelTrait + Send + 'static>(
        &mut self,
        doing: &'static str,
        insert: InsertMany<A>,
    ) -> Result<()> {
        self.run(doing, |db| Box::pin(insert.exec_without_returning(db))).await.map(drop)
    }

    /// Runs an update and returns the number of rows.
    pub(super) async fn update_rows<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        update: UpdateMany<E>,
    ) -> Result<u64> {
        Ok(self.run(doing, |db| Box::pin(update.exec(db))).await?.rows_affected)
    }

    /// Runs a deletion and returns the number of rows.
    pub(super) async fn delete_rows<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        delete: DeleteMany<E>,
    ) -> Result<u64> {
        Ok(self.run(doing, |db| Box::pin(delete.exec(db))).await?.rows_affected)
    }

    /// Deletes a row; returns whether it existed.
    pub(super) async fn delete_by_id<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        id: impl Into<<E::PrimaryKey as PrimaryKeyTrait>::ValueType>,
    ) -> Result<bool> {
        let delete = E::delete_by_id(id);
        Ok(self.run(doing, |db| Box::pin(delete.exec(db))).await?.rows_affected > 0)
    }

    /// Deletes at most `limit` rows that match and returns their number.
    pub(super) async fn purge<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        id: E::Column,
        expired: impl IntoCondition,
        limit: u64,
    ) -> Result<u64> {
        let some = E::find().select_only().column(id).filter(expired).limit(limit).into_query();
        self.delete_rows(doing, E::delete_many().filter(id.in_subquery(some))).await
    }
}
