//! What every repository of accounts does.

use super::records::add_users;
use crate::builders::{at, user};
use chrono::TimeDelta;
use docent_domain::{text::Email, user::User};
use docent_ports::store::Store;
use std::sync::Arc;

crate::battery! {
    users_contract in users (Arc<dyn Store>);

    /// Every field comes back as it was, each flag on its own.
    async fn every_field_survives(store) {
        let login = Some(at(3) + TimeDelta::microseconds(1));
        let users = [
            User { is_active: false, ..user(1) },
            User { is_staff: true, last_login_at: login, ..user(2) },
            User { is_superuser: true, created_at: at(2) + TimeDelta::microseconds(999_999), ..user(3) },
            User { email: Email::parse("jörg+tag@büro.example").unwrap(), ..user(4) },
        ];
        add_users(&*store, &users).await;
        let mut view = store.read().await.unwrap();
        for user in users {
            assert_eq!(view.users().get(user.id).await.unwrap().as_ref(), Some(&user));
            assert_eq!(view.users().by_email(&user.email).await.unwrap(), Some(user));
        }
    }

    /// Who is not there is nobody, and no error.
    async fn an_unknown_account_is_none(store) {
        let mut view = store.read().await.unwrap();
        assert_eq!(view.users().get(user(1).id).await.unwrap(), None);
        assert_eq!(view.users().by_email(&user(1).email).await.unwrap(), None);
        assert_eq!(view.users().count().await.unwrap(), 0);
    }

    /// An address belongs to one account, however it is written; the unit of work goes on.
    async fn an_address_is_taken_once(store) {
        add_users(&*store, &[user(1)]).await;
        let shouting = Email::parse("USER1@Example.ORG").unwrap();
        let mut unit = store.begin().await.unwrap();
        assert!(!unit.users().insert(&User { email: shouting.clone(), ..user(2) }).await.unwrap());
        assert!(unit.users().insert(&user(3)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.users().by_email(&shouting).await.unwrap(), Some(user(1)));
        assert_eq!(view.users().get(user(2).id).await.unwrap(), None);
        assert_eq!(view.users().count().await.unwrap(), 2);
    }

    /// Of many who want one address at once, one gets it.
    async fn concurrent_claims_of_an_address_have_one_winner(store) {
        let claims = (1..=10).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut unit = store.begin().await.unwrap();
                let claim = User { email: user(0).email, ..user(n) };
                let won = unit.users().insert(&claim).await.unwrap();
                unit.commit().await.unwrap();
                won
            })
        });
        let mut winners = 0;
        for claim in claims.collect::<Vec<_>>() {
            winners += u32::from(claim.await.unwrap());
        }
        assert_eq!(winners, 1);
        assert_eq!(store.read().await.unwrap().users().count().await.unwrap(), 1);
    }

    /// Two accounts never share an id.
    async fn a_second_account_with_an_id_is_refused(store) {
        add_users(&*store, &[user(1)]).await;
        let second = User { email: user(2).email, ..user(1) };
        assert!(store.begin().await.unwrap().users().insert(&second).await.is_err());
        assert_eq!(store.read().await.unwrap().users().get(user(1).id).await.unwrap(), Some(user(1)));
    }

    /// An update writes all present values.
    async fn an_update_replaces_everything(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let changed = User {
            id: user(1).id,
            is_active: false,
            is_staff: true,
            is_superuser: true,
            last_login_at: Some(at(9)),
            ..user(3)
        };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.users().update(&changed).await.unwrap());
        assert!(!unit.users().update(&user(4)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.users().get(user(1).id).await.unwrap(), Some(changed));
        assert_eq!(view.users().by_email(&user(1).email).await.unwrap(), None);
        assert_eq!(view.users().get(user(2).id).await.unwrap(), Some(user(2)));
        assert_eq!(view.users().count().await.unwrap(), 2);
    }

    /// An update cannot take another account's address.
    async fn an_update_to_a_taken_address_is_refused(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let thief = User { email: user(1).email, ..user(2) };
        assert!(store.begin().await.unwrap().users().update(&thief).await.is_err());
        assert_eq!(store.read().await.unwrap().users().get(user(2).id).await.unwrap(), Some(user(2)));
    }
}
