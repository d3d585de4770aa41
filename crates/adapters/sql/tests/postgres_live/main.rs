//! The relational store on real PostgreSQL servers.
//!
//! The batteries run on the server at `DOCENT_TEST_POSTGRES_URL`, whose account must be allowed to create schemas:
//! each test has its own. Tests that stop a server start one themselves, for which PostgreSQL must be installed.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::listing::DocumentFilter;
use docent_domain::scope::Scope;
use docent_migration::SchemaState;
use docent_ports::store::Store;
use docent_sql::{SqlOptions, SqlStore, SqlTokenStore};
use docent_testkit::builders::{at, audit_entry, document, id, job};
use docent_testkit::servers::{OwnSchema, PostgresServer};
use sea_orm::{ConnectionTrait, Database, DatabaseConnection, Statement};
use std::process::Command;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// A test's own schema.
struct Own(OwnSchema);

impl Own {
    fn new() -> Self {
        Self(OwnSchema::create())
    }

    async fn store(&self) -> SqlStore {
        self.store_with(SqlOptions::default()).await
    }

    async fn store_with(&self, options: SqlOptions) -> SqlStore {
        SqlStore::connect(&self.0.url(), options).await.unwrap()
    }

    /// A connection that bypasses the store.
    async fn direct(&self) -> DatabaseConnection {
        Database::connect(self.0.url()).await.unwrap()
    }
}

async fn migrated() -> (SqlStore, Own) {
    let own = Own::new();
    let store = own.store().await;
    store.migrate().await.unwrap();
    (store, own)
}

async fn fresh() -> (Arc<dyn Store>, Own) {
    let (store, own) = migrated().await;
    (Arc::new(store), own)
}

async fn add(store: &SqlStore, n: u32) -> Result<(), Fault> {
    let mut unit = store.begin().await?;
    unit.documents().insert(&document(n)).await?;
    unit.jobs().insert(&job(n, document(n).id)).await?;
    unit.commit().await
}

/// Counts documents.
async fn documents(store: &SqlStore) -> Result<u64, Fault> {
    Ok(store.read().await?.documents().counts().await?.pending)
}

docent_testkit::relational_contracts!(fresh);

mod token_store {
    use super::*;

    docent_testkit::token_store_contract!(async {
        let (store, own) = migrated().await;
        (Arc::new(SqlTokenStore::new(store)) as _, own)
    });
}

mod processes {
    use super::*;

    docent_testkit::processes_contract!(async {
        let (store, own) = fresh().await;
        ([store, Arc::new(own.store().await) as _], own)
    });
}

// Invariant: Several processes can migrate concurrently.
#[tokio::test]
async fn concurrent_and_repeated_migrations_succeed() {
    let own = Own::new();
    let stores = [own.store().await, own.store().await, own.store().await, own.store().await];
    assert_eq!(stores[0].schema_state().await.unwrap(), SchemaState::Empty);
    assert_eq!(stores[0].check().await.unwrap_err().kind(), FaultKind::Internal);
    let all = stores.clone().map(|store| tokio::spawn(async move { store.migrate().await }));
    for one in all {
        one.await.unwrap().unwrap();
    }
    stores[0].migrate().await.unwrap();
    assert_eq!(stores[1].schema_state().await.unwrap(), SchemaState::Current);
    stores[1].check().await.unwrap();
}

#[tokio::test]
async fn read_only_database_is_found_before_the_first_write() {
    let (_, own) = migrated().await;
    own.store().await.check_writable().await.unwrap();
    let read_only = format!("{}&options[default_transaction_read_only]=on", own.0.url());
    let store = SqlStore::connect(&read_only, SqlOptions::default()).await.unwrap();
    let fault = store.check_writable().await.unwrap_err();
    assert_eq!((fault.kind(), fault.message()), (FaultKind::Unavailable, "the database server is read-only"));
}

#[tokio::test]
async fn newer_schema_is_rejected() {
    let (store, own) = migrated().await;
    let later = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    own.direct().await.execute_unprepared(later).await.unwrap();
    let fault = store.migrate().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Rejected);
    assert!(fault.report().contains("m9999_later"), "{fault}");
}

#[tokio::test]
async fn audit_log_is_append_only() {
    let (store, own) = migrated().await;
    let mut unit = store.begin().await.unwrap();
    unit.audit().append(&audit_entry(1)).await.unwrap();
    unit.commit().await.unwrap();
    let direct = own.direct().await;
    for change in ["UPDATE audit_log SET deed = 'login'", "DELETE FROM audit_log", "TRUNCATE audit_log"] {
        let refused = direct.execute_unprepared(change).await.unwrap_err().to_string();
        assert!(refused.contains("append-only"), "{refused}");
    }
}

#[tokio::test]
async fn lease_skips_job_locked_by_concurrent_lease() {
    let (store, own) = migrated().await;
    add(&store, 1).await.unwrap();
    add(&store, 2).await.unwrap();
    let mut open = store.begin().await.unwrap();
    let first = open.jobs().lease(id(7), at(30), at(90)).await.unwrap().unwrap();
    let mut other = own.store().await.begin().await.unwrap();
    let second = other.jobs().lease(id(8), at(30), at(90)).await.unwrap().unwrap();
    assert_eq!((first.id, second.id), (id(1), id(2)));
    assert_eq!(other.jobs().lease(id(9), at(30), at(90)).await.unwrap(), None);
}

#[tokio::test]
async fn read_record_can_be_referenced_but_not_changed_by_others() {
    let (store, own) = migrated().await;
    add(&store, 1).await.unwrap();
    let hasty = SqlOptions { statement_timeout: Duration::from_millis(300), ..SqlOptions::default() };
    let other = own.store_with(hasty).await;
    let mut held = store.begin().await.unwrap();
    let read = held.documents().get(id(1)).await.unwrap().unwrap();
    let mut unit = other.begin().await.unwrap();
    unit.jobs().insert(&job(9, read.id)).await.unwrap();
    unit.commit().await.unwrap();
    let mut unit = other.begin().await.unwrap();
    let fault = unit.documents().update(&read).await.unwrap_err();
    assert_eq!((fault.component(), fault.kind()), (Component::Database, FaultKind::Timeout), "{fault}");
    assert_eq!(unit.commit().await.unwrap_err().kind(), FaultKind::Internal);
    assert_eq!(documents(&other).await.unwrap(), 1, "readers do not notice");
    drop(held);
    let mut unit = other.begin().await.unwrap();
    assert!(unit.documents().update(&read).await.unwrap());
    unit.commit().await.unwrap();
}

#[tokio::test]
async fn deadlock_is_transient_fault() {
    let (store, _own) = migrated().await;
    add(&store, 1).await.unwrap();
    add(&store, 2).await.unwrap();
    let (mut one, mut other) = (store.begin().await.unwrap(), store.begin().await.unwrap());
    one.documents().get(id(1)).await.unwrap();
    other.documents().get(id(2)).await.unwrap();
    let (first, second) = tokio::join!(one.documents().get(id(2)), other.documents().get(id(1)));
    let (faults, answers): (Vec<_>, Vec<_>) = [first, second].into_iter().partition(Result::is_err);
    assert_eq!((faults.len(), answers.len()), (1, 1));
    for fault in faults {
        let fault = fault.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Unavailable, "{fault}");
        assert!(fault.is_transient());
    }
}

#[tokio::test]
async fn connection_acquire_times_out_and_readers_have_own_pool() {
    let (store, own) = migrated().await;
    add(&store, 1).await.unwrap();
    let narrow = SqlOptions {
        write_connections: 1,
        acquire_timeout: Duration::from_millis(300),
        ..SqlOptions::default()
    };
    let narrow = own.store_with(narrow).await;
    let held = narrow.begin().await.unwrap();
    assert_eq!(narrow.begin().await.err().unwrap().kind(), FaultKind::Timeout);
    assert_eq!(documents(&narrow).await.unwrap(), 1);
    drop(held);
    add(&narrow, 2).await.unwrap();
}

#[tokio::test]
async fn title_search_for_nul_finds_nothing() {
    let (store, _own) = migrated().await;
    add(&store, 1).await.unwrap();
    let filter =
        DocumentFilter { title_contains: Some("\0".into()), ..DocumentFilter::of(Scope::SERVICE.clone()) };
    assert_eq!(store.read().await.unwrap().documents().list(&filter).await.unwrap(), []);
}

#[tokio::test]
async fn permanent_connection_errors_are_rejected() {
    let server = PostgresServer::start();
    for (url, says) in [
        (server.url("docent", "wrong", "postgres"), "password"),
        (server.url("missing_role", "wrong", "postgres"), "missing_role"),
        (server.url("docent", PostgresServer::PASSWORD, "missing"), "missing"),
    ] {
        let store = SqlStore::connect(&url, SqlOptions::default()).await.unwrap();
        let fault = store.begin().await.err().unwrap();
        assert_eq!((fault.component(), fault.kind()), (Component::Database, FaultKind::Rejected), "{fault}");
        assert!(fault.report().contains(says), "{fault}");
        assert!(!fault.report().contains("wrong"), "{fault}");
    }
}

#[tokio::test]
async fn tls_is_used_and_certificate_is_verified() {
    let server = PostgresServer::start_with_tls();
    let url = |parameters: String| {
        let url =
            server.url("docent", PostgresServer::PASSWORD, "postgres").replace("127.0.0.1", "localhost");
        format!("{url}?{parameters}")
    };
    let root = server.certificate().display().to_string();
    // A server that accepts only encrypted connections.
    for (parameters, refused) in [
        (format!("sslmode=verify-full&sslrootcert={root}"), None),
        ("sslmode=prefer".to_owned(), None),
        // This machine does not trust the certificate.
        ("sslmode=verify-full".to_owned(), Some(FaultKind::Unavailable)),
        ("sslmode=disable".to_owned(), Some(FaultKind::Rejected)),
    ] {
        let store = SqlStore::connect(&url(parameters.clone()), SqlOptions::default()).await.unwrap();
        let fault = store.schema_state().await.err();
        assert_eq!(fault.as_ref().map(Fault::kind), refused, "{parameters}: {fault:?}");
    }
}

#[tokio::test]
async fn hanging_session_times_out_without_affecting_others() {
    let server = PostgresServer::start();
    let url = server.url("docent", PostgresServer::PASSWORD, "postgres");
    let hasty = SqlOptions { statement_timeout: Duration::from_secs(2), ..SqlOptions::default() };
    let store = SqlStore::connect(&url, hasty).await.unwrap();
    store.migrate().await.unwrap();
    let mut unit = store.begin().await.unwrap();
    unit.documents().insert(&document(1)).await.unwrap();
    let session =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'docent' AND state LIKE 'idle in%'";
    let pid: i32 = {
        let db = Database::connect(&url).await.unwrap();
        let row = db.query_one_raw(Statement::from_string(db.get_database_backend(), session)).await.unwrap();
        row.unwrap().try_get_by_index(0).unwrap()
    };
    let frozen = Frozen::new(pid);
    assert_eq!(unit.documents().get(id(1)).await.unwrap_err().kind(), FaultKind::Timeout);
    add(&store, 2).await.unwrap();
    assert_eq!(documents(&store).await.unwrap(), 1);
    drop(frozen);
    add(&store, 1).await.unwrap();
}

/// A process that is stopped until this is dropped.
struct Frozen(i32);

impl Frozen {
    fn new(pid: i32) -> Self {
        signal("-STOP", pid);
        Self(pid)
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        signal("-CONT", self.0);
    }
}

fn signal(signal: &str, pid: i32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

// Invariant: The service reconnects to a database server without a restart.
#[tokio::test]
async fn store_reconnects_after_server_outage() {
    let mut server = PostgresServer::start();
    server.stop();
    let url = server.url("docent", PostgresServer::PASSWORD, "postgres");
    let store = SqlStore::connect(&url, SqlOptions::default()).await.unwrap();
    for n in 1..=2 {
        unavailable(&store).await;
        server.restart();
        store.migrate().await.unwrap();
        add(&store, n).await.unwrap();
        let mut open = store.begin().await.unwrap();
        open.documents().insert(&document(90)).await.unwrap();
        server.stop();
        let fault = open.documents().get(id(90)).await.unwrap_err();
        assert_eq!(
            (fault.component(), fault.kind()),
            (Component::Database, FaultKind::Unavailable),
            "{fault}"
        );
        assert!(open.commit().await.is_err());
    }
    unavailable(&store).await;
    server.restart();
    store.check().await.unwrap();
    assert_eq!(documents(&store).await.unwrap(), 2, "what was committed and nothing else");
}

/// Checks that every call fails as unavailable.
async fn unavailable(store: &SqlStore) {
    let faults = [
        store.check().await.unwrap_err(),
        store.begin().await.err().unwrap(),
        store.schema_state().await.unwrap_err(),
        store.migrate().await.unwrap_err(),
        documents(store).await.unwrap_err(),
    ];
    for fault in faults {
        assert_eq!(
            (fault.component(), fault.kind()),
            (Component::Database, FaultKind::Unavailable),
            "{fault}"
        );
    }
}

/// Polls a future at most this many times, then drops it.
async fn cancel_after<F: Future>(future: F, polls: u32) {
    let mut future = Box::pin(future);
    let mut left = polls;
    std::future::poll_fn(|context| {
        left -= 1;
        let is_over = future.as_mut().poll(context).is_ready() || left == 0;
        if is_over { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[tokio::test]
async fn cancelled_begin_leaves_no_open_transaction() {
    let (_, own) = migrated().await;
    let options = SqlOptions { read_connections: 1, ..SqlOptions::default() };
    let store = own.store_with(options).await;
    let direct = own.direct().await;
    let open = Statement::from_string(
        direct.get_database_backend(),
        "SELECT 1 FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND application_name = current_setting('application_name')",
    );
    for polls in 1..20 {
        cancel_after(async { store.read().await.unwrap().documents().get(id(1)).await }, polls).await;
        store
            .read_latest()
            .await
            .unwrap()
            .documents()
            .list(&DocumentFilter::of(Scope::SERVICE.clone()))
            .await
            .unwrap();
        // The cancelled transaction may begin after the list, and then ends in the background.
        for attempt in 0.. {
            if direct.query_one_raw(open.clone()).await.unwrap().is_none() {
                break;
            }
            assert!(attempt < 200, "a transaction is open after {polls} polls");
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
    }
}
