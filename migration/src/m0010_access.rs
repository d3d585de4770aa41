//! Groups, permissions, and indexes for sorted lists.

use crate::steps::{
    add_columns, count, create, drop_columns, drop_index, drop_tables, id, in_transaction, index, instant,
    instant_null, owned_by,
};
use sea_orm_migration::{
    prelude::*,
    schema::{string_len, text},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        add_columns(manager, "users", [instant_null("email_verified_at"), count("sessions_from")]).await?;
        create(manager, [groups(), group_permissions(), user_permissions(), user_groups()], indexes())
            .await?;
        let orders = match manager.get_database_backend() {
            DbBackend::Sqlite => SQLITE_ORDERS,
            _ => POSTGRES_ORDERS,
        };
        manager.get_connection().execute_unprepared(orders).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (name, table) in ORDERS {
            drop_index(manager, name, table).await?;
        }
        drop_tables(manager, &["user_groups", "user_permissions", "group_permissions", "groups"]).await?;
        drop_columns(manager, "users", &["sessions_from", "email_verified_at"]).await
    }
}

/// Indexes on tables of earlier migrations.
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
        // The name in lower case: the unique key and the sort key.
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

fn indexes() -> [IndexCreateStatement; 4] {
    [
        index("groups_name_key", "groups", &["name_key"]).unique().take(),
        // Members of a group.
        index("user_groups_group_id_idx", "user_groups", &["group_id"]),
        index("users_created_at_idx", "users", &["created_at", "id"]),
        index("jobs_updated_at_idx", "jobs", &["updated_at", "id"]),
    ]
}

/// Indexes whose collation or null order differs between the databases.
const SQLITE_ORDERS: &str = "\
CREATE INDEX documents_title_idx ON documents (title, id) WHERE deleted_at IS NULL;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes, id) WHERE deleted_at IS NULL;\
CREATE INDEX users_last_login_at_idx ON users (last_login_at, id);";

const POSTGRES_ORDERS: &str = "\
CREATE INDEX documents_title_idx ON documents (title COLLATE \"C\", id) WHERE deleted_at IS NULL;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes DESC NULLS LAST, id DESC) \
WHERE deleted_at IS NULL;\
CREATE INDEX users_last_login_at_idx ON users (last_login_at DESC NULLS LAST, id DESC);";
