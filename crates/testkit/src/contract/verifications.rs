//! Contract of every repository of verification tokens.

use super::records::{add_users, first};
use crate::builders::{at, id, user, verification};
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_ports::store::Store;
use std::sync::Arc;

async fn add(store: &dyn Store, token: &VerificationToken) {
    let mut unit = store.begin().await.unwrap();
    unit.verifications().insert(token).await.unwrap();
    unit.commit().await.unwrap();
}

async fn all(store: &dyn Store) -> Vec<VerificationToken> {
    store.read().await.unwrap().verifications().list(None, first(9)).await.unwrap().records
}

crate::battery! {
    verifications_contract in verifications (Arc<dyn Store>);

    async fn verification_token_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let token = verification(1, user(1).id, VerificationPurpose::VerifyEmail);
        add(&*store, &token).await;
        let mut view = store.read().await.unwrap();
        assert_eq!(view.verifications().get(id(1)).await.unwrap(), Some(token.clone()));
        assert_eq!(view.verifications().by_sha256(&token.sha256).await.unwrap(), Some(token));
        assert_eq!(view.verifications().by_sha256(&[9; 32]).await.unwrap(), None);
    }

    async fn account_has_several_tokens_for_one_purpose(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        let mail = verification(1, one, VerificationPurpose::VerifyEmail);
        let other = verification(2, two, VerificationPurpose::ResetPassword);
        let first_link = verification(3, one, VerificationPurpose::ResetPassword);
        let second_link = verification(4, one, VerificationPurpose::ResetPassword);
        for token in [&mail, &other, &first_link, &second_link] {
            add(&*store, token).await;
        }
        assert_eq!(all(&*store).await, [second_link, first_link, other, mail]);
        let of_one = store.read().await.unwrap().verifications().list(Some(one), first(1)).await.unwrap();
        assert_eq!((of_one.records[0].id, of_one.total), (id(4), 3));
        let stranger = verification(5, user(9).id, VerificationPurpose::VerifyEmail);
        assert!(store.begin().await.unwrap().verifications().insert(&stranger).await.is_err());
    }

    async fn concurrent_removes_have_one_winner(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &verification(1, user(1).id, VerificationPurpose::ResetPassword)).await;
        let uses = (0..8).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut unit = store.begin().await.unwrap();
                let was_there = unit.verifications().remove(id(1)).await.unwrap();
                unit.commit().await.unwrap();
                was_there
            })
        });
        let mut winners = 0;
        for one in uses.collect::<Vec<_>>() {
            winners += u32::from(one.await.unwrap());
        }
        assert_eq!(winners, 1);
    }

    async fn tokens_are_removed_and_purged_up_to_limit(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        for (n, user, purpose) in [
            (1, one, VerificationPurpose::VerifyEmail),
            (2, one, VerificationPurpose::ResetPassword),
            (3, two, VerificationPurpose::VerifyEmail),
            (500, two, VerificationPurpose::ResetPassword),
        ] {
            add(&*store, &verification(n, user, purpose)).await;
        }
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.verifications().remove_for_user(one, Some(VerificationPurpose::ResetPassword)).await.unwrap(), 1);
        assert_eq!(unit.verifications().remove_for_user(one, None).await.unwrap(), 1);
        assert_eq!(unit.verifications().purge(at(400), 5).await.unwrap(), 1);
        unit.commit().await.unwrap();
        assert_eq!(all(&*store).await, [verification(500, two, VerificationPurpose::ResetPassword)]);
    }
}
