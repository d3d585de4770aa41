//! Contract of every repository of identities.

use super::records::add_users;
use crate::builders::{at, id, session, user};
use docent_domain::id::UserId;
use docent_domain::identity::{Identity, LogoutRequest, ProviderSession};
use docent_ports::store::Store;
use std::sync::Arc;

const ISSUER: &str = "https://idp.example.org/realms/one";

fn identity(subject: &str, user: UserId) -> Identity {
    Identity {
        issuer: ISSUER.to_owned(),
        subject: subject.to_owned(),
        user,
        email: Some("ada@example.org".to_owned()),
        created_at: at(1),
        last_used_at: at(2),
    }
}

fn provider_session(n: u32, subject: &str, session: Option<&str>) -> ProviderSession {
    ProviderSession {
        session: id(n),
        issuer: ISSUER.to_owned(),
        subject: subject.to_owned(),
        provider_session: session.map(str::to_owned),
        has_second_factor: n == 1,
        id_token: (n == 1).then(|| "a.b.c".to_owned()),
    }
}

async fn add(store: &dyn Store, identities: &[Identity]) -> Vec<bool> {
    let mut unit = store.begin().await.unwrap();
    let mut added = Vec::new();
    for identity in identities {
        added.push(unit.identities().insert(identity).await.unwrap());
    }
    unit.commit().await.unwrap();
    added
}

async fn add_sessions(store: &dyn Store, sessions: &[ProviderSession]) {
    let mut unit = store.begin().await.unwrap();
    for (n, known) in (1..).zip(sessions) {
        unit.sessions().insert(&session(n, user(1).id)).await.unwrap();
        unit.identities().insert_session(known).await.unwrap();
    }
    unit.commit().await.unwrap();
}

async fn get(store: &dyn Store, issuer: &str, subject: &str) -> Option<Identity> {
    store.read().await.unwrap().identities().get(issuer, subject).await.unwrap()
}

crate::battery! {
    identities_contract in identities (Arc<dyn Store>);

    async fn identity_is_unique_by_issuer_and_subject(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let first = identity("a", user(1).id);
        let elsewhere = Identity { issuer: "https://other.example.org".to_owned(), email: None, ..first.clone() };
        let taken = Identity { email: None, ..identity("a", user(2).id) };
        assert_eq!(add(&*store, &[first.clone(), elsewhere.clone(), taken]).await, [true, true, false]);
        assert_eq!(get(&*store, ISSUER, "a").await, Some(first));
        assert_eq!(get(&*store, &elsewhere.issuer, "a").await, Some(elsewhere));
        // Subjects are compared exactly.
        assert_eq!(get(&*store, ISSUER, "A").await, None);
    }

    async fn identities_of_an_account_are_listed_oldest_first_and_removed_with_it(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let late = Identity { created_at: at(9), ..identity("late", user(1).id) };
        add(&*store, &[late.clone(), identity("early", user(1).id), identity("other", user(2).id)]).await;
        let listed = store.read().await.unwrap().identities().of_user(user(1).id).await.unwrap();
        assert_eq!(listed, [identity("early", user(1).id), late]);
        let mut unit = store.begin().await.unwrap();
        assert!(unit.users().delete(user(1).id).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, ISSUER, "early").await, None);
        assert!(get(&*store, ISSUER, "other").await.is_some());
    }

    async fn touch_ignores_earlier_times_and_remove_says_what_existed(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &[identity("a", user(1).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.identities().touch(ISSUER, "a", at(7)).await.unwrap());
        assert!(unit.identities().touch(ISSUER, "a", at(5)).await.unwrap());
        assert!(!unit.identities().touch(ISSUER, "b", at(7)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, ISSUER, "a").await.unwrap().last_used_at, at(7));
        let mut unit = store.begin().await.unwrap();
        assert!(unit.identities().remove(ISSUER, "a").await.unwrap());
        assert!(!unit.identities().remove(ISSUER, "a").await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, ISSUER, "a").await, None);
    }

    async fn identity_needs_its_account_and_a_sign_in_its_session(store) {
        add_users(&*store, &[user(1)]).await;
        let orphan = identity("a", user(9).id);
        assert!(store.begin().await.unwrap().identities().insert(&orphan).await.is_err());
        let sign_in = provider_session(5, "a", None);
        assert!(store.begin().await.unwrap().identities().insert_session(&sign_in).await.is_err());
        add_sessions(&*store, &[provider_session(1, "a", Some("s"))]).await;
        let again = provider_session(1, "b", None);
        assert!(store.begin().await.unwrap().identities().insert_session(&again).await.is_err());
    }

    async fn sign_in_of_a_session_round_trips_and_is_removed_with_it(store) {
        add_users(&*store, &[user(1)]).await;
        let sign_ins = [provider_session(1, "a", Some("s")), provider_session(2, "a", None)];
        add_sessions(&*store, &sign_ins).await;
        for known in &sign_ins {
            let found = store.read().await.unwrap().identities().session(known.session).await.unwrap();
            assert_eq!(found.as_ref(), Some(known));
        }
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.sessions().purge(at(1_000), 1).await.unwrap(), 1);
        unit.commit().await.unwrap();
        let mut left = 0;
        for known in &sign_ins {
            left += usize::from(store.read().await.unwrap().identities().session(known.session).await.unwrap().is_some());
        }
        assert_eq!(left, 1);
    }

    async fn logout_request_names_sessions_by_provider_session_or_subject(store) {
        add_users(&*store, &[user(1)]).await;
        let foreign = ProviderSession { issuer: "https://other.example.org".to_owned(), ..provider_session(4, "a", Some("s")) };
        let sign_ins = [
            provider_session(1, "a", Some("s")),
            provider_session(2, "a", Some("t")),
            provider_session(3, "b", None),
            foreign,
        ];
        add_sessions(&*store, &sign_ins).await;
        let named = async |subject: Option<&str>, session: Option<&str>| {
            let request = LogoutRequest {
                issuer: ISSUER.to_owned(),
                subject: subject.map(str::to_owned),
                provider_session: session.map(str::to_owned),
                issued_at: at(1),
            };
            let mut found = store.read().await.unwrap().identities().sessions_to_end(&request).await.unwrap();
            found.sort();
            found
        };
        assert_eq!(named(Some("a"), None).await, [id(1), id(2)]);
        assert_eq!(named(None, Some("t")).await, [id(2)]);
        assert_eq!(named(Some("a"), Some("s")).await, [id(1)]);
        assert_eq!(named(Some("b"), Some("s")).await, []);
        assert_eq!(named(None, None).await, []);
    }
}
