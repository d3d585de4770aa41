//! Contract of every inventory.

use super::records::{add_documents, add_jobs, add_users};
use crate::builders::{
    api_key, at, audit_entry, conversation, coverage, document, group, id, invitation, job, stored_response,
    usage, user, webhook,
};
use docent_domain::document::{Deletion, DocumentStatus, Failure, FailureCode};
use docent_domain::id::{DocumentId, LeaseId, VersionId};
use docent_domain::job::{Job, JobKind};
use docent_ports::inventory::RecordCounts;
use docent_ports::store::Store;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

crate::battery! {
    inventory_contract in inventory (Arc<dyn Store>);

    async fn empty_store_has_no_records(store) {
        let mut view = store.read().await.unwrap();
        let all = view.inventory();
        assert!(all.counts().await.unwrap().is_empty());
        assert!(all.documents(None, 10).await.unwrap().is_empty());
        assert!(all.deletions(None, 10).await.unwrap().is_empty());
        assert!(all.users(None, 10).await.unwrap().is_empty());
        assert!(all.usage(None, 10).await.unwrap().is_empty());
        assert!(all.groups(None, 10).await.unwrap().is_empty());
        assert!(all.api_keys(None, 10).await.unwrap().is_empty());
        assert!(all.invitations(None, 10).await.unwrap().is_empty());
        assert!(all.conversations(None, 10).await.unwrap().is_empty());
        assert!(all.responses(None, 10).await.unwrap().is_empty());
        assert!(all.webhooks(None, 10).await.unwrap().is_empty());
        assert!(all.audit(None, 10).await.unwrap().is_empty());
        assert!(all.jobs_with_expired_lease(at(1000), 10).await.unwrap().is_empty());
    }

    /// Pages are in the order of IDs without gaps.
    async fn pages_cover_all_records(store) {
        let (users, documents): (Vec<_>, Vec<_>) = ((1..=5).map(user).collect(), (1..=5).map(document).collect());
        let usage: Vec<_> = (1..=5).map(|n| usage(n, user(1).id)).collect();
        add_users(&*store, &[3, 1, 5, 2, 4].map(user)).await;
        add_documents(&*store, &[4, 2, 5, 1, 3].map(document)).await;
        let mut unit = store.begin().await.unwrap();
        for n in [5, 3, 1, 4, 2] {
            unit.usage().insert(&usage[n - 1]).await.unwrap();
        }
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let all = view.inventory();
        assert_eq!(all.counts().await.unwrap(), RecordCounts { users: 5, documents: 5, usage: 5, ..RecordCounts::default() });
        assert_eq!(all.documents(None, 2).await.unwrap(), documents[..2]);
        assert_eq!(all.documents(Some(documents[1].id), 2).await.unwrap(), documents[2..4]);
        assert_eq!(all.documents(Some(documents[3].id), 2).await.unwrap(), documents[4..]);
        assert_eq!(all.documents(Some(documents[4].id), 2).await.unwrap(), []);
        assert_eq!(all.users(Some(users[0].id), 9).await.unwrap(), users[1..]);
        assert_eq!(all.usage(Some(usage[2].id), 1).await.unwrap(), usage[3..4]);
        assert_eq!(all.usage(None, 9).await.unwrap(), usage);
    }

    async fn pages_cover_all_records_of_accounts(store) {
        add_users(&*store, &[user(1)]).await;
        let owner = user(1).id;
        let (groups, keys): (Vec<_>, Vec<_>) = ((1..=3).map(group).collect(), (1..=3).map(|n| api_key(n, owner)).collect());
        let talks: Vec<_> = (1..=3).map(|n| conversation(n, owner)).collect();
        let responses: Vec<_> = (1..=3).map(|n| stored_response(n, owner)).collect();
        let invitations: Vec<_> = (1..=3).map(|n| invitation(n, Some(owner))).collect();
        let webhooks: Vec<_> = (1..=3).map(|n| webhook(n, owner)).collect();
        let entries: Vec<_> = (1..=3).map(audit_entry).collect();
        let mut unit = store.begin().await.unwrap();
        for n in [1, 2, 0] {
            assert!(unit.groups().insert(&groups[n]).await.unwrap());
            assert!(unit.api_keys().insert(&keys[n]).await.unwrap());
            assert!(unit.conversations().insert(&talks[n]).await.unwrap());
            unit.conversations().insert_response(&responses[n]).await.unwrap();
            assert!(unit.invitations().insert(&invitations[n]).await.unwrap());
            assert!(unit.webhooks().insert(&webhooks[n]).await.unwrap());
            unit.audit().append(&entries[n]).await.unwrap();
        }
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let all = view.inventory();
        let counts = RecordCounts {
            users: 1, groups: 3, api_keys: 3, invitations: 3, conversations: 3, responses: 3, webhooks: 3, audit: 3,
            ..RecordCounts::default()
        };
        assert_eq!(all.counts().await.unwrap(), counts);
        assert_eq!(all.groups(None, 2).await.unwrap(), groups[..2]);
        assert_eq!(all.groups(Some(groups[1].id), 2).await.unwrap(), groups[2..]);
        assert_eq!(all.api_keys(None, 2).await.unwrap(), keys[..2]);
        assert_eq!(all.api_keys(Some(keys[1].id), 2).await.unwrap(), keys[2..]);
        assert_eq!(all.invitations(None, 2).await.unwrap(), invitations[..2]);
        assert_eq!(all.invitations(Some(invitations[1].id), 2).await.unwrap(), invitations[2..]);
        assert_eq!(all.conversations(None, 2).await.unwrap(), talks[..2]);
        assert_eq!(all.conversations(Some(talks[1].id), 2).await.unwrap(), talks[2..]);
        assert_eq!(all.responses(None, 2).await.unwrap(), responses[..2]);
        assert_eq!(all.responses(Some(responses[1].id), 2).await.unwrap(), responses[2..]);
        assert_eq!(all.webhooks(None, 2).await.unwrap(), webhooks[..2]);
        assert_eq!(all.webhooks(Some(webhooks[1].id), 2).await.unwrap(), webhooks[2..]);
        assert_eq!(all.audit(None, 2).await.unwrap(), entries[..2]);
        assert_eq!(all.audit(Some(entries[1].id), 2).await.unwrap(), entries[2..]);
    }

    async fn deletions_are_listed_separately(store) {
        add_documents(&*store, &[1, 2, 3].map(document)).await;
        let mut unit = store.begin().await.unwrap();
        unit.documents().mark_deleted(document(2).id, at(50)).await.unwrap();
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let all = view.inventory();
        assert_eq!(all.documents(None, 9).await.unwrap(), [document(1), document(3)]);
        let deletion = Deletion { document: document(2).id, versions: vec![document(2).stored()], at: at(50) };
        assert_eq!(all.deletions(None, 9).await.unwrap(), [deletion]);
        assert_eq!(all.deletions(Some(document(2).id), 9).await.unwrap(), []);
        assert_eq!(all.counts().await.unwrap(), RecordCounts { documents: 2, deletions: 1, ..RecordCounts::default() });
    }

    /// Documents without a record are omitted.
    async fn statuses_match_states(store) {
        let ingested = document(2).ingested(coverage(), at(9)).unwrap();
        let failed = document(3).failed(Failure::of(FailureCode::NoText), None, at(9)).unwrap();
        add_documents(&*store, &[document(1), ingested, failed, document(4)]).await;
        let mut unit = store.begin().await.unwrap();
        unit.documents().mark_deleted(document(4).id, at(50)).await.unwrap();
        unit.commit().await.unwrap();
        let ids: Vec<VersionId> = (1..=5).map(id).collect();
        let statuses = store.read().await.unwrap().inventory().statuses(&ids).await.unwrap();
        let states = [DocumentStatus::Pending, DocumentStatus::Ingested, DocumentStatus::Failed, DocumentStatus::Deleted];
        assert_eq!(statuses, HashMap::from_iter(ids.iter().copied().zip(states)));
        assert!(store.read().await.unwrap().inventory().statuses(&[]).await.unwrap().is_empty());
    }

    /// Queued and leased jobs are open, finished ones are not.
    async fn with_open_job_filters_by_kind(store) {
        add_documents(&*store, &[1, 2, 3, 4].map(document)).await;
        let removal = Job { kind: JobKind::Delete, ..job(3, document(3).id) };
        add_jobs(&*store, &[job(1, document(1).id), job(2, document(2).id), removal]).await;
        let mut unit = store.begin().await.unwrap();
        let lease: LeaseId = id(1);
        // A removal is next.
        assert_eq!(unit.jobs().lease(lease, at(3), at(30)).await.unwrap().unwrap().document, document(1).id);
        let done = unit.jobs().lease(id(2), at(3), at(30)).await.unwrap().unwrap();
        unit.jobs().settle(&Job { state: docent_domain::job::JobState::Done, ..done.clone() }, id(2)).await.unwrap();
        unit.commit().await.unwrap();
        let ids: Vec<DocumentId> = (1..=4).map(id).collect();
        let mut view = store.read().await.unwrap();
        let mut open = HashSet::new();
        for kind in [JobKind::Ingest, JobKind::Delete] {
            open.extend(view.inventory().with_open_job(&ids, kind).await.unwrap().into_iter().map(|id| (id, kind)));
        }
        let mut expected = HashSet::from([
            (document(1).id, JobKind::Ingest), (document(2).id, JobKind::Ingest), (document(3).id, JobKind::Delete),
        ]);
        expected.remove(&(done.document, done.kind));
        assert_eq!(open, expected);
        let some = view.inventory().with_open_job(&ids[..1], JobKind::Ingest).await.unwrap();
        assert_eq!(some, HashSet::from([document(1).id]));
    }

    async fn expired_leases_are_listed(store) {
        add_documents(&*store, &[1, 2].map(document)).await;
        add_jobs(&*store, &[job(1, document(1).id), job(2, document(2).id)]).await;
        let mut unit = store.begin().await.unwrap();
        let leased = unit.jobs().lease(id(1), at(5), at(30)).await.unwrap().unwrap();
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.inventory().jobs_with_expired_lease(at(30), 9).await.unwrap(), []);
        assert_eq!(view.inventory().jobs_with_expired_lease(at(31), 9).await.unwrap(), [leased]);
        assert_eq!(view.inventory().jobs_with_expired_lease(at(31), 0).await.unwrap(), []);
    }
}
