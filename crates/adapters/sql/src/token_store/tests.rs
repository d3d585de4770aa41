use super::*;
use crate::SqlOptions;
use crate::entities::refresh_families;
use docent_ports::clock::Clock;
use docent_testkit::clock::TestClock;
use sea_orm::{ActiveModelTrait, IntoActiveModel, PaginatorTrait};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

async fn open(folder: &TempDir) -> SqlStore {
    let url = SqlStore::sqlite_url(&folder.path().join("docent.db"));
    SqlStore::connect(&url, SqlOptions::default()).await.unwrap()
}

async fn migrated() -> (SqlTokenStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    store.migrate().await.unwrap();
    (SqlTokenStore::new(store), folder)
}

docent_testkit::token_store_contract!(async {
    let (store, folder) = migrated().await;
    (Arc::new(store) as _, folder)
});

const LIFETIME: chrono::TimeDelta = chrono::TimeDelta::days(30);

fn now() -> DateTime<Utc> {
    TestClock::default().now()
}

fn family(n: u8) -> FamilyId {
    FamilyId::generate(now(), [n; 10])
}

fn token(n: u16) -> TokenId {
    let [a, b] = n.to_be_bytes();
    TokenId::generate(now(), [0, 0, 0, 0, 0, 0, 0, 0, a, b])
}

/// Starts family `n` of user `n` with token `n`.
async fn start(store: &SqlTokenStore, n: u8, now: DateTime<Utc>) {
    let user = UserId::generate(now, [n; 10]);
    let (id, family, expires_at) = (token(n.into()), family(n), now + LIFETIME);
    store.start(&RefreshClaims { user, id, family, issued_at: now, expires_at }).await.unwrap();
}

async fn rotate(
    store: &SqlTokenStore,
    n: u8,
    presented: u16,
    successor: u16,
    now: DateTime<Utc>,
) -> RotationOutcome {
    let rotation = Rotation {
        family: family(n),
        presented: token(presented),
        successor: token(successor),
        expires_at: now + LIFETIME,
        grace: Duration::from_secs(30),
        now,
    };
    store.rotate(rotation).await.unwrap()
}

/// The outcome of a rotation at `now`.
fn renewed(n: u16, now: DateTime<Utc>) -> RotationOutcome {
    RotationOutcome::Renewed { token: token(n), expires_at: now + LIFETIME }
}

async fn count<E: EntityTrait<Model: Send + Sync>>(store: &SqlTokenStore) -> u64
where
    for<'db> sea_orm::Select<E>: PaginatorTrait<'db, sea_orm::DatabaseConnection>,
{
    E::find().count(&store.0.read.connections).await.unwrap()
}

// Invariant: A revoked login stays revoked after a restart.
#[tokio::test]
async fn families_and_revocations_survive_a_restart() {
    let (store, folder) = migrated().await;
    for n in 1..=3 {
        start(&store, n, now()).await;
    }
    store.revoke(family(2)).await.unwrap();
    assert_eq!(rotate(&store, 3, 3, 103, now()).await, renewed(103, now()));
    drop(store);

    let store = SqlTokenStore::new(open(&folder).await);
    assert_eq!(rotate(&store, 1, 1, 101, now()).await, renewed(101, now()));
    assert_eq!(rotate(&store, 2, 2, 102, now()).await, RotationOutcome::Unknown);
    let late = now() + chrono::TimeDelta::minutes(1);
    assert_eq!(rotate(&store, 3, 3, 104, late).await, RotationOutcome::Reused, "its successor was stored");
    assert_eq!(rotate(&store, 3, 103, 105, late).await, RotationOutcome::Unknown);
}

#[tokio::test]
async fn revocation_without_database_fails_and_keeps_the_family() {
    let (store, folder) = migrated().await;
    start(&store, 1, now()).await;
    store.0.close().await.unwrap();
    assert!(store.revoke(family(1)).await.is_err());
    assert!(store.check().await.is_err());
    let store = SqlTokenStore::new(open(&folder).await);
    assert_eq!(rotate(&store, 1, 1, 101, now()).await, renewed(101, now()));
}

#[tokio::test]
async fn logins_remove_expired_families_with_their_tokens() {
    let (store, _folder) = migrated().await;
    for n in 1..=20 {
        start(&store, n, now()).await;
    }
    let later = now() + LIFETIME;
    for n in 21..=23 {
        start(&store, n, later).await;
    }
    assert_eq!(count::<refresh_families::Entity>(&store).await, 3);
    assert_eq!(count::<tokens::Entity>(&store).await, 3);
}

#[tokio::test]
async fn rotation_removes_tokens_replaced_before_the_grace_period() {
    let (store, _folder) = migrated().await;
    start(&store, 1, now()).await;
    for n in 1..10 {
        let at = now() + chrono::TimeDelta::minutes(i64::from(n));
        assert_eq!(rotate(&store, 1, n, n + 1, at).await, renewed(n + 1, at));
    }
    assert_eq!(count::<tokens::Entity>(&store).await, 2);
}

/// Earlier versions issued a token for each use within the grace period.
#[tokio::test]
async fn other_valid_tokens_of_earlier_versions_are_removed() {
    let (store, _folder) = migrated().await;
    start(&store, 1, now()).await;
    let family_id = family(1).as_uuid();
    let row = tokens::Model {
        family_id,
        id: token(2).as_uuid(),
        expires_at: micros(now() + LIFETIME),
        replaced_at: None,
    };
    row.into_active_model().reset_all().insert(&store.0.write.connections).await.unwrap();
    assert_eq!(rotate(&store, 1, 1, 3, now()).await, renewed(3, now()));
    assert_eq!(rotate(&store, 1, 2, 4, now()).await, RotationOutcome::Reused);
}
