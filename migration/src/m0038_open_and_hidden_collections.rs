//! The version of the collections that are open to all, and the collections that accounts have hidden.
//!
//! Each request depends on the open collections, and there can be many. Processes keep them as of a version, which
//! triggers replace by another random one with each change, also by processes of the release before.

use crate::change::{Change, Sql};
use crate::table::{NewTable, id, table};

pub(crate) fn changes() -> Vec<Change> {
    vec![
        Change::CreateTable(hidden_collections()),
        Change::CreateTable(table("open_collections").columns([id("version").primary_key().take()])),
        Change::Execute {
            apply: Sql { sqlite: SQLITE_TRIGGERS, postgres: POSTGRES_TRIGGERS },
            revert: Sql { sqlite: SQLITE_NO_TRIGGERS, postgres: POSTGRES_NO_TRIGGERS },
        },
        Change::Execute {
            apply: Sql { sqlite: SQLITE_INDEX, postgres: POSTGRES_INDEX },
            revert: Sql { sqlite: NO_INDEX, postgres: NO_INDEX },
        },
    ]
}

fn hidden_collections() -> NewTable {
    table("hidden_collections")
        .columns([id("user_id"), id("collection_id")])
        .primary_key(&["user_id", "collection_id"])
        .owned_by("user_id", "users")
        .owned_by("collection_id", "collections")
        .index("hidden_collections_collection_id_idx", &["collection_id"])
}

const SQLITE_TRIGGERS: &str = "\
INSERT INTO open_collections (version) VALUES (randomblob(16));\
CREATE TRIGGER collections_open_insert AFTER INSERT ON collections WHEN NEW.role_of_all IS NOT NULL \
BEGIN UPDATE open_collections SET version = randomblob(16); END;\
CREATE TRIGGER collections_open_update AFTER UPDATE OF id, role_of_all ON collections \
WHEN OLD.role_of_all IS NOT NEW.role_of_all OR OLD.id IS NOT NEW.id \
BEGIN UPDATE open_collections SET version = randomblob(16); END;\
CREATE TRIGGER collections_open_delete AFTER DELETE ON collections WHEN OLD.role_of_all IS NOT NULL \
BEGIN UPDATE open_collections SET version = randomblob(16); END;";

const SQLITE_NO_TRIGGERS: &str = "\
DROP TRIGGER collections_open_insert;\
DROP TRIGGER collections_open_update;\
DROP TRIGGER collections_open_delete;";

const POSTGRES_TRIGGERS: &str = "\
INSERT INTO open_collections (version) VALUES (gen_random_uuid());\
CREATE FUNCTION open_collections_change() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN UPDATE open_collections SET version = gen_random_uuid(); RETURN NULL; END $$;\
CREATE TRIGGER collections_open_insert AFTER INSERT ON collections \
FOR EACH ROW WHEN (NEW.role_of_all IS NOT NULL) EXECUTE FUNCTION open_collections_change();\
CREATE TRIGGER collections_open_update AFTER UPDATE OF id, role_of_all ON collections \
FOR EACH ROW WHEN (OLD.role_of_all IS DISTINCT FROM NEW.role_of_all OR OLD.id IS DISTINCT FROM NEW.id) \
EXECUTE FUNCTION open_collections_change();\
CREATE TRIGGER collections_open_delete AFTER DELETE ON collections \
FOR EACH ROW WHEN (OLD.role_of_all IS NOT NULL) EXECUTE FUNCTION open_collections_change();";

const POSTGRES_NO_TRIGGERS: &str = "\
DROP TRIGGER collections_open_insert ON collections;\
DROP TRIGGER collections_open_update ON collections;\
DROP TRIGGER collections_open_delete ON collections;\
DROP FUNCTION open_collections_change;";

// The order of the list of open collections.
const SQLITE_INDEX: &str =
    "CREATE INDEX collections_open_name_idx ON collections (lower(name), id) WHERE role_of_all IS NOT NULL";
const POSTGRES_INDEX: &str = "CREATE INDEX collections_open_name_idx ON collections \
(lower(name COLLATE \"C\"), id) WHERE role_of_all IS NOT NULL";
const NO_INDEX: &str = "DROP INDEX collections_open_name_idx";
