//! Contract of every audit log.

use super::records::first;
use crate::builders::{at, audit_entry, id, user};
use docent_domain::audit::{AuditAction, AuditActor, AuditEntry, Change};
use docent_domain::listing::{AuditFilter, PageRequest, Period};
use docent_domain::permission::RecordKind;
use docent_ports::audit::{FailedLogins, NETWORKS_MAX, OTHER_NETWORKS};
use docent_ports::store::Store;
use std::sync::Arc;

async fn append(store: &dyn Store, entries: &[AuditEntry]) {
    let mut unit = store.begin().await.unwrap();
    for entry in entries {
        unit.audit().append(entry).await.unwrap();
    }
    unit.commit().await.unwrap();
}

async fn listed(store: &dyn Store, filter: AuditFilter) -> Vec<u32> {
    let listed = store.read().await.unwrap().audit().list(&filter, first(99)).await.unwrap();
    let numbers = listed.records.iter().map(|entry| u32::try_from((entry.at - at(0)).num_seconds()).unwrap());
    numbers.collect()
}

fn actor(n: u32) -> AuditActor {
    AuditActor::User { id: user(n).id, email: user(n).email.as_str().to_owned(), api_key: None }
}

crate::battery! {
    audit_contract in audit (Arc<dyn Store>);

    /// All fields are stored and read unchanged, even for missing accounts and records.
    async fn audit_entry_round_trips(store) {
        let change = |before: Option<&str>, after: Option<&str>| Change {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        let full = AuditEntry {
            actor: AuditActor::User { id: user(9).id, email: "gone@example.org".into(), api_key: Some(id(3)) },
            client_ip: Some("2001:db8::1".parse().unwrap()),
            action: AuditAction::Change,
            changes: [
                ("title".to_owned(), change(Some("„before“"), Some("after"))),
                ("owner".to_owned(), change(None, Some(""))),
                ("file".to_owned(), change(Some("x"), None)),
            ]
            .into(),
            ..audit_entry(1)
        };
        let entries = [full, audit_entry(2), AuditEntry { actor: AuditActor::Unauthenticated, ..audit_entry(3) }];
        append(&*store, &entries).await;
        let mut view = store.read().await.unwrap();
        for entry in entries {
            assert_eq!(view.audit().get(entry.id).await.unwrap(), Some(entry));
        }
    }

    /// IDs are unique.
    async fn append_rejects_used_id(store) {
        append(&*store, &[audit_entry(1)]).await;
        let second = AuditEntry { label: "something else".into(), ..audit_entry(1) };
        assert!(store.begin().await.unwrap().audit().append(&second).await.is_err());
        assert_eq!(store.read().await.unwrap().audit().get(id(1)).await.unwrap(), Some(audit_entry(1)));
    }

    /// Every action and kind of record can be stored.
    async fn every_action_and_kind_round_trips(store) {
        let actions = AuditAction::ALL.iter().zip(RecordKind::ALL.iter().cycle());
        let entries: Vec<AuditEntry> =
            actions.zip(1..).map(|((action, kind), n)| AuditEntry { action: *action, kind: *kind, ..audit_entry(n) }).collect();
        append(&*store, &entries).await;
        let listed = store.read().await.unwrap().audit().list(&AuditFilter::default(), first(99)).await.unwrap();
        assert_eq!(listed.records.into_iter().rev().collect::<Vec<_>>(), entries);
    }

    /// Lists are newest first and filtered by actor, action, record and time.
    async fn list_filters_and_sorts_newest_first(store) {
        append(&*store, &[
            audit_entry(1),
            AuditEntry { actor: actor(1), ..audit_entry(2) },
            AuditEntry { action: AuditAction::Delete, record: "17".into(), ..audit_entry(3) },
            AuditEntry { kind: RecordKind::User, record: "17".into(), ..audit_entry(4) },
        ])
        .await;
        let all = AuditFilter::default;
        assert_eq!(listed(&*store, all()).await, [4, 3, 2, 1]);
        assert_eq!(listed(&*store, AuditFilter { actor: Some(user(1).id), ..all() }).await, [2]);
        assert_eq!(listed(&*store, AuditFilter { action: Some(AuditAction::Delete), ..all() }).await, [3]);
        assert_eq!(listed(&*store, AuditFilter { kind: Some(RecordKind::User), ..all() }).await, [4]);
        assert_eq!(listed(&*store, AuditFilter { record: Some("17".into()), ..all() }).await, [4, 3]);
        let period = Period { from: Some(at(2)), to: Some(at(4)) };
        assert_eq!(listed(&*store, AuditFilter { period, ..all() }).await, [3, 2]);
        let page = PageRequest { offset: 1, limit: 2 };
        let some = store.read().await.unwrap().audit().list(&all(), page).await.unwrap();
        assert_eq!((some.records.len(), some.records[0].id, some.total), (2, id(3), 4));
    }

    /// Old entries are listed oldest first, and removed; the others remain.
    async fn old_entries_are_listed_and_removed(store) {
        append(&*store, &(1..=5).map(audit_entry).collect::<Vec<_>>()).await;
        let mut view = store.read().await.unwrap();
        let first = view.audit().oldest(at(4), None, 2).await.unwrap();
        assert_eq!(first, [audit_entry(1), audit_entry(2)]);
        let rest = view.audit().oldest(at(4), Some((at(2), id(2))), 2).await.unwrap();
        assert_eq!(rest, [audit_entry(3)]);
        drop(view);
        for removed in [3, 0] {
            let mut unit = store.begin().await.unwrap();
            assert_eq!(unit.audit().remove(id(90 + removed), at(9), at(4)).await.unwrap(), u64::from(removed));
            unit.commit().await.unwrap();
        }
        assert_eq!(listed(&*store, AuditFilter::default()).await, [5, 4]);
    }

    /// Failed logins are counted by network and hour, also concurrently, and taken once.
    async fn failed_logins_are_counted_by_network_and_hour(store) {
        let count = async |network: &str, hour| {
            let mut unit = store.begin().await.unwrap();
            unit.audit().count_failed_login(network, at(hour)).await.unwrap();
            unit.commit().await.unwrap();
        };
        futures::future::join_all((0..4).map(|_| count("192.0.2.0/24", 0))).await;
        count("2001:db8::/64", 0).await;
        count("192.0.2.0/24", 3600).await;
        let logins = |network: &str, hour, attempts| FailedLogins { network: network.to_owned(), hour: at(hour), attempts };
        for expected in [vec![logins("192.0.2.0/24", 0, 4), logins("2001:db8::/64", 0, 1)], vec![]] {
            let mut unit = store.begin().await.unwrap();
            assert_eq!(unit.audit().take_failed_logins(at(3600)).await.unwrap(), expected);
            unit.commit().await.unwrap();
        }
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.audit().take_failed_logins(at(7200)).await.unwrap(), [logins("192.0.2.0/24", 3600, 1)]);
    }

    /// The number of networks that are counted apart is bounded.
    async fn networks_of_an_hour_are_bounded(store) {
        let mut unit = store.begin().await.unwrap();
        for n in 0..NETWORKS_MAX + 5 {
            unit.audit().count_failed_login(&format!("{n:05}"), at(0)).await.unwrap();
        }
        unit.audit().count_failed_login("00000", at(0)).await.unwrap();
        let taken = unit.audit().take_failed_logins(at(1)).await.unwrap();
        let of = |network: &str| taken.iter().find(|logins| logins.network == network).map(|logins| logins.attempts);
        assert_eq!((taken.len() as u64, of("00000"), of(OTHER_NETWORKS)), (NETWORKS_MAX + 1, Some(2), Some(5)));
    }
}
