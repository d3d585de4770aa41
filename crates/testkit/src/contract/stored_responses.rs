//! Contract of stored responses in every relational store.

use super::records::add_users;
use crate::builders::{at, id, stored_response, user};
use docent_domain::stored_response::StoredResponse;
use docent_ports::store::Store;
use std::sync::Arc;

crate::battery! {
    stored_responses_contract in stored_responses (Arc<dyn Store>);

    /// A response is read as it was stored, whether or not the one before it exists.
    async fn response_is_read_as_it_was_stored(store) {
        add_users(&*store, &[user(1)]).await;
        let first = stored_response(1, user(1).id);
        let full = StoredResponse {
            limited_key: Some(id(7)),
            previous: Some(id(9)),
            content: "{\"text\":\"ünïcødé \u{1f980}\\u0000\"}".to_owned(),
            created_at: at(3) + chrono::TimeDelta::microseconds(5),
            ..stored_response(2, user(1).id)
        };
        add(&*store, &[first.clone(), full.clone()]).await;
        assert_eq!((read(&*store, 1).await, read(&*store, 2).await), (Some(first.clone()), Some(full)));
        assert_eq!(read(&*store, 3).await, None);
        let mut work = store.begin().await.unwrap();
        assert!(work.conversations().insert_response(&first).await.is_err(), "the ID exists");
    }

    /// A response is deleted by its ID, and with its account. Others stay.
    async fn response_is_deleted_alone_or_with_its_account(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let [own, other] = [1, 2].map(|n| stored_response(n, user(1).id));
        add(&*store, &[own, StoredResponse { previous: Some(id(1)), ..other }, stored_response(3, user(2).id)]).await;
        let mut work = store.begin().await.unwrap();
        assert!(work.conversations().delete_response(id(1)).await.unwrap());
        assert!(!work.conversations().delete_response(id(1)).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!((read(&*store, 1).await, read(&*store, 2).await.is_some()), (None, true));
        let mut work = store.begin().await.unwrap();
        assert!(work.users().delete(user(1).id).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!((read(&*store, 2).await, read(&*store, 3).await.is_some()), (None, true));
        let mut work = store.begin().await.unwrap();
        assert!(work.conversations().insert_response(&stored_response(4, user(1).id)).await.is_err());
    }

    /// Old responses are deleted up to a limit.
    async fn purge_removes_old_responses_up_to_limit(store) {
        add_users(&*store, &[user(1)]).await;
        let response = |n| StoredResponse { created_at: at(i64::from(n)), ..stored_response(n, user(1).id) };
        add(&*store, &[1, 2, 3, 4, 5].map(response)).await;
        for (limit, removed) in [(2, 2), (9, 1), (9, 0)] {
            let mut work = store.begin().await.unwrap();
            assert_eq!(work.conversations().purge_responses(at(4), limit).await.unwrap(), removed);
            work.commit().await.unwrap();
        }
        let left = [read(&*store, 3).await, read(&*store, 4).await, read(&*store, 5).await];
        assert_eq!(left.map(|response| response.is_some()), [false, true, true]);
    }
}

async fn add(store: &dyn Store, responses: &[StoredResponse]) {
    let mut work = store.begin().await.unwrap();
    for response in responses {
        work.conversations().insert_response(response).await.unwrap();
    }
    work.commit().await.unwrap();
}

async fn read(store: &dyn Store, n: u32) -> Option<StoredResponse> {
    store.read_latest().await.unwrap().conversations().response(id(n)).await.unwrap()
}
