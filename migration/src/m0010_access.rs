//! Groups, what accounts are allowed, and the orders of the lists that staff read.

use crate::columns::{count, id, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{string_len, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in [instant_null("email_verified_at"), count("sessions_from")] {
            manager.alter_table(Table::alter().table("users").add_column(column).take()).await?;
        }
        for table in [groups(), group_permissions(), user_permissions(), user_groups()] {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        let orders = match manager.get_database_backend() {
            DbBackend::Sqlite => SQLITE_ORDERS,
            _ => POSTGRES_ORDERS,
        };
        manager.get_connection().execute_unprepared(orders).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, table) in ORDERS {
            manager.drop_index(Index::drop().name(name).table(table).to_owned()).await?;
        }
        for table in ["user_groups", "user_permissions", "group_permissions", "groups"] {
            manager.drop_table(Table::drop().table(table).take()).await?;
        }
        for column in ["sessions_from", "email_verified_at"] {
            manager.alter_table(Table::alter().table("users").drop_column(column).take()).await?;
        }
        Ok(())
    }
}

/// The indexes on tables of earlier steps.
const ORDERS: [(&str, &str); 5] = [
    ("documents_title_idx", "documents"),
    ("documents_file_bytes_idx", "documents"),
    ("users_created_at_idx", "users"),
    ("users_last_login_at_idx", "users"),
    ("jobs_updated_at_idx", "jobs"),
];

fn groups() -> TableCreateStatement {
    Table::create()
        .table("groups")
        .col(id("id").primary_key())
        .col(string_len("name", 150))
        // The name in lower case, by which names are compared and sorted.
        .col(text("name_key"))
        .col(instant("created_at"))
        .take()
}

fn group_permissions() -> TableCreateStatement {
    Table::create()
        .table("group_permissions")
        .col(id("group_id"))
        .col(string_len("permission", 100))
        .primary_key(Index::create().col("group_id").col("permission"))
        .foreign_key(&mut owned_by("group_permissions", "group_id", "groups"))
        .take()
}

fn user_permissions() -> TableCreateStatement {
    Table::create()
        .table("user_permissions")
        .col(id("user_id"))
        .col(string_len("permission", 100))
        .primary_key(Index::create().col("user_id").col("permission"))
        .foreign_key(&mut owned_by("user_permissions", "user_id", "users"))
        .take()
}

fn user_groups() -> TableCreateStatement {
    Table::create()
        .table("user_groups")
        .col(id("user_id"))
        .col(id("group_id"))
        .primary_key(Index::create().col("user_id").col("group_id"))
        .foreign_key(&mut owned_by("user_groups", "user_id", "users"))
        .foreign_key(&mut owned_by("user_groups", "group_id", "groups"))
        .take()
}

/// Rows that go when the record that they belong to goes.
pub(crate) fn owned_by(
    table: &'static str,
    column: &'static str,
    owner: &'static str,
) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("{table}_{column}_fkey"))
        .from(table, column)
        .to(owner, "id")
        .on_delete(ForeignKeyAction::Cascade)
        .take()
}

fn indexes() -> [IndexCreateStatement; 4] {
    let index = |name: &'static str, table: &'static str| Index::create().name(name).table(table).take();
    [
        index("groups_name_key", "groups").col("name_key").unique().take(),
        // The members of a group.
        index("user_groups_group_id_idx", "user_groups").col("group_id").take(),
        index("users_created_at_idx", "users").col("created_at").col("id").take(),
        index("jobs_updated_at_idx", "jobs").col("updated_at").col("id").take(),
    ]
}

/// The orders by text, and those with nothing at the end, which databases understand in different ways.
const SQLITE_ORDERS: &str = "\
CREATE INDEX documents_title_idx ON documents (title, id) WHERE deleted_at IS NULL;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes, id) WHERE deleted_at IS NULL;\
CREATE INDEX users_last_login_at_idx ON users (last_login_at, id);";

const POSTGRES_ORDERS: &str = "\
CREATE INDEX documents_title_idx ON documents (title COLLATE \"C\", id) WHERE deleted_at IS NULL;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes DESC NULLS LAST, id DESC) \
WHERE deleted_at IS NULL;\
CREATE INDEX users_last_login_at_idx ON users (last_login_at DESC NULLS LAST, id DESC);";
