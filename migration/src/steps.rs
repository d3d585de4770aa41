//! Column types and statements that the migrations share.

use sea_orm_migration::{
    prelude::{
        ColumnDef, DbErr, ForeignKey, ForeignKeyAction, ForeignKeyCreateStatement, Index,
        IndexCreateStatement, IntoIden, SchemaManager, Table, TableCreateStatement,
    },
    schema,
};

/// Runs a migration in one transaction, also on SQLite.
macro_rules! in_transaction {
    () => {
        fn use_transaction(&self) -> Option<bool> {
            Some(true)
        }
    };
}

pub(crate) use in_transaction;

/// An id.
pub(crate) fn id(name: impl IntoIden) -> ColumnDef {
    schema::uuid(name)
}

/// An id or null.
pub(crate) fn id_null(name: impl IntoIden) -> ColumnDef {
    schema::uuid_null(name)
}

/// Microseconds since 1970-01-01T00:00:00Z.
pub(crate) fn instant(name: impl IntoIden) -> ColumnDef {
    schema::big_integer(name)
}

/// Microseconds since 1970-01-01T00:00:00Z, or null.
pub(crate) fn instant_null(name: impl IntoIden) -> ColumnDef {
    schema::big_integer_null(name)
}

/// A number that is never negative; 0 by default.
pub(crate) fn count(name: impl IntoIden) -> ColumnDef {
    schema::big_integer(name).default(0).take()
}

/// A foreign key to the column `id` of `target`.
pub(crate) fn reference(
    table: &'static str,
    column: &'static str,
    target: &'static str,
    on_delete: ForeignKeyAction,
) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("{table}_{column}_fkey"))
        .from(table, column)
        .to(target, "id")
        .on_delete(on_delete)
        .take()
}

/// A foreign key of rows that are deleted with the record they belong to.
pub(crate) fn owned_by(
    table: &'static str,
    column: &'static str,
    owner: &'static str,
) -> ForeignKeyCreateStatement {
    reference(table, column, owner, ForeignKeyAction::Cascade)
}

/// An index on columns of a table.
pub(crate) fn index(
    name: &'static str,
    table: &'static str,
    columns: &[&'static str],
) -> IndexCreateStatement {
    let mut index = Index::create().name(name).table(table).take();
    for column in columns {
        index.col(*column);
    }
    index
}

/// Creates tables and then indexes.
pub(crate) async fn create(
    manager: &SchemaManager<'_>,
    tables: impl IntoIterator<Item = TableCreateStatement>,
    indexes: impl IntoIterator<Item = IndexCreateStatement>,
) -> Result<(), DbErr> {
    for table in tables {
        manager.create_table(table).await?;
    }
    for index in indexes {
        manager.create_index(index).await?;
    }
    Ok(())
}

/// Drops tables with their indexes.
pub(crate) async fn drop_tables(manager: &SchemaManager<'_>, names: &[&'static str]) -> Result<(), DbErr> {
    for name in names {
        manager.drop_table(Table::drop().table(*name).take()).await?;
    }
    Ok(())
}

/// Drops an index.
pub(crate) async fn drop_index(
    manager: &SchemaManager<'_>,
    name: &'static str,
    table: &'static str,
) -> Result<(), DbErr> {
    manager.drop_index(Index::drop().name(name).table(table).to_owned()).await
}

/// Adds columns to a table.
pub(crate) async fn add_columns(
    manager: &SchemaManager<'_>,
    table: &'static str,
    columns: impl IntoIterator<Item = ColumnDef>,
) -> Result<(), DbErr> {
    for column in columns {
        manager.alter_table(Table::alter().table(table).add_column(column).take()).await?;
    }
    Ok(())
}

/// Drops columns of a table.
pub(crate) async fn drop_columns(
    manager: &SchemaManager<'_>,
    table: &'static str,
    names: &[&'static str],
) -> Result<(), DbErr> {
    for name in names {
        manager.alter_table(Table::alter().table(table).drop_column(*name).take()).await?;
    }
    Ok(())
}
