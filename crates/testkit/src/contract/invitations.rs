//! Contract of every repository of invitations.

use super::records::{add_users, first};
use crate::builders::{at, id, invitation, user};
use docent_domain::collection::CollectionRole;
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_ports::store::Store;
use std::sync::Arc;

async fn add(store: &dyn Store, invitation: &Invitation) -> bool {
    let mut unit = store.begin().await.unwrap();
    let is_new = unit.invitations().insert(invitation).await.unwrap();
    unit.commit().await.unwrap();
    is_new
}

async fn all(store: &dyn Store, text: Option<&str>) -> Vec<Invitation> {
    store.read().await.unwrap().invitations().list(text, first(9)).await.unwrap().records
}

crate::battery! {
    invitations_contract in invitations (Arc<dyn Store>);

    async fn invitation_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let access = InvitedAccess {
            groups: [id(7), id(8)].into(),
            collections: [(id(9), CollectionRole::Viewer), (id(10), CollectionRole::Manager)].into(),
        };
        let invited = Invitation { access, ..invitation(1, Some(user(1).id)) };
        assert!(add(&*store, &invited).await);
        let mut view = store.read().await.unwrap();
        assert_eq!(view.invitations().get(invited.id).await.unwrap(), Some(invited.clone()));
        assert_eq!(view.invitations().by_email(&invited.email).await.unwrap(), Some(invited.clone()));
        assert_eq!(view.invitations().by_email(&user(1).email).await.unwrap(), None);
        assert_eq!(view.invitations().by_sha256(&[1; 32]).await.unwrap(), Some(invited));
        assert_eq!(view.invitations().by_sha256(&[9; 32]).await.unwrap(), None);
    }

    async fn email_address_has_one_invitation(store) {
        assert!(add(&*store, &invitation(1, None)).await);
        assert!(!add(&*store, &Invitation { id: id(2), sha256: [2; 32], ..invitation(1, None) }).await);
        assert_eq!(all(&*store, None).await, [invitation(1, None)]);
        let same_digest = Invitation { sha256: [1; 32], ..invitation(3, None) };
        assert!(store.begin().await.unwrap().invitations().insert(&same_digest).await.is_err());
        let stranger = invitation(4, Some(user(9).id));
        assert!(store.begin().await.unwrap().invitations().insert(&stranger).await.is_err());
    }

    async fn update_replaces_secret_and_inviter(store) {
        add_users(&*store, &[user(1)]).await;
        add(&*store, &invitation(1, None)).await;
        let again = Invitation {
            invited_by: Some(user(1).id), is_emailed: false, sha256: [5; 32], expires_at: at(500), ..invitation(1, None)
        };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.invitations().update(&again).await.unwrap());
        assert!(!unit.invitations().update(&invitation(2, None)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(all(&*store, None).await, [again]);
        assert_eq!(store.read().await.unwrap().invitations().by_sha256(&[1; 32]).await.unwrap(), None);
    }

    async fn invitations_are_listed_newest_first_and_found_by_address(store) {
        for n in [2, 3, 1] {
            add(&*store, &invitation(n, None)).await;
        }
        assert_eq!(all(&*store, None).await, [3, 2, 1].map(|n| invitation(n, None)));
        assert_eq!(all(&*store, Some("GUEST2@")).await, [invitation(2, None)]);
        assert!(all(&*store, Some("_uest")).await.is_empty());
        let page = store.read().await.unwrap().invitations().list(None, first(1)).await.unwrap();
        assert_eq!((page.records, page.total), (vec![invitation(3, None)], 3));
    }

    /// Otherwise they would look like those of the command line, which may give everything.
    async fn invitations_are_deleted_with_their_inviter(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        for (n, by) in [(1, Some(user(1).id)), (2, Some(user(2).id)), (3, None)] {
            add(&*store, &invitation(n, by)).await;
        }
        let mut unit = store.begin().await.unwrap();
        assert!(unit.users().delete(user(1).id).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(all(&*store, None).await, [invitation(3, None), invitation(2, Some(user(2).id))]);
    }

    async fn concurrent_removes_have_one_winner(store) {
        add(&*store, &invitation(1, None)).await;
        let uses = (0..8).map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut unit = store.begin().await.unwrap();
                let was_there = unit.invitations().remove(id(1)).await.unwrap();
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

    async fn expired_invitations_are_purged_up_to_limit(store) {
        for n in [1, 2, 200] {
            add(&*store, &invitation(n, None)).await;
        }
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.invitations().purge(at(200), 1).await.unwrap(), 1);
        assert_eq!(unit.invitations().purge(at(200), 5).await.unwrap(), 1);
        unit.commit().await.unwrap();
        assert_eq!(all(&*store, None).await, [invitation(200, None)]);
    }
}
