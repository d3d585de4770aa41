//! Groups, permissions, and indexes for sorted lists.

use crate::change::{Change, Sql};
use crate::table::{NewTable, count, id, index, instant, instant_null, primary_id, table};
use sea_orm_migration::schema::{string_len, text};

pub(crate) fn changes() -> Vec<Change> {
    let [groups, group_permissions, user_permissions, user_groups] = tables();
    vec![
        Change::AddColumn { table: "users", column: instant_null("email_verified_at") },
        Change::AddColumn { table: "users", column: count("sessions_from") },
        Change::CreateTable(groups),
        Change::CreateTable(group_permissions),
        Change::CreateTable(user_permissions),
        Change::CreateTable(user_groups),
        Change::CreateIndex(index("users_created_at_idx", "users", &["created_at", "id"])),
        Change::CreateIndex(index("jobs_updated_at_idx", "jobs", &["updated_at", "id"])),
        Change::Execute {
            apply: Sql { sqlite: SQLITE_ORDERS, postgres: POSTGRES_ORDERS },
            revert: Sql { sqlite: DROP_ORDERS, postgres: DROP_ORDERS },
        },
    ]
}

fn tables() -> [NewTable; 4] {
    let groups = table("groups")
        .columns([
            primary_id(),
            string_len("name", 150),
            // The name in lower case: the unique key and the sort key.
            text("name_key"),
            instant("created_at"),
        ])
        .unique("groups_name_key", &["name_key"]);
    let group_permissions = table("group_permissions")
        .columns([id("group_id"), string_len("permission", 100)])
        .primary_key(&["group_id", "permission"])
        .owned_by("group_id", "groups");
    let user_permissions = table("user_permissions")
        .columns([id("user_id"), string_len("permission", 100)])
        .primary_key(&["user_id", "permission"])
        .owned_by("user_id", "users");
    let user_groups = table("user_groups")
        .columns([id("user_id"), id("group_id")])
        .primary_key(&["user_id", "group_id"])
        .owned_by("user_id", "users")
        .owned_by("group_id", "groups")
        // Members of a group.
        .index("user_groups_group_id_idx", &["group_id"]);
    [groups, group_permissions, user_permissions, user_groups]
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

const DROP_ORDERS: &str = "\
DROP INDEX documents_title_idx;\
DROP INDEX documents_file_bytes_idx;\
DROP INDEX users_last_login_at_idx;";
