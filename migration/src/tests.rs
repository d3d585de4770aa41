//! Migrations up and down.

use crate::{Migrator, MigratorTrait, SchemaState, schema_state};
use sea_orm_migration::prelude::ConnectionTrait;
use sea_orm_migration::sea_orm::{ConnectOptions, Database, DatabaseConnection, Statement};

async fn empty_database() -> DatabaseConnection {
    // One connection, since each has its own in-memory database.
    let mut options = ConnectOptions::new("sqlite::memory:");
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}

/// All objects of the schema except the table of migrations and those of SQLite.
async fn objects(db: &DatabaseConnection) -> Vec<String> {
    let sql = "SELECT type || ' ' || name AS object FROM sqlite_schema \
               WHERE name NOT LIKE 'sqlite_%' AND name <> 'seaql_migrations' ORDER BY object";
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get("", "object").unwrap()).collect()
}

#[tokio::test]
async fn up_down_up_gives_the_same_schema() {
    let db = empty_database().await;
    Migrator::up(&db, None).await.unwrap();
    let schema = objects(&db).await;
    for table in ["users", "documents", "jobs", "usage_records", "embedding_cache", "generations", "duties"] {
        assert!(schema.contains(&format!("table {table}")), "{schema:?}");
    }
    Migrator::down(&db, None).await.unwrap();
    assert_eq!(objects(&db).await, Vec::<String>::new());
    Migrator::up(&db, None).await.unwrap();
    assert_eq!(objects(&db).await, schema);
}

#[tokio::test]
async fn schema_equals_the_recorded_one() {
    let db = empty_database().await;
    Migrator::up(&db, None).await.unwrap();
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'seaql_migrations' \
               ORDER BY type, name";
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
    let schema: String = rows.iter().map(|row| row.try_get::<String>("", "sql").unwrap() + ";\n").collect();
    assert_eq!(schema, include_str!("schema.sql"), "the new schema:\n{schema}");
}

#[test]
fn migrations_are_named_after_their_files_in_order() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name.starts_with("m0"))
        .collect();
    names.sort();
    let migrations = Migrator::migrations();
    assert_eq!(migrations.iter().map(|migration| migration.name()).collect::<Vec<_>>(), names);
}

#[tokio::test]
async fn each_migration_reverts_itself() {
    let db = empty_database().await;
    let mut schemas = vec![objects(&db).await];
    for _ in Migrator::migrations() {
        Migrator::up(&db, Some(1)).await.unwrap();
        schemas.push(objects(&db).await);
    }
    while let Some(schema) = schemas.pop() {
        assert_eq!(objects(&db).await, schema);
        if !schemas.is_empty() {
            Migrator::down(&db, Some(1)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn schema_state_is_read_only() {
    let db = empty_database().await;
    assert_eq!(schema_state(&db).await.unwrap(), SchemaState::Empty);
    assert_eq!(objects(&db).await, Vec::<String>::new());
    Migrator::up(&db, Some(3)).await.unwrap();
    let missing = Migrator::migrations()[3..].iter().map(|migration| migration.name().to_owned()).collect();
    assert_eq!(schema_state(&db).await.unwrap(), SchemaState::Older(missing));
    Migrator::up(&db, None).await.unwrap();
    assert_eq!(schema_state(&db).await.unwrap(), SchemaState::Current);
    let later = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    db.execute_unprepared(later).await.unwrap();
    assert_eq!(schema_state(&db).await.unwrap(), SchemaState::Newer(vec!["m9999_later".into()]));
}

// Invariant: Entries of the audit log are removed only after their export and with a record of the removal.
#[tokio::test]
async fn audit_log_is_append_only() {
    let db = empty_database().await;
    Migrator::up(&db, None).await.unwrap();
    let entry = "INSERT INTO audit_log (id, at, author, deed, record_kind, record_id, record_label, changes) \
                 VALUES (x'01', 1, 'command_line', 'login_failed', 'user', '', '', '{}')";
    db.execute_unprepared(entry).await.unwrap();
    for change in ["UPDATE audit_log SET deed = 'login'", "DELETE FROM audit_log"] {
        let refused = db.execute_unprepared(change).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{refused}");
    }
    let removal =
        |id, before| format!("INSERT INTO audit_removals (id, at, before) VALUES (x'{id}', 9, {before})");
    db.execute_unprepared(&removal("01", 1)).await.unwrap();
    assert!(
        db.execute_unprepared("DELETE FROM audit_log").await.is_err(),
        "only earlier entries can be deleted"
    );
    db.execute_unprepared(&removal("02", 2)).await.unwrap();
    db.execute_unprepared("DELETE FROM audit_log").await.unwrap();
}
