//! Collections of documents, who may use them, and attributes of documents.
//!
//! A document's row lists its collections; triggers keep `document_collections`, by which documents are found, equal to
//! these lists, and create the personal collection of each account. They also work for the release before, which does not
//! know collections: its documents are in the collection of everyone.

use crate::change::{Change, Sql};
use crate::table::{NewTable, count, id, id_null, index, instant, primary_id, table};
use sea_orm_migration::prelude::{ColumnDef, ConditionalStatement, Expr, ExprTrait, ForeignKeyAction};
use sea_orm_migration::schema::{big_integer, json_binary, string_len, string_len_null, text_null};

pub(crate) fn changes() -> Vec<Change> {
    let add = |table, column| Change::AddColumn { table, column };
    let stale = index("documents_stale_labels_idx", "documents", &["id"])
        .cond_where(Expr::col("indexed_labels").ne(Expr::col("labels_revision")))
        .take();
    vec![
        Change::CreateTable(collections()),
        Change::CreateTable(members("collection_users", "user_id", "users", "collection_users_user_id_idx")),
        Change::CreateTable(members(
            "collection_groups",
            "group_id",
            "groups",
            "collection_groups_group_id_idx",
        )),
        Change::CreateTable(document_collections()),
        // JSON array of IDs.
        add("documents", json("collections", "[\"00000000-0000-0000-0000-000000000001\"]")),
        add("documents", json("attributes", "{}")),
        add("documents", big_integer("labels_revision").default(1).take()),
        // Revision that the vector store has; 0 for none.
        add("documents", count("indexed_labels")),
        Change::CreateIndex(stale),
        // JSON array of IDs; null for all.
        add("api_keys", text_null("collections")),
        Change::Execute {
            apply: Sql { sqlite: SQLITE_ROWS, postgres: POSTGRES_ROWS },
            revert: Sql { sqlite: SQLITE_NO_TRIGGERS, postgres: POSTGRES_NO_TRIGGERS },
        },
    ]
}

fn collections() -> NewTable {
    table("collections")
        .columns([
            primary_id(),
            string_len("kind", 10),
            string_len("name", 150),
            string_len("description", 1000),
            id_null("owner_id"),
            string_len_null("role_of_all", 20),
            instant("created_at"),
            instant("updated_at"),
        ])
        .check("kind IN ('everyone', 'personal', 'shared')")
        .references("owner_id", "users", ForeignKeyAction::SetNull)
        .index("collections_owner_id_idx", &["owner_id"])
}

fn members(name: &'static str, member: &'static str, target: &'static str, index: &'static str) -> NewTable {
    table(name)
        .columns([id("collection_id"), id(member), string_len("role", 20)])
        .primary_key(&["collection_id", member])
        .owned_by("collection_id", "collections")
        .owned_by(member, target)
        .index(index, &[member])
}

fn document_collections() -> NewTable {
    table("document_collections")
        .columns([id("document_id"), id("collection_id")])
        .primary_key(&["document_id", "collection_id"])
        .owned_by("document_id", "documents")
        .references("collection_id", "collections", ForeignKeyAction::Restrict)
        .index("document_collections_collection_id_idx", &["collection_id"])
}

fn json(name: &'static str, default: &'static str) -> ColumnDef {
    json_binary(name).default(default).take()
}

// IDs are blobs of 16 bytes in columns, and text in JSON.
const SQLITE_ROWS: &str = "\
INSERT INTO collections (id, kind, name, description, owner_id, role_of_all, created_at, updated_at) \
VALUES (x'00000000000000000000000000000001', 'everyone', 'Everyone', '', NULL, 'contributor', 0, 0);\
INSERT INTO collections (id, kind, name, description, owner_id, role_of_all, created_at, updated_at) \
SELECT id, 'personal', 'Personal', '', id, NULL, created_at, created_at FROM users;\
INSERT INTO document_collections (document_id, collection_id) \
SELECT id, x'00000000000000000000000000000001' FROM documents;\
CREATE TRIGGER users_personal_collection AFTER INSERT ON users \
BEGIN INSERT OR IGNORE INTO collections (id, kind, name, description, owner_id, role_of_all, created_at, updated_at) \
VALUES (NEW.id, 'personal', 'Personal', '', NEW.id, NULL, NEW.created_at, NEW.created_at); END;\
CREATE TRIGGER documents_collections_insert AFTER INSERT ON documents \
BEGIN INSERT INTO document_collections (document_id, collection_id) \
SELECT NEW.id, unhex(value, '-') FROM json_each(NEW.collections); END;\
CREATE TRIGGER documents_collections_update AFTER UPDATE OF collections ON documents \
WHEN OLD.collections IS NOT NEW.collections \
BEGIN DELETE FROM document_collections WHERE document_id = NEW.id; \
INSERT INTO document_collections (document_id, collection_id) \
SELECT NEW.id, unhex(value, '-') FROM json_each(NEW.collections); END;";

const SQLITE_NO_TRIGGERS: &str = "\
DROP TRIGGER users_personal_collection;\
DROP TRIGGER documents_collections_insert;\
DROP TRIGGER documents_collections_update;";

const POSTGRES_ROWS: &str = "\
INSERT INTO collections (id, kind, name, description, owner_id, role_of_all, created_at, updated_at) \
VALUES ('00000000-0000-0000-0000-000000000001', 'everyone', 'Everyone', '', NULL, 'contributor', 0, 0);\
INSERT INTO collections (id, kind, name, description, owner_id, role_of_all, created_at, updated_at) \
SELECT id, 'personal', 'Personal', '', id, NULL, created_at, created_at FROM users;\
INSERT INTO document_collections (document_id, collection_id) \
SELECT id, '00000000-0000-0000-0000-000000000001' FROM documents;\
CREATE FUNCTION users_personal_collection() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN INSERT INTO collections (id, kind, name, description, owner_id, role_of_all, created_at, updated_at) \
VALUES (NEW.id, 'personal', 'Personal', '', NEW.id, NULL, NEW.created_at, NEW.created_at) ON CONFLICT DO NOTHING; \
RETURN NULL; END $$;\
CREATE TRIGGER users_personal_collection AFTER INSERT ON users \
FOR EACH ROW EXECUTE FUNCTION users_personal_collection();\
CREATE FUNCTION documents_collections() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN DELETE FROM document_collections WHERE document_id = NEW.id; \
INSERT INTO document_collections (document_id, collection_id) \
SELECT NEW.id, value::uuid FROM jsonb_array_elements_text(NEW.collections); RETURN NULL; END $$;\
CREATE TRIGGER documents_collections_insert AFTER INSERT ON documents \
FOR EACH ROW EXECUTE FUNCTION documents_collections();\
CREATE TRIGGER documents_collections_update AFTER UPDATE OF collections ON documents \
FOR EACH ROW WHEN (OLD.collections IS DISTINCT FROM NEW.collections) EXECUTE FUNCTION documents_collections();";

const POSTGRES_NO_TRIGGERS: &str = "\
DROP TRIGGER users_personal_collection ON users;\
DROP FUNCTION users_personal_collection;\
DROP TRIGGER documents_collections_insert ON documents;\
DROP TRIGGER documents_collections_update ON documents;\
DROP FUNCTION documents_collections;";
