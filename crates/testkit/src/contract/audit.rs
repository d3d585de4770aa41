//! Contract of every audit log.

use super::records::first;
use crate::builders::{at, audit_entry, id, user};
use docent_domain::audit::{AuditAction, AuditActor, AuditEntry, Change};
use docent_domain::listing::{AuditFilter, PageRequest, Period};
use docent_domain::permission::RecordKind;
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
}
