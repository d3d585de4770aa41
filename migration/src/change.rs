//! The changes that migrations consist of, each of which can be reverted.

use crate::table::NewTable;
use sea_orm_migration::prelude::{
    ColumnDef, DbErr, Index, IndexCreateStatement, MigrationName, MigrationTrait, SchemaManager, Table,
    async_trait,
};
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

/// A migration that applies changes in their order, and reverts them in the reverse order.
pub(crate) struct Migration {
    /// The name of its module.
    pub(crate) name: &'static str,
    pub(crate) changes: fn() -> Vec<Change>,
}

/// A change of the schema.
pub(crate) enum Change {
    CreateTable(NewTable),
    AddColumn { table: &'static str, column: ColumnDef },
    CreateIndex(IndexCreateStatement),
    DropIndex(IndexCreateStatement),
    Execute { apply: Sql, revert: Sql },
}

/// Statements whose text differs between the databases.
pub(crate) struct Sql {
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

impl MigrationName for Migration {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    /// One transaction, also on SQLite.
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for change in (self.changes)() {
            change.apply(manager).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for change in (self.changes)().into_iter().rev() {
            change.revert(manager).await?;
        }
        Ok(())
    }
}

impl Change {
    async fn apply(self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        match self {
            Self::CreateTable(table) => table.create(manager).await,
            Self::AddColumn { table, column } => {
                manager.alter_table(Table::alter().table(table).add_column(column).take()).await
            }
            Self::CreateIndex(index) => manager.create_index(index).await,
            Self::DropIndex(index) => drop_index(manager, &index).await,
            Self::Execute { apply, .. } => apply.execute(manager).await,
        }
    }

    async fn revert(self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        match self {
            // Drops its indexes and triggers too.
            Self::CreateTable(table) => manager.drop_table(Table::drop().table(table.name).take()).await,
            Self::AddColumn { table, column } => {
                let column = column.get_column_name();
                manager.alter_table(Table::alter().table(table).drop_column(column).take()).await
            }
            Self::CreateIndex(index) => drop_index(manager, &index).await,
            Self::DropIndex(index) => manager.create_index(index).await,
            Self::Execute { revert, .. } => revert.execute(manager).await,
        }
    }
}

async fn drop_index(manager: &SchemaManager<'_>, index: &IndexCreateStatement) -> Result<(), DbErr> {
    let name = index.get_index_spec().get_name().unwrap_or_default();
    manager.drop_index(Index::drop().name(name).to_owned()).await
}

impl Sql {
    async fn execute(self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        let statements = match manager.get_database_backend() {
            DbBackend::Sqlite => self.sqlite,
            _ => self.postgres,
        };
        manager.get_connection().execute_unprepared(statements).await.map(drop)
    }
}
