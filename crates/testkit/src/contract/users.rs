//! Contract of every repository of accounts.

use super::records::{add_users, first};
use crate::builders::{api_key, at, conversation, document, group, id, session, usage, user, verification};
use chrono::TimeDelta;
use chrono::{DateTime, Utc};
use docent_domain::document::Document;
use docent_domain::group::{AssignedPermissions, Group};
use docent_domain::limits::AccountLimits;
use docent_domain::listing::{PageRequest, UserFilter, UserOrder};
use docent_domain::permission::{Permission, PermissionSet};
use docent_domain::second_factor::{SecondFactor, TotpSecret};
use docent_domain::text::{Email, LanguageTag, PersonName};
use docent_domain::user::{Person, User};
use docent_domain::verification::VerificationPurpose;
use docent_ports::store::Store;
use std::sync::Arc;

fn second_factor(confirmed_at: Option<DateTime<Utc>>) -> SecondFactor {
    let secret = TotpSecret::from_bytes([7; 20]);
    let (begun_at, recovery_codes) = (confirmed_at.map(|_| at(8)), vec![[1; 32], [255; 32]]);
    SecondFactor { secret, begun_at, confirmed_at, last_step: 1 << 40, recovery_codes }
}

crate::battery! {
    users_contract in users (Arc<dyn Store>);

    async fn user_round_trips(store) {
        let login = Some(at(3) + TimeDelta::microseconds(1));
        let users = [
            User { is_active: false, ..user(1) },
            User { is_staff: true, last_login_at: login, ..user(2) },
            User { is_superuser: true, created_at: at(2) + TimeDelta::microseconds(999_999), ..user(3) },
            User { email_verified_at: Some(at(8)), sessions_from: at(7), ..user(5) },
            User { limits: AccountLimits { answers: Some(0), stored_bytes: Some(1 << 40), ..AccountLimits::default() }, ..user(6) },
            User { second_factor: Some(second_factor(None)), ..user(7) },
            User { second_factor: Some(second_factor(Some(at(9)))), ..user(8) },
            User { language: Some(LanguageTag::parse("pt-BR").unwrap()), ..user(9) },
            User { email: Email::parse("jörg+tag@büro.example").unwrap(), ..user(4) },
        ];
        add_users(&*store, &users).await;
        let mut view = store.read().await.unwrap();
        for user in users {
            assert_eq!(view.users().get(user.id).await.unwrap().as_ref(), Some(&user));
            assert_eq!(view.users().by_email(&user.email).await.unwrap(), Some(user));
        }
    }

    async fn unknown_account_is_none(store) {
        let mut view = store.read().await.unwrap();
        assert_eq!(view.users().get(user(1).id).await.unwrap(), None);
        assert_eq!(view.users().by_email(&user(1).email).await.unwrap(), None);
        assert_eq!(view.users().count().await.unwrap(), 0);
    }

    /// Addresses are unique regardless of case; the unit of work can continue.
    async fn insert_rejects_used_address(store) {
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

    async fn concurrent_inserts_of_address_have_one_winner(store) {
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

    async fn insert_rejects_used_id(store) {
        add_users(&*store, &[user(1)]).await;
        let second = User { email: user(2).email, ..user(1) };
        assert!(store.begin().await.unwrap().users().insert(&second).await.is_err());
        assert_eq!(store.read().await.unwrap().users().get(user(1).id).await.unwrap(), Some(user(1)));
    }

    async fn update_replaces_all_fields(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let changed = User {
            id: user(1).id,
            is_active: false,
            is_staff: true,
            is_superuser: true,
            last_login_at: Some(at(9)),
            name: PersonName::parse("Ada").ok(),
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

    async fn update_rejects_used_address(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let thief = User { email: user(1).email, ..user(2) };
        assert!(store.begin().await.unwrap().users().update(&thief).await.is_err());
        assert_eq!(store.read().await.unwrap().users().get(user(2).id).await.unwrap(), Some(user(2)));
    }

    async fn list_filters_and_sorts(store) {
        let users = [
            User { is_staff: true, name: PersonName::parse("Zoë Müller").ok(), ..user(1) },
            User { is_superuser: true, last_login_at: Some(at(50)), ..user(2) },
            User { is_active: false, last_login_at: Some(at(40)), ..user(3) },
        ];
        add_users(&*store, &users).await;
        let mut unit = store.begin().await.unwrap();
        let viewers: PermissionSet = [Permission::ViewDocument, Permission::ViewJob].into_iter().collect();
        unit.groups().insert(&Group { permissions: viewers, ..group(1) }).await.unwrap();
        let rights = AssignedPermissions { groups: [id(1)].into(), ..AssignedPermissions::default() };
        unit.groups().set_assigned_permissions(user(3).id, &rights).await.unwrap();
        let own = [Permission::ViewDocument].into_iter().collect();
        let rights = AssignedPermissions { permissions: own, ..AssignedPermissions::default() };
        unit.groups().set_assigned_permissions(user(1).id, &rights).await.unwrap();
        unit.commit().await.unwrap();
        let all = UserFilter::default;
        for (filter, expected) in [
            (all(), vec![1, 2, 3]),
            (UserFilter { text: Some("ER2@EX".into()), ..all() }, vec![2]),
            (UserFilter { text: Some("zoË".into()), ..all() }, vec![1]),
            (UserFilter { is_active: Some(false), ..all() }, vec![3]),
            (UserFilter { can_use_panel: Some(true), ..all() }, vec![1, 2]),
            (UserFilter { can_use_panel: Some(false), ..all() }, vec![3]),
            (UserFilter { is_superuser: Some(true), ..all() }, vec![2]),
            (UserFilter { is_superuser: Some(false), ..all() }, vec![1, 3]),
            (UserFilter { group: Some(id(1)), ..all() }, vec![3]),
            (UserFilter { permission: Some(Permission::ViewDocument), ..all() }, vec![1, 3]),
            (UserFilter { permission: Some(Permission::ViewJob), ..all() }, vec![3]),
            (UserFilter { permission: Some(Permission::ViewUser), ..all() }, vec![]),
            (UserFilter { order: UserOrder::Newest, ..all() }, vec![3, 2, 1]),
            (UserFilter { order: UserOrder::LastLogin, ..all() }, vec![2, 3, 1]),
        ] {
            let listed = store.read().await.unwrap().users().list(&filter, first(9)).await.unwrap();
            let ids: Vec<_> = listed.records.iter().map(|user| user.id).collect();
            assert_eq!(ids, expected.iter().map(|n| id(*n)).collect::<Vec<_>>(), "{filter:?}");
            assert_eq!(listed.total, expected.len() as u64);
        }
        let page = PageRequest { offset: 1, limit: 1 };
        let second = store.read().await.unwrap().users().list(&all(), page).await.unwrap();
        assert_eq!((second.records, second.total), (vec![users[1].clone()], 3));
    }

    async fn people_and_emails_omit_missing_accounts(store) {
        let name = PersonName::parse("Ada Lovelace").ok();
        add_users(&*store, &[user(1), user(2), User { name: name.clone(), ..user(3) }]).await;
        let mut view = store.read().await.unwrap();
        let people = view.users().people(&[id(1), id(3), id(9)]).await.unwrap();
        let person = |n, name| Person { email: user(n).email, name };
        assert_eq!(people, [(id(1), person(1, None)), (id(3), person(3, name))].into());
        let emails = view.users().emails(&[id(1), id(3), id(9)]).await.unwrap();
        assert_eq!(emails, [(id(1), user(1).email), (id(3), user(3).email)].into());
        assert!(view.users().emails(&[]).await.unwrap().is_empty());
    }

    async fn delete_removes_dependent_records_but_keeps_documents(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let mut unit = store.begin().await.unwrap();
        unit.groups().insert(&group(1)).await.unwrap();
        let rights = AssignedPermissions { groups: [id(1)].into(), permissions: PermissionSet::all(), ..AssignedPermissions::default() };
        for n in [1, 2] {
            let owner = user(n).id;
            unit.groups().set_assigned_permissions(owner, &rights).await.unwrap();
            unit.api_keys().insert(&api_key(n, owner)).await.unwrap();
            unit.sessions().insert(&session(n, owner)).await.unwrap();
            unit.verifications().insert(&verification(n, owner, VerificationPurpose::ResetPassword)).await.unwrap();
            unit.conversations().insert(&conversation(n, owner)).await.unwrap();
            unit.documents().insert(&Document { owner: Some(owner), ..document(n) }).await.unwrap();
            unit.usage().insert(&usage(n, owner)).await.unwrap();
        }
        unit.commit().await.unwrap();
        let mut unit = store.begin().await.unwrap();
        assert!(unit.users().delete(id(1)).await.unwrap());
        assert!(!unit.users().delete(id(1)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.users().get(id(1)).await.unwrap(), None);
        assert!(view.groups().permissions(id(1)).await.unwrap().is_empty());
        for (n, stays) in [(1, false), (2, true)] {
            assert_eq!(view.api_keys().get(id(n)).await.unwrap().is_some(), stays);
            assert_eq!(view.sessions().get(id(n)).await.unwrap().is_some(), stays);
            assert_eq!(view.verifications().get(id(n)).await.unwrap().is_some(), stays);
            assert_eq!(view.conversations().get(id(n)).await.unwrap().is_some(), stays);
            let document = view.documents().get(id(n)).await.unwrap().unwrap();
            assert_eq!(document.owner.is_some(), stays);
        }
    }
}
