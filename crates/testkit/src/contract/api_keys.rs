//! Contract of every repository of API keys.

use super::records::{add_users, first};
use crate::builders::{api_key, at, connected, id, user};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyScopes};
use docent_domain::connection::Connection;
use docent_domain::listing::ApiKeyFilter;
use docent_ports::store::Store;
use std::sync::Arc;

async fn add_keys(store: &dyn Store, keys: &[ApiKey]) {
    let mut unit = store.begin().await.unwrap();
    for key in keys {
        assert!(unit.api_keys().insert(key).await.unwrap());
    }
    unit.commit().await.unwrap();
}

async fn listed(store: &dyn Store, filter: ApiKeyFilter) -> Vec<ApiKey> {
    store.read().await.unwrap().api_keys().list(&filter, first(9)).await.unwrap().records
}

crate::battery! {
    api_keys_contract in api_keys (Arc<dyn Store>);

    /// All fields are stored and read unchanged.
    async fn api_key_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let full = ApiKey {
            scopes: ApiKeyScopes::parse(["read", "ingest", "chat", "admin"]).unwrap(),
            expires_at: Some(at(20)),
            last_used_at: Some(at(10)),
            revoked_at: Some(at(11)),
            ..api_key(2, user(1).id)
        };
        let keys = [api_key(1, user(1).id), full, connected(4, user(1).id)];
        add_keys(&*store, &keys).await;
        let mut view = store.read().await.unwrap();
        for key in keys {
            assert_eq!(view.api_keys().get(key.id).await.unwrap().as_ref(), Some(&key));
            assert_eq!(view.api_keys().by_prefix(&key.prefix).await.unwrap(), Some(key));
        }
        assert_eq!(view.api_keys().get(id(3)).await.unwrap(), None);
    }

    /// Prefixes are unique, and the account must exist.
    async fn insert_rejects_used_prefix_and_unknown_account(store) {
        add_users(&*store, &[user(1)]).await;
        add_keys(&*store, &[api_key(1, user(1).id)]).await;
        let same = ApiKey { prefix: api_key(1, user(1).id).prefix, ..api_key(2, user(1).id) };
        assert!(!store.begin().await.unwrap().api_keys().insert(&same).await.unwrap());
        assert!(store.begin().await.unwrap().api_keys().insert(&api_key(3, user(9).id)).await.is_err());
    }

    /// A key is revoked once and keeps the time of revocation.
    async fn revoke_twice_keeps_first_time(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add_keys(&*store, &[1, 2, 3].map(|n| api_key(n, user(1).id))).await;
        add_keys(&*store, &[api_key(4, user(2).id), connected(5, user(1).id), connected(6, user(2).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.api_keys().revoke(id(1), at(50)).await.unwrap());
        assert!(!unit.api_keys().revoke(id(1), at(60)).await.unwrap());
        assert!(!unit.api_keys().revoke(id(9), at(60)).await.unwrap());
        assert_eq!(unit.api_keys().disconnect_for_user(user(1).id, at(70)).await.unwrap(), 1);
        assert_eq!(unit.api_keys().disconnect_for_user(user(1).id, at(80)).await.unwrap(), 0);
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        for (n, revoked) in [(1, Some(50)), (2, None), (4, None), (5, Some(70)), (6, None)] {
            let key = view.api_keys().get(id(n)).await.unwrap().unwrap();
            assert_eq!(key.revoked_at, revoked.map(at), "{n}");
        }
    }

    /// The time of the last use never decreases.
    async fn touch_ignores_earlier_time(store) {
        add_users(&*store, &[user(1)]).await;
        add_keys(&*store, &[api_key(1, user(1).id)]).await;
        for (use_at, known) in [(5, 5), (9, 9), (7, 9)] {
            let mut unit = store.begin().await.unwrap();
            unit.api_keys().touch(id(1), at(use_at)).await.unwrap();
            unit.commit().await.unwrap();
            let key = store.read().await.unwrap().api_keys().get(id(1)).await.unwrap().unwrap();
            assert_eq!(key.last_used_at, Some(at(known)));
        }
    }

    /// Lists are newest first and filtered by account, validity and text.
    async fn list_filters_and_sorts_newest_first(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        let keys = [
            api_key(1, one),
            ApiKey { expires_at: Some(at(20)), ..api_key(2, one) },
            ApiKey { revoked_at: Some(at(1)), ..api_key(3, two) },
            ApiKey { name: ApiKeyName::parse("Nightly import").unwrap(), ..api_key(4, two) },
        ];
        add_keys(&*store, &keys).await;
        let [first, second, third, fourth] = keys;
        let of_one = ApiKeyFilter { user: Some(one), ..ApiKeyFilter::default() };
        assert_eq!(listed(&*store, of_one).await, [second.clone(), first.clone()]);
        let good = |second: i64| ApiKeyFilter { valid_at: Some(at(second)), ..ApiKeyFilter::default() };
        assert_eq!(listed(&*store, good(19)).await, [fourth.clone(), second, first.clone()]);
        assert_eq!(listed(&*store, good(20)).await, [fourth.clone(), first]);
        let text = |text: &str| ApiKeyFilter { text: Some(text.to_owned()), ..ApiKeyFilter::default() };
        assert_eq!(listed(&*store, text("IMPORT")).await, [fourth]);
        assert_eq!(listed(&*store, text("0003")).await, [third]);
    }

    /// Connected applications and other keys can be listed apart.
    async fn list_tells_connected_applications_from_other_keys(store) {
        add_users(&*store, &[user(1)]).await;
        let (key, application) = (api_key(1, user(1).id), connected(2, user(1).id));
        add_keys(&*store, &[key.clone(), application.clone()]).await;
        let of = |is_connected| ApiKeyFilter { is_connected, ..ApiKeyFilter::default() };
        assert_eq!(listed(&*store, of(Some(true))).await.as_slice(), std::slice::from_ref(&application));
        assert_eq!(listed(&*store, of(Some(false))).await.as_slice(), std::slice::from_ref(&key));
        assert_eq!(listed(&*store, of(None)).await, [application, key]);
    }

    /// A renewal replaces the tokens and the expiry time.
    async fn renew_replaces_connection_and_expiry(store) {
        add_users(&*store, &[user(1)]).await;
        let application = connected(1, user(1).id);
        add_keys(&*store, std::slice::from_ref(&application)).await;
        let connection = Connection {
            refresh_token: id(8),
            replaced_token: Some(id(7)),
            refreshed_at: at(40),
            ..application.connection.clone().unwrap()
        };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.api_keys().renew(id(1), &connection, at(99)).await.unwrap());
        assert!(!unit.api_keys().renew(id(9), &connection, at(99)).await.unwrap());
        unit.commit().await.unwrap();
        let renewed = store.read().await.unwrap().api_keys().get(id(1)).await.unwrap();
        let expected = ApiKey { connection: Some(connection), expires_at: Some(at(99)), ..application };
        assert_eq!(renewed, Some(expected));
    }
}
