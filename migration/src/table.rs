//! New tables with their columns, constraints and indexes.

use sea_orm_migration::prelude::{
    ColumnDef, DbErr, Expr, ForeignKey, ForeignKeyAction, Index, IndexCreateStatement, IntoIden,
    SchemaManager, Table, TableCreateStatement,
};
use sea_orm_migration::schema;

/// A table to create.
pub(crate) struct NewTable {
    pub(crate) name: &'static str,
    statement: TableCreateStatement,
    indexes: Vec<IndexCreateStatement>,
}

/// A table without columns.
pub(crate) fn table(name: &'static str) -> NewTable {
    NewTable { name, statement: Table::create().table(name).take(), indexes: Vec::new() }
}

impl NewTable {
    /// Creates the table and then its indexes.
    pub(crate) async fn create(self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        manager.create_table(self.statement).await?;
        for index in self.indexes {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    /// Adds columns.
    pub(crate) fn columns(mut self, columns: impl IntoIterator<Item = ColumnDef>) -> Self {
        for column in columns {
            self.statement.col(column);
        }
        self
    }

    /// Makes these columns the primary key.
    pub(crate) fn primary_key(mut self, columns: &[&'static str]) -> Self {
        let mut key = Index::create();
        for column in columns {
            key.col(*column);
        }
        self.statement.primary_key(&mut key);
        self
    }

    /// Adds a check.
    pub(crate) fn check(mut self, condition: &'static str) -> Self {
        self.statement.check(Expr::cust(condition));
        self
    }

    /// Adds a foreign key to the column `id` of `target`.
    pub(crate) fn references(
        mut self,
        column: &'static str,
        target: &'static str,
        on_delete: ForeignKeyAction,
    ) -> Self {
        let mut key = ForeignKey::create()
            .name(format!("{}_{column}_fkey", self.name))
            .from(self.name, column)
            .to(target, "id")
            .on_delete(on_delete)
            .take();
        self.statement.foreign_key(&mut key);
        self
    }

    /// Adds a foreign key of rows that are deleted with the record they belong to.
    pub(crate) fn owned_by(self, column: &'static str, owner: &'static str) -> Self {
        self.references(column, owner, ForeignKeyAction::Cascade)
    }

    /// Adds an index.
    pub(crate) fn index(self, name: &'static str, columns: &[&'static str]) -> Self {
        let index = index(name, self.name, columns);
        self.with_index(index)
    }

    /// Adds a unique index.
    pub(crate) fn unique(self, name: &'static str, columns: &[&'static str]) -> Self {
        let index = index(name, self.name, columns).unique().take();
        self.with_index(index)
    }

    /// Adds an index of another kind.
    pub(crate) fn with_index(mut self, index: IndexCreateStatement) -> Self {
        self.indexes.push(index);
        self
    }
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

/// The id of a record.
pub(crate) fn primary_id() -> ColumnDef {
    id("id").primary_key().take()
}

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

/// A truth value.
pub(crate) fn flag(name: impl IntoIden, default: bool) -> ColumnDef {
    schema::boolean(name).default(default).take()
}
