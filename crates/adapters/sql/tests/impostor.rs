//! Tests of the PostgreSQL client against impostor servers: each call ends with a transient fault.
// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

use docent_domain::fault::Component;
use docent_ports::store::Store;
use docent_sql::{SqlOptions, SqlStore};
use docent_testkit::servers::check_impostor_faults;
use std::time::Duration;

/// Timeout of the clients.
const LIMIT: Duration = Duration::from_millis(500);

#[tokio::test]
async fn postgresql_impostor_causes_transient_faults() {
    let store = async |address| {
        let options =
            SqlOptions { acquire_timeout: LIMIT, statement_timeout: LIMIT, ..SqlOptions::default() };
        SqlStore::connect(&format!("postgres://docent:secret@{address}/docent"), options).await.unwrap()
    };
    check_impostor_faults(Component::Database, async |address| store(address).await.check().await.err())
        .await;
    check_impostor_faults(Component::Database, async |address| store(address).await.begin().await.err())
        .await;
}
