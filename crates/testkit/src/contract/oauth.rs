//! Contract of every repository of OAuth clients and authorization codes.

use super::records::add_users;
use crate::builders::{at, authorization_code, id, oauth_client, user};
use docent_domain::client_uri::RedirectUri;
use docent_domain::connection::Resource;
use docent_domain::oauth::{AuthorizationCode, RegisteredClient};
use docent_ports::store::Store;
use std::sync::Arc;

async fn add_clients(store: &dyn Store, clients: &[RegisteredClient]) {
    let mut unit = store.begin().await.unwrap();
    for client in clients {
        unit.oauth().insert_client(client).await.unwrap();
    }
    unit.commit().await.unwrap();
}

async fn add_code(store: &dyn Store, code: &AuthorizationCode) {
    let mut unit = store.begin().await.unwrap();
    unit.oauth().insert_code(code).await.unwrap();
    unit.commit().await.unwrap();
}

crate::battery! {
    oauth_contract in oauth (Arc<dyn Store>);

    /// All fields are stored and read unchanged.
    async fn client_round_trips(store) {
        let uris = ["http://127.0.0.1/cb", "https://example.org/cb"].map(|uri| RedirectUri::parse(uri).unwrap());
        let used = RegisteredClient {
            redirect_uris: uris.to_vec(),
            last_used_at: Some(at(9)),
            ..oauth_client(2)
        };
        add_clients(&*store, &[oauth_client(1), used.clone()]).await;
        let mut view = store.read().await.unwrap();
        assert_eq!(view.oauth().client(id(1)).await.unwrap(), Some(oauth_client(1)));
        assert_eq!(view.oauth().client(id(2)).await.unwrap(), Some(used));
        assert_eq!(view.oauth().client(id(3)).await.unwrap(), None);
    }

    /// The time of the last use never decreases.
    async fn client_touch_ignores_earlier_time(store) {
        add_clients(&*store, &[oauth_client(1)]).await;
        for (use_at, known) in [(5, 5), (9, 9), (7, 9)] {
            let mut unit = store.begin().await.unwrap();
            unit.oauth().touch_client(id(1), at(use_at)).await.unwrap();
            unit.oauth().touch_client(id(8), at(use_at)).await.unwrap();
            unit.commit().await.unwrap();
            let client = store.read().await.unwrap().oauth().client(id(1)).await.unwrap().unwrap();
            assert_eq!(client.last_used_at, Some(at(known)));
        }
    }

    /// Unused clients are removed by their registration, used ones by their last use.
    async fn client_purge_removes_unused_and_forgotten(store) {
        let clients = [
            RegisteredClient { created_at: at(10), ..oauth_client(1) },
            RegisteredClient { created_at: at(20), ..oauth_client(2) },
            RegisteredClient { created_at: at(1), last_used_at: Some(at(4)), ..oauth_client(3) },
            RegisteredClient { created_at: at(1), last_used_at: Some(at(5)), ..oauth_client(4) },
        ];
        add_clients(&*store, &clients).await;
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.oauth().purge_clients(at(20), at(5), 1).await.unwrap(), 1);
        assert_eq!(unit.oauth().purge_clients(at(20), at(5), 9).await.unwrap(), 1);
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        for (n, is_kept) in [(1, false), (2, true), (3, false), (4, true)] {
            assert_eq!(view.oauth().client(id(n)).await.unwrap().is_some(), is_kept, "{n}");
        }
    }

    /// All fields are stored and read unchanged.
    async fn code_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let full = AuthorizationCode {
            resource: Resource::Api,
            collections: Some([id(1), id(2)].into()),
            used_at: Some(at(3)),
            ..authorization_code(2, user(1).id)
        };
        for code in [authorization_code(1, user(1).id), full] {
            add_code(&*store, &code).await;
            let mut view = store.read().await.unwrap();
            assert_eq!(view.oauth().code(&code.sha256).await.unwrap(), Some(code));
        }
        assert_eq!(store.read().await.unwrap().oauth().code(&[9; 32]).await.unwrap(), None);
    }

    /// A code belongs to an account and has a digest of its own.
    async fn code_needs_an_account_and_a_new_digest(store) {
        add_users(&*store, &[user(1)]).await;
        add_code(&*store, &authorization_code(1, user(1).id)).await;
        let same = AuthorizationCode { id: id(2), ..authorization_code(1, user(1).id) };
        assert!(store.begin().await.unwrap().oauth().insert_code(&same).await.is_err());
        assert!(store.begin().await.unwrap().oauth().insert_code(&authorization_code(3, user(9).id)).await.is_err());
    }

    /// A code is used once and keeps the time of its use.
    async fn code_is_used_once(store) {
        add_users(&*store, &[user(1)]).await;
        let code = authorization_code(1, user(1).id);
        add_code(&*store, &code).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.oauth().use_code(code.id, at(5)).await.unwrap());
        assert!(!unit.oauth().use_code(code.id, at(6)).await.unwrap());
        assert!(!unit.oauth().use_code(id(9), at(6)).await.unwrap());
        unit.commit().await.unwrap();
        let used = store.read().await.unwrap().oauth().code(&code.sha256).await.unwrap().unwrap();
        assert_eq!(used.used_at, Some(at(5)));
    }

    /// Expired codes are removed, and those of an account with it.
    async fn code_purge_removes_expired(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let codes = [
            AuthorizationCode { expires_at: at(5), ..authorization_code(1, user(1).id) },
            AuthorizationCode { expires_at: at(6), ..authorization_code(2, user(1).id) },
            authorization_code(3, user(2).id),
        ];
        for code in &codes {
            add_code(&*store, code).await;
        }
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.oauth().purge_codes(at(6), 9).await.unwrap(), 1);
        unit.users().delete(user(2).id).await.unwrap();
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        for (code, is_kept) in codes.iter().zip([false, true, false]) {
            assert_eq!(view.oauth().code(&code.sha256).await.unwrap().is_some(), is_kept);
        }
    }
}
