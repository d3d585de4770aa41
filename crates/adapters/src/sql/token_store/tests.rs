use super::*;
use crate::sql::SqlOptions;
use crate::sql::entities::refresh_families;
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

async fn count<E: EntityTrait<Model: Send + Sync>>(store: &SqlTokenStore) -> u64
where
    for<'db> sea_orm::Select<E>: PaginatorTrait<'db, sea_orm::DatabaseConnection>,
{
    E::find().count(&store.0.read.connections).await.unwrap()
}

#[tokio::test]
async fn families_and_revocations_survive_a_restart() {
    let (store, folder) = migrated().await;
    for n in 1..=3 {
        start(&store, n, now()).await;
    }
    store.revoke(family(2)).await.unwrap();
    assert_eq!(rotate(&store, 3, 3, 103, now()).await, RotationOutcome::Renewed);
    drop(store);

    let store = SqlTokenStore::new(open(&folder).await);
    assert_eq!(rotate(&store, 1, 1, 101, now()).await, RotationOutcome::Renewed);
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
    assert_eq!(rotate(&store, 1, 1, 101, now()).await, RotationOutcome::Renewed);
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
async fn rotation_removes_expired_tokens_of_the_family() {
    let (store, _folder) = migrated().await;
    start(&store, 1, now()).await;
    for n in 1..10 {
        let day = chrono::TimeDelta::days(10 * i64::from(n));
        assert_eq!(rotate(&store, 1, n, n + 1, now() + day).await, RotationOutcome::Renewed);
    }
    assert_eq!(count::<tokens::Entity>(&store).await, 3);
}

#[tokio::test]
async fn family_at_token_limit_loses_the_tokens_that_expire_first() {
    let (store, _folder) = migrated().await;
    start(&store, 1, now()).await;
    let rows = (2..=TOKENS_MAX as u16).map(|n| {
        let expires_at = micros(now() + LIFETIME) + i64::from(n);
        tokens::Model {
            family_id: family(1).as_uuid(),
            id: token(n).as_uuid(),
            expires_at,
            replaced_at: None,
        }
    });
    for rows in rows.collect::<Vec<_>>().chunks(1000) {
        let rows = rows.iter().map(|row| row.clone().into_active_model().reset_all());
        tokens::Entity::insert_many(rows).exec(&store.0.write.connections).await.unwrap();
    }
    let last = TOKENS_MAX as u16;
    let later = now() + chrono::TimeDelta::seconds(1);
    assert_eq!(rotate(&store, 1, last, last + 1, later).await, RotationOutcome::Renewed);
    assert_eq!(count::<tokens::Entity>(&store).await, TOKENS_MAX);
    assert_eq!(rotate(&store, 1, 1, last + 2, later).await, RotationOutcome::Unknown);
    assert_eq!(rotate(&store, 1, 2, last + 3, later).await, RotationOutcome::Renewed);
}
