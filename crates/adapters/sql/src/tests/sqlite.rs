//! Tests that need an SQLite file.

use super::super::documents::{has_version, ingested_in};
use super::super::entities::documents::Column;
use super::super::transaction::Transaction;
use super::super::writing;
use super::{SqlOptions, SqlStore, fresh, open, open_with};
use docent_domain::access::Actor;
use docent_domain::collection::{CollectionRole, Member};
use docent_domain::document::Document;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::scope::{AccountRoles, Scope};
use docent_migration::{Migrator, MigratorTrait, SchemaState};
use docent_ports::store::Store;
use docent_testkit::builders::{collection, document, id, job, user};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, QueryFilter, QuerySelect, QueryTrait, Statement,
};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

async fn migrated() -> (SqlStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    store.migrate().await.unwrap();
    (store, folder)
}

async fn rows(db: &DatabaseConnection, sql: &str, column: &str) -> Vec<String> {
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get("", column).unwrap()).collect()
}

async fn add(store: &SqlStore, n: u32) -> Result<(), Fault> {
    let mut unit = store.begin().await?;
    unit.documents().insert(&document(n)).await?;
    unit.jobs().insert(&job(n, document(n).id)).await?;
    unit.commit().await
}

#[tokio::test]
async fn committed_records_survive_the_process() {
    let (store, folder) = migrated().await;
    add(&store, 1).await.unwrap();
    store.close().await.unwrap();
    assert!(store.check().await.is_err());
    let store = open(&folder).await;
    assert_eq!(store.schema_state().await.unwrap(), SchemaState::Current);
    let found = store.read().await.unwrap().documents().get(id(1)).await.unwrap();
    assert_eq!(found, Some(document(1)));
}

#[tokio::test]
async fn lock_of_another_process_is_found_unless_a_write_succeeded_since() {
    let (store, folder) = migrated().await;
    store.check_writable().await.unwrap();
    store.close().await.unwrap();
    let impatient = SqlOptions { busy_timeout: Duration::ZERO, ..SqlOptions::default() };
    let (store, other) = (open_with(&folder, impatient).await, open(&folder).await);
    let lock = other.begin().await.unwrap();
    store.check().await.unwrap();
    assert_eq!(store.check_writable().await.unwrap_err().kind(), FaultKind::Timeout);
    drop(lock);
    other.close().await.unwrap();
    store.check_writable().await.unwrap();
    let other = open(&folder).await;
    let _lock = other.begin().await.unwrap();
    store.check_writable().await.expect("no second probe so soon");
}

#[tokio::test]
async fn check_fails_after_database_file_is_removed_or_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("here.db");
    let store = SqlStore::connect(&SqlStore::sqlite_url(&path), SqlOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    store.check().await.unwrap();
    let aside = folder.path().join("aside.db");
    std::fs::rename(&path, &aside).unwrap();
    let fault = store.check().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unavailable);
    assert!(fault.report().contains("was removed"), "{fault}");
    std::fs::copy(&aside, &path).unwrap();
    let fault = store.check().await.unwrap_err();
    assert!(fault.report().contains("was replaced"), "{fault}");
    std::fs::rename(&aside, &path).unwrap();
    store.check().await.unwrap();
}

#[tokio::test]
async fn version_names_the_database() {
    let (store, _folder) = migrated().await;
    let version = store.version().await.unwrap().unwrap();
    assert!(version.starts_with("SQLite 3."), "{version}");
}

#[tokio::test]
async fn connections_sync_commits_and_enforce_foreign_keys() {
    let (store, _folder) = migrated().await;
    for db in [&store.write.connections, &store.read.connections] {
        let pragma = async |sql: &str| {
            let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
            row.unwrap().try_get_by_index::<i64>(0).unwrap()
        };
        const FULL: i64 = 2;
        assert_eq!(pragma("PRAGMA synchronous").await, FULL);
        assert_eq!(pragma("PRAGMA foreign_keys").await, 1);
        assert_eq!(rows(db, "PRAGMA journal_mode", "journal_mode").await, ["wal"]);
    }
}

#[tokio::test]
async fn read_connections_cannot_write() {
    let (store, _folder) = migrated().await;
    assert!(store.read.connections.execute_unprepared("DELETE FROM users").await.is_err());
    store.write.connections.execute_unprepared("DELETE FROM users").await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn database_files_are_private_to_owner() {
    use std::os::unix::fs::PermissionsExt;
    let (store, folder) = migrated().await;
    add(&store, 1).await.unwrap();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.file_name());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["docent.db", "docent.db-shm", "docent.db-wal"]);
}

#[tokio::test]
async fn path_with_special_characters_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("50% of #1? größe.db");
    let store = SqlStore::connect(&SqlStore::sqlite_url(&path), SqlOptions::default()).await.unwrap();
    store.migrate().await.unwrap();
    assert!(path.is_file());
}

#[tokio::test]
async fn invalid_url_fails_with_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display();
    for (url, kind, says) in [
        ("mysql://root:secret@db/docent".to_owned(), FaultKind::Rejected, "not `mysql:`"),
        ("docent.db".to_owned(), FaultKind::Rejected, "starts with `sqlite://` or `postgres://`"),
        ("sqlite::memory:".to_owned(), FaultKind::Rejected, "names no file"),
        ("sqlite://:memory:".to_owned(), FaultKind::Rejected, "names no file"),
        ("sqlite://".to_owned(), FaultKind::Rejected, "names no file"),
        (format!("sqlite://{path}/x.db?mode=memory"), FaultKind::Rejected, "no parameters"),
        (format!("sqlite://{path}/missing/x.db"), FaultKind::Unavailable, "missing/x.db"),
        (format!("sqlite://{path}"), FaultKind::Unavailable, "open"),
    ] {
        let fault = SqlStore::connect(&url, SqlOptions::default()).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::Database, kind), "{url}: {fault}");
        assert!(fault.report().contains(says), "{url}: {fault}");
        assert!(!fault.report().contains("secret"), "{fault}");
    }
}

#[tokio::test]
async fn foreign_file_is_rejected_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docent.db");
    let text = "Dear diary, ".repeat(100);
    std::fs::write(&path, &text).unwrap();
    let url = format!("sqlite://{}", path.display());
    let fault = SqlStore::connect(&url, SqlOptions::default()).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Internal, "{fault}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[tokio::test]
async fn concurrent_and_repeated_migrations_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(&folder).await, open(&folder).await);
    assert_eq!(one.schema_state().await.unwrap(), SchemaState::Empty);
    assert!(one.check().await.is_err());
    let (first, second) = tokio::join!(one.migrate(), other.migrate());
    first.unwrap();
    second.unwrap();
    one.migrate().await.unwrap();
    assert_eq!(other.schema_state().await.unwrap(), SchemaState::Current);
    other.check().await.unwrap();
}

#[tokio::test]
async fn older_schema_is_detected_and_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    Migrator::up(&store.write.connections, Some(2)).await.unwrap();
    let missing = Migrator::migrations().len() - 2;
    assert!(
        matches!(store.schema_state().await.unwrap(), SchemaState::Older(names) if names.len() == missing)
    );
    store.migrate().await.unwrap();
    assert_eq!(store.schema_state().await.unwrap(), SchemaState::Current);
}

#[tokio::test]
async fn newer_schema_is_rejected() {
    let (store, _folder) = migrated().await;
    let later = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    store.write.connections.execute_unprepared(later).await.unwrap();
    let fault = store.migrate().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Rejected);
    assert!(fault.report().contains("newer") && fault.report().contains("m9999_later"), "{fault}");
}

#[tokio::test]
async fn write_lock_of_another_process_is_timeout_for_writers_only() {
    let (store, folder) = migrated().await;
    add(&store, 1).await.unwrap();
    let hasty = SqlOptions { busy_timeout: Duration::from_millis(20), ..SqlOptions::default() };
    let other = open_with(&folder, hasty).await;
    let held = store.begin().await.unwrap();
    let fault = other.begin().await.err().unwrap();
    assert_eq!((fault.component(), fault.kind()), (Component::Database, FaultKind::Timeout), "{fault}");
    assert!(fault.is_transient());
    other.check().await.unwrap();
    assert!(other.read().await.unwrap().documents().get(id(1)).await.unwrap().is_some());
    drop(held);
    add(&store, 2).await.unwrap();
    add(&other, 3).await.unwrap();
}

#[tokio::test]
async fn waiting_writer_times_out() {
    let folder = tempfile::tempdir().unwrap();
    let hasty = SqlOptions { acquire_timeout: Duration::from_millis(200), ..SqlOptions::default() };
    let store = open_with(&folder, hasty).await;
    store.migrate().await.unwrap();
    let held = store.begin().await.unwrap();
    assert_eq!(store.begin().await.err().unwrap().kind(), FaultKind::Timeout);
    drop(held);
    add(&store, 1).await.unwrap();
}

#[tokio::test]
async fn slow_statement_times_out_and_ends_unit_of_work() {
    let (store, _folder) = migrated().await;
    let mut transaction = Transaction::new(&store.write, writing(), Duration::ZERO).open().await.unwrap();
    let fault = transaction.run::<(), _>("wait", |_| Box::pin(std::future::pending())).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Timeout, "{fault}");
    assert_eq!(
        transaction.run("go on", |_| Box::pin(async { Ok(()) })).await.unwrap_err().kind(),
        FaultKind::Internal
    );
    add(&store, 1).await.unwrap();
}

#[tokio::test]
async fn document_with_jobs_cannot_be_deleted() {
    let (store, _folder) = migrated().await;
    add(&store, 1).await.unwrap();
    assert!(store.write.connections.execute_unprepared("DELETE FROM documents").await.is_err());
    store.write.connections.execute_unprepared("DELETE FROM jobs").await.unwrap();
    store.write.connections.execute_unprepared("DELETE FROM documents").await.unwrap();
}

#[tokio::test]
async fn documents_and_jobs_outlive_owner() {
    let (store, _folder) = migrated().await;
    let owned = Document { owner: Some(user(1).id), ..document(1) };
    let mut unit = store.begin().await.unwrap();
    assert!(unit.users().insert(&user(1)).await.unwrap());
    unit.documents().insert(&owned).await.unwrap();
    let mut ingest = job(1, owned.id);
    ingest.owner = owned.owner;
    unit.jobs().insert(&ingest).await.unwrap();
    unit.commit().await.unwrap();
    store.write.connections.execute_unprepared("DELETE FROM users").await.unwrap();
    let mut view = store.read().await.unwrap();
    assert_eq!(view.documents().get(owned.id).await.unwrap(), Some(document(1)));
    assert_eq!(view.jobs().get(ingest.id).await.unwrap(), Some(job(1, owned.id)));
}

#[tokio::test]
async fn schema_rejects_invalid_states() {
    let (store, _folder) = migrated().await;
    add(&store, 1).await.unwrap();
    for change in [
        "UPDATE documents SET status = 'ingested'",
        "UPDATE documents SET vector_doc_id = 'x'",
        "UPDATE documents SET status = 'lost'",
        "UPDATE jobs SET state = 'leased'",
        "UPDATE jobs SET due_at = NULL",
    ] {
        assert!(store.write.connections.execute_unprepared(change).await.is_err(), "{change}");
    }
}

#[tokio::test]
async fn invalid_stored_value_is_internal_fault() {
    for change in [
        "UPDATE documents SET title = ''",
        "UPDATE documents SET file_path = '../etc/passwd'",
        "UPDATE documents SET file_name = NULL",
        "UPDATE documents SET file_bytes = -1",
        "UPDATE documents SET file_sha256 = x'00'",
        "UPDATE documents SET pages = 1, empty_pages = '{}'",
        "UPDATE documents SET pages = 1",
        "UPDATE documents SET created_at = 9223372036854775807",
        "UPDATE documents SET status = 'failed', failure_code = 'unheard_of', failure_reason = '', ended_at = 0",
    ] {
        let (store, _folder) = migrated().await;
        add(&store, 1).await.unwrap();
        store.write.connections.execute_unprepared(change).await.unwrap();
        let fault = store.read().await.unwrap().documents().get(id(1)).await.unwrap_err();
        assert_eq!((fault.component(), fault.kind()), (Component::Database, FaultKind::Internal), "{change}");
    }
}

/// The hot queries walk an index in its order: no table is scanned, nothing is sorted.
#[tokio::test]
async fn queries_use_indexes() {
    let (store, _folder) = migrated().await;
    let (there, newest) = ("deleted_at IS NULL", "ORDER BY created_at DESC, id DESC LIMIT 50");
    for (query, index) in [
        (format!("SELECT * FROM documents WHERE {there} {newest}"), "documents_created_at_idx"),
        (
            format!("SELECT * FROM documents WHERE {there} AND (created_at, id) < (5, x'00') {newest}"),
            "documents_created_at_idx",
        ),
        (
            format!("SELECT * FROM documents WHERE {there} AND status = 'failed' {newest}"),
            "documents_status_idx",
        ),
        (
            format!("SELECT status, COUNT(*) FROM documents WHERE {there} GROUP BY status"),
            "COVERING INDEX documents_status_idx",
        ),
        (
            format!("SELECT COUNT(*) FROM documents WHERE {there} AND instr(lower(title), 'x') > 0"),
            "COVERING INDEX documents_",
        ),
        (
            "SELECT * FROM audit_log WHERE deed = 'delete' ORDER BY at DESC, id DESC LIMIT 50".to_owned(),
            "audit_log_deed_idx",
        ),
        ("SELECT id FROM jobs WHERE due_at <= 5 ORDER BY due_at, id LIMIT 1".to_owned(), "jobs_due_at_idx"),
        ("SELECT MIN(due_at) FROM jobs".to_owned(), "jobs_due_at_idx"),
        (format!("SELECT * FROM jobs WHERE document_id = x'00' {newest}"), "jobs_document_id_idx"),
        ("SELECT * FROM documents WHERE id IN (x'00', x'01')".to_owned(), "sqlite_autoindex_documents_1"),
        ("SELECT * FROM users WHERE email = 'a@b.c'".to_owned(), "users_email_key"),
        (
            "SELECT SUM(prompt_tokens) FROM usage_records WHERE user_id = x'00'".to_owned(),
            "usage_records_user_id_idx",
        ),
    ] {
        let plan =
            rows(&store.read.connections, &format!("EXPLAIN QUERY PLAN {query}"), "detail").await.join("; ");
        assert!(plan.contains(index), "{query}: {plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{query}: {plan}");
    }
}

/// A search reads the records of what it found, not those of all ingested documents.
#[tokio::test]
async fn searched_versions_are_found_by_their_ids() {
    let (store, _folder) = migrated().await;
    let in_collection = Scope::SERVICE.within(&[collection(1).id]).unwrap();
    for scope in [Scope::SERVICE, &in_collection] {
        let query = ingested_in(scope).column(Column::Id).filter(has_version(&[id(1), id(2)]));
        let query = query.build(DbBackend::Sqlite).to_string();
        let plan =
            rows(&store.read.connections, &format!("EXPLAIN QUERY PLAN {query}"), "detail").await.join("; ");
        assert!(plan.contains("documents USING INDEX sqlite_autoindex_documents_1"), "{query}: {plan}");
        assert!(plan.contains("documents USING INDEX documents_version_id_idx"), "{query}: {plan}");
    }
}

/// Statements do not list the open collections of a scope: there can be many of them.
#[test]
fn open_collections_are_not_parameters() {
    let parameters = |number: u32| {
        let open = (0..number).map(|n| (collection(n).id, CollectionRole::Viewer)).collect();
        let roles = AccountRoles { open: Arc::new(open), ..AccountRoles::default() };
        let scope = Scope::of(&Actor::of(&user(1)).unwrap(), roles);
        ingested_in(&scope).build(DbBackend::Sqlite).values.map_or(0, |values| values.0.len())
    };
    assert_eq!(parameters(1), parameters(1000));
}

/// A page of open collections reads as many of them as it has, in the order of an index.
#[tokio::test]
async fn page_of_open_collections_is_read_in_the_order_of_an_index() {
    let (store, _folder) = migrated().await;
    let query = "SELECT * FROM collections WHERE (id IN (x'01') OR role_of_all IS NOT NULL) AND role_of_all IS NOT NULL \
                 AND LOWER(name) >= 'm' AND (LOWER(name), id) > ('m', x'01') ORDER BY LOWER(name), id LIMIT 9";
    let plan =
        rows(&store.read.connections, &format!("EXPLAIN QUERY PLAN {query}"), "detail").await.join("; ");
    assert!(plan.contains("SEARCH collections USING INDEX collections_open_name_idx"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

#[tokio::test]
async fn fault_names_operation_and_database_error() {
    let (store, _folder) = fresh().await;
    let mut unit = store.begin().await.unwrap();
    let fault = unit.jobs().insert(&job(1, id(1))).await.unwrap_err();
    assert_eq!(fault.report(), "database: add a job: (code: 787) FOREIGN KEY constraint failed");
}

/// A commit that fails on a full disk leaves its transaction open, and the driver does not know.
#[tokio::test]
async fn connection_in_open_transaction_is_not_reused() {
    let (store, _folder) = migrated().await;
    store.write.connections.execute_unprepared("BEGIN IMMEDIATE").await.unwrap();
    add(&store, 1).await.unwrap();
    let found = store.read().await.unwrap().documents().get(id(1)).await.unwrap();
    assert_eq!(found, Some(document(1)));
}

/// Callers that share a statement do not share what is wrong with one record.
#[tokio::test]
async fn invalid_record_does_not_affect_batched_reads() {
    let (store, _folder) = migrated().await;
    add(&store, 1).await.unwrap();
    add(&store, 2).await.unwrap();
    let spoil = "UPDATE documents SET updated_at = 9223372036854775807 WHERE title = 'Document 1'";
    let spoilt = store.write.connections.execute_unprepared(spoil).await.unwrap();
    assert_eq!(spoilt.rows_affected(), 1);
    let get = async |n| store.read_latest().await.unwrap().documents().get(id(n)).await;
    let (broken, sound) = tokio::join!(get(1), get(2));
    assert_eq!(broken.unwrap_err().kind(), FaultKind::Internal);
    assert_eq!(sound.unwrap(), Some(document(2)));
}

#[tokio::test]
async fn invalid_role_does_not_affect_batched_reads() {
    let (store, _folder) = migrated().await;
    let mut unit = store.begin().await.unwrap();
    for n in 1..=2 {
        assert!(unit.users().insert(&user(n)).await.unwrap());
    }
    unit.collections().insert(&collection(1)).await.unwrap();
    for n in 1..=2 {
        let (of, member) = (collection(1).id, Member::User(user(n).id));
        unit.collections().set_member(of, member, Some(CollectionRole::Viewer)).await.unwrap();
    }
    unit.commit().await.unwrap();
    let spoil = "UPDATE collection_users SET role = 'x' \
                 WHERE user_id = (SELECT id FROM users ORDER BY created_at, email LIMIT 1)";
    let spoilt = store.write.connections.execute_unprepared(spoil).await.unwrap();
    assert_eq!(spoilt.rows_affected(), 1);
    let roles = async |n| store.read_latest().await.unwrap().collections().roles(user(n).id).await;
    let (broken, sound) = tokio::join!(roles(1), roles(2));
    assert_eq!(broken.unwrap_err().kind(), FaultKind::Internal);
    assert!(sound.unwrap().own.contains(&(collection(1).id, CollectionRole::Viewer)));
}

/// A new connection reads the schema again, which takes longer than most queries.
#[tokio::test]
async fn view_returns_its_connection() {
    let folder = tempfile::tempdir().unwrap();
    let store = open_with(&folder, SqlOptions { read_connections: 1, ..SqlOptions::default() }).await;
    store.migrate().await.unwrap();
    // Of this connection alone.
    store.read.connections.execute_unprepared("PRAGMA cache_size = 1234").await.unwrap();
    for n in 1..=3 {
        store.read().await.unwrap().documents().get(id(n)).await.unwrap();
        store.read_latest().await.unwrap().documents().get(id(n)).await.unwrap();
    }
    let size = Statement::from_string(sea_orm::DbBackend::Sqlite, "PRAGMA cache_size");
    let size = store.read.connections.query_one_raw(size).await.unwrap().unwrap();
    assert_eq!(size.try_get::<i32>("", "cache_size").unwrap(), 1234);
}
