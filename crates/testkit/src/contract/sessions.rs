//! Contract of every repository of sessions.

use super::records::{add_users, first};
use crate::builders::{at, id, session, user};
use docent_domain::id::SessionId;
use docent_domain::listing::SessionFilter;
use docent_domain::session::{BROWSER_SESSION_MAX, PANEL_IDLE_TIMEOUT, Session, SessionKind};
use docent_ports::store::Store;
use std::sync::Arc;

async fn add_sessions(store: &dyn Store, sessions: &[Session]) {
    let mut unit = store.begin().await.unwrap();
    for session in sessions {
        unit.sessions().insert(session).await.unwrap();
    }
    unit.commit().await.unwrap();
}

async fn get(store: &dyn Store, n: u32) -> Option<Session> {
    store.read().await.unwrap().sessions().get(id(n)).await.unwrap()
}

async fn listed(store: &dyn Store, filter: SessionFilter) -> Vec<SessionId> {
    let listed = store.read().await.unwrap().sessions().list(&filter, first(9)).await.unwrap();
    listed.records.into_iter().map(|session| session.id).collect()
}

crate::battery! {
    sessions_contract in sessions (Arc<dyn Store>);

    async fn session_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let bare = Session {
            kind: SessionKind::Api,
            client_ip: None,
            user_agent: None,
            revoked_at: Some(at(5)),
            ..session(1, user(1).id)
        };
        let ipv6 = Session { client_ip: Some("2001:db8::1".parse().unwrap()), ..session(2, user(1).id) };
        add_sessions(&*store, &[bare.clone(), ipv6.clone()]).await;
        assert_eq!(get(&*store, 1).await, Some(bare));
        assert_eq!(get(&*store, 2).await, Some(ipv6));
        assert_eq!(get(&*store, 3).await, None);
    }

    async fn session_is_read_with_its_account(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add_sessions(&*store, &[session(1, user(1).id), session(2, user(2).id)]).await;
        for n in [1, 2] {
            let expected = Some((session(n, user(n).id), user(n)));
            assert_eq!(store.read().await.unwrap().sessions().with_user(id(n)).await.unwrap(), expected);
            assert_eq!(store.read_latest().await.unwrap().sessions().with_user(id(n)).await.unwrap(), expected);
        }
        assert_eq!(store.read_latest().await.unwrap().sessions().with_user(id(3)).await.unwrap(), None);
    }

    async fn addresses_are_distinct_and_those_used_last(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let from = |n: u32, owner: u32, address: Option<&str>| Session {
            client_ip: address.map(|address| address.parse().unwrap()),
            last_used_at: at(n.into()),
            revoked_at: (n == 3).then(|| at(3)),
            ..session(n, user(owner).id)
        };
        add_sessions(&*store, &[
            from(1, 1, Some("192.0.2.1")),
            from(2, 1, Some("2001:db8::1")),
            from(3, 1, Some("192.0.2.3")),
            from(4, 1, Some("192.0.2.1")),
            from(5, 1, None),
            from(6, 2, Some("192.0.2.6")),
        ])
        .await;
        let addresses = async |limit| {
            let found = store.read().await.unwrap().sessions().addresses(user(1).id, limit).await.unwrap();
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(addresses(9).await, ["192.0.2.1", "192.0.2.3", "2001:db8::1"]);
        assert_eq!(addresses(2).await, ["192.0.2.1", "192.0.2.3"]);
    }

    async fn insert_rejects_used_id_and_unknown_account(store) {
        add_users(&*store, &[user(1)]).await;
        add_sessions(&*store, &[session(1, user(1).id)]).await;
        assert!(store.begin().await.unwrap().sessions().insert(&session(1, user(1).id)).await.is_err());
        assert!(store.begin().await.unwrap().sessions().insert(&session(2, user(9).id)).await.is_err());
    }

    async fn touch_ignores_earlier_time_and_revoked_session(store) {
        add_users(&*store, &[user(1)]).await;
        add_sessions(&*store, &[session(1, user(1).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.sessions().touch(id(1), at(50), at(150)).await.unwrap());
        assert!(unit.sessions().touch(id(1), at(40), at(140)).await.unwrap());
        assert!(!unit.sessions().touch(id(2), at(50), at(150)).await.unwrap());
        unit.commit().await.unwrap();
        let known = get(&*store, 1).await.unwrap();
        assert_eq!((known.last_used_at, known.expires_at), (at(50), at(150)));
        let mut unit = store.begin().await.unwrap();
        assert!(unit.sessions().revoke(id(1), at(60)).await.unwrap());
        assert!(!unit.sessions().revoke(id(1), at(70)).await.unwrap());
        assert!(!unit.sessions().touch(id(1), at(80), at(180)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, 1).await.unwrap().revoked_at, Some(at(60)));
    }

    async fn proof_of_identity_is_recorded_unless_session_is_revoked(store) {
        add_users(&*store, &[user(1)]).await;
        add_sessions(&*store, &[session(1, user(1).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.sessions().verify(id(1), at(90)).await.unwrap());
        assert!(!unit.sessions().verify(id(2), at(90)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, 1).await.unwrap().verified_at, at(90));
        let mut unit = store.begin().await.unwrap();
        assert!(unit.sessions().revoke(id(1), at(95)).await.unwrap());
        assert!(!unit.sessions().verify(id(1), at(99)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, 1).await.unwrap().verified_at, at(90));
    }

    async fn revoke_for_user_returns_newly_revoked_sessions(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add_sessions(&*store, &[1, 2, 3].map(|n| session(n, user(1).id))).await;
        add_sessions(&*store, &[session(4, user(2).id)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.sessions().revoke(id(2), at(40)).await.unwrap());
        let mut gone = unit.sessions().revoke_for_user(user(1).id, at(50)).await.unwrap();
        gone.sort_unstable();
        assert_eq!(gone, [id(1), id(3)]);
        assert_eq!(unit.sessions().revoke_for_user(user(1).id, at(60)).await.unwrap(), []);
        unit.commit().await.unwrap();
        assert_eq!(get(&*store, 4).await.unwrap().revoked_at, None);
    }

    /// Lists are last used first, filtered by account, kind and validity.
    async fn list_filters_and_sorts_by_use(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        add_sessions(&*store, &[
            session(1, one),
            Session { kind: SessionKind::Api, ..session(2, one) },
            Session { revoked_at: Some(at(9)), ..session(3, two) },
        ])
        .await;
        assert_eq!(listed(&*store, SessionFilter::default()).await, [id(3), id(2), id(1)]);
        let filter = SessionFilter { user: Some(one), ..SessionFilter::default() };
        assert_eq!(listed(&*store, filter).await, [id(2), id(1)]);
        let filter = SessionFilter { kind: Some(SessionKind::Api), ..SessionFilter::default() };
        assert_eq!(listed(&*store, filter).await, [id(2)]);
        let filter = SessionFilter { valid_at: Some(at(101)), ..SessionFilter::default() };
        assert_eq!(listed(&*store, filter).await, [id(2)]);
    }

    /// API sessions are valid until they expire, and so are those of people who stay signed in.
    async fn idle_panel_session_is_invalid(store) {
        add_users(&*store, &[user(1)]).await;
        let idle = PANEL_IDLE_TIMEOUT.num_seconds();
        let long = |n| Session { expires_at: at(10 * idle), ..session(n, user(1).id) };
        let lasting = Session { last_used_at: at(0), expires_at: at(5) + BROWSER_SESSION_MAX, ..long(4) };
        add_sessions(&*store, &[long(1), long(2), Session { kind: SessionKind::Api, ..long(3) }, lasting]).await;
        for (now, good) in
            [(idle + 1, vec![id(3), id(2), id(1), id(4)]), (idle + 2, vec![id(3), id(2), id(4)])]
        {
            let filter = SessionFilter { valid_at: Some(at(now)), ..SessionFilter::default() };
            assert_eq!(listed(&*store, filter).await, good, "{now}");
        }
    }

    async fn purge_removes_ended_sessions_up_to_limit(store) {
        add_users(&*store, &[user(1)]).await;
        let one = user(1).id;
        let revoked = Session { revoked_at: Some(at(10)), expires_at: at(900), ..session(1, one) };
        add_sessions(&*store, &[revoked, session(2, one), session(3, one), session(400, one)]).await;
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.sessions().purge(at(200), 2).await.unwrap(), 2);
        assert_eq!(unit.sessions().purge(at(200), 2).await.unwrap(), 1);
        assert_eq!(unit.sessions().purge(at(200), 2).await.unwrap(), 0);
        unit.commit().await.unwrap();
        assert_eq!(listed(&*store, SessionFilter::default()).await, [id(400)]);
    }
}
