//! Backups and restores.

mod records;

use crate::service::Service;
use docent_app::maintenance::backup::{
    BackupError, BackupOptions, BackupSummary, RestoreSummary, restore, save,
};
use docent_app::maintenance::progress::{NoProgress, Progress};
use docent_domain::document::BlobKey;
use docent_domain::fault::FaultKind;
use docent_domain::id::{CollectionId, DocumentId, VersionId};
use docent_domain::listing::{PageRequest, SessionFilter};
use docent_domain::retrieval::IndexedVersion;
use docent_ports::vector_index::VectorIndex;
use docent_testkit::builders;
use docent_testkit::fakes::archive::{Entries, FakeArchive};
use docent_testkit::retrieval::{entry, indexed};
use futures::FutureExt;
use records::{account_with_all_records, documents_in_each_status, records};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn scope() -> BackupOptions {
    BackupOptions { program: "0.1.0".to_owned(), schema: "current".to_owned(), chunks: true }
}

impl Service {
    async fn saved(&self) -> (FakeArchive, BackupSummary) {
        let archive = FakeArchive::default();
        let saved = save(&self.app, scope(), archive.writer(), &NoProgress).await.unwrap();
        (archive, saved)
    }

    async fn restored(&self, archive: &FakeArchive) -> Result<RestoreSummary, BackupError> {
        restore(&self.app, archive, &NoProgress).await
    }

    async fn is_without_records(&self) -> bool {
        self.ports.store.read().await.unwrap().inventory().counts().await.unwrap().is_empty()
    }
}

#[tokio::test]
async fn restore_contains_all_account_records_except_sessions_links_and_deliveries() {
    let (service, other) = (Service::new(), Service::new());
    let user = account_with_all_records(&service).await;
    let (archive, _) = service.saved().await;
    other.restored(&archive).await.unwrap();
    assert_eq!(records(&*other.ports.store).await, records(&*service.ports.store).await);
    let (mut there, mut here) =
        (service.ports.store.read().await.unwrap(), other.ports.store.read().await.unwrap());
    let assigned_permissions = here.groups().assigned_permissions(user.id).await.unwrap();
    assert_eq!(
        (&assigned_permissions, assigned_permissions.groups.len()),
        (&there.groups().assigned_permissions(user.id).await.unwrap(), 1)
    );
    let all = PageRequest { offset: 0, limit: 99 };
    for n in 1..=2 {
        let id = builders::conversation(n, user.id).id;
        let messages = here.conversations().messages(id, all).await.unwrap();
        assert_eq!(messages, there.conversations().messages(id, all).await.unwrap());
        assert_eq!(messages.total, if n == 1 { 71 } else { 0 });
        let conversation = here.conversations().get(id).await.unwrap().unwrap();
        assert_eq!(Some(&conversation), there.conversations().get(id).await.unwrap().as_ref());
        assert_eq!(conversation.selection.is_everything(), n != 1);
        let shared_with = here.conversations().shared_with(&[id]).await.unwrap().remove(&id);
        assert_eq!(shared_with, (n == 1).then(|| [CollectionId::EVERYONE].into()));
    }
    assert_eq!(here.sessions().list(&SessionFilter::default(), all).await.unwrap().total, 0);
    assert_eq!(here.verifications().list(None, all).await.unwrap().total, 0);
    assert_eq!(here.webhooks().deliveries(builders::id(1), None, all).await.unwrap().total, 0);
}

#[tokio::test]
async fn restored_installation_equals_the_saved_one() {
    for dimensions in [0, 16] {
        let (service, other) = (Service::embedding(dimensions), Service::embedding(dimensions));
        let [ingested, failed, waiting] = documents_in_each_status(&service).await;
        let (archive, saved) = service.saved().await;
        assert_eq!(saved, BackupSummary { users: 1, documents: 3, files: 3, chunks: 1 });
        let restored = other.restored(&archive).await.unwrap();
        let expected = RestoreSummary { users: 1, documents: 3, queued: 1, chunks: 1, reembedded: false };
        assert_eq!(restored, expected);
        assert_eq!(records(&*other.ports.store).await, records(&*service.ports.store).await);
        assert_eq!(
            other.index.entries(VersionId::first(ingested)),
            service.index.entries(VersionId::first(ingested))
        );
        // Cached extractions are not restored; they are created again when needed.
        let files = service.blobs.keys().into_iter().filter(|key| key.starts_with("documents/"));
        assert_eq!(other.blobs.keys(), files.collect::<Vec<_>>());
        assert_eq!(other.document(failed).await.state.name(), "failed");
        assert_eq!(other.drain().await, 1);
        assert_eq!(other.document(waiting).await.state.name(), "ingested");
    }
}

#[tokio::test]
async fn restore_with_the_same_model_keeps_vectors() {
    let (service, other) = (Service::embedding(16), Service::embedding(16));
    let [ingested, ..] = documents_in_each_status(&service).await;
    // A vector that the embedder would not return.
    let mut entries = service.index.entries(VersionId::first(ingested));
    let vector = entries[0].embedding.dense.as_mut().unwrap();
    vector.fill(0.0);
    vector[15] = -1.0;
    let document = IndexedVersion { id: VersionId::first(ingested), ..indexed(1) };
    service.index.replace(&document, entries.clone()).await.unwrap();
    let (archive, _) = service.saved().await;
    other.restored(&archive).await.unwrap();
    assert_eq!(other.index.entries(VersionId::first(ingested)), entries);
}

#[tokio::test]
async fn restore_with_another_model_embeds_chunks_again() {
    let (service, other) = (Service::embedding(16), Service::embedding(8));
    let [ingested, ..] = documents_in_each_status(&service).await;
    let (archive, _) = service.saved().await;
    archive.change(|entries| {
        // All fakes have the same model name, so the archive is edited to name another model.
        let manifest = String::from_utf8(entries[0].1.clone()).unwrap();
        entries[0].1 = manifest.replace("fake-embedder", "more-embedder").into_bytes();
        update_digest(entries);
    });
    let restored = other.restored(&archive).await.unwrap();
    assert!(restored.reembedded);
    let entries = other.index.entries(VersionId::first(ingested));
    let sizes: Vec<_> = entries.iter().map(|entry| entry.embedding.dense.as_ref().unwrap().len()).collect();
    assert_eq!(sizes, [8]);
}

/// Recomputes the digest of an archive.
fn update_digest(entries: &mut Entries) {
    use sha2::{Digest, Sha256};
    let (_, end) = entries.pop().unwrap();
    let mut all = Sha256::new();
    for (name, bytes) in entries.iter() {
        all.update((name.len() as u64).to_be_bytes());
        all.update(name);
        all.update((bytes.len() as u64).to_be_bytes());
        all.update(bytes);
    }
    let digest: String = all.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut end: Value = serde_json::from_slice(&end).unwrap();
    end["sha256"] = digest.into();
    end["entries"] = entries.len().into();
    entries.push(("end.json".to_owned(), end.to_string().into_bytes()));
}

/// Whether `new` has every value of `old`. A record has names for the values that it had as an array.
fn includes(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            old.iter().all(|(name, old)| includes(new.get(name).unwrap_or(&Value::Null), old))
        }
        (Value::Object(new), Value::Array(old)) => new.values().eq(old),
        (new, old) => new == old,
    }
}

#[tokio::test]
async fn archive_of_an_earlier_version_is_restored() {
    let (service, archive) = (Service::new(), FakeArchive::default());
    let lines = include_str!("earlier_archive.jsonl").lines();
    let entry = |line| serde_json::from_str::<(String, String)>(line).unwrap();
    let earlier: Vec<(String, String)> = lines.map(entry).collect();
    let mut entries: Entries =
        earlier.iter().map(|(name, text)| (name.clone(), text.as_bytes().into())).collect();
    let end = json!({"documents": 3});
    entries.push(("end.json".to_owned(), end.to_string().into_bytes()));
    update_digest(&mut entries);
    archive.fill(entries);
    assert_eq!(service.restored(&archive).await.unwrap().documents, 3);
    // The replacement's file is in the archive, or a backup omits the replacement.
    let key = BlobKey::of_version(VersionId::from_uuid(uuid::Uuid::from_u128(0x4d)));
    service.ports.blobs.create(&key).await.unwrap().finish().await.unwrap();
    let mut saved: BTreeMap<String, String> = BTreeMap::new();
    service.saved().await.0.change(|entries| {
        for (name, bytes) in entries {
            saved.insert(name.clone(), String::from_utf8(bytes.clone()).unwrap());
        }
    });
    for (name, earlier) in earlier.iter().filter(|(name, _)| name.contains(".json") && name.contains('/')) {
        let saved = saved.get(name).unwrap_or_else(|| panic!("{name} is saved"));
        let values = |lines: &str| -> Vec<Value> {
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let saved = values(saved);
        for old in values(earlier) {
            assert!(saved.iter().any(|new| includes(new, &old)), "{name}: {old} is not in {saved:?}");
        }
    }
}

// Invariant: A truncated or altered archive is refused before anything is written.
#[tokio::test]
async fn altered_archive_is_refused_and_nothing_is_written() {
    let service = Service::embedding(16);
    documents_in_each_status(&service).await;
    let (archive, _) = service.saved().await;
    let names = archive.names().unwrap();
    let mut wrong: Vec<FakeArchive> = Vec::new();
    let mut with = |change: &dyn Fn(&mut Entries)| {
        let changed = FakeArchive::default();
        archive.change(|entries| {
            let mut entries = entries.clone();
            change(&mut entries);
            wrong.push(changed.clone());
            changed.fill(entries);
        });
    };
    for at in 0..names.len() {
        with(&|entries| drop(entries.remove(at)));
        with(&|entries| entries.truncate(at));
        with(&|entries| entries.swap(at, (at + 1) % names.len()));
        with(&|entries| entries[at].0.push('x'));
        with(&|entries| {
            if let Some(byte) = entries[at].1.last_mut() {
                *byte ^= 1;
            } else {
                entries[at].1.push(b' ');
            }
        });
    }
    with(&|entries| entries.push(("more".to_owned(), Vec::new())));
    with(&|entries| {
        entries[0].1 =
            String::from_utf8(entries[0].1.clone()).unwrap().replace("\"format\":1", "\"format\":2").into();
        update_digest(entries);
    });
    let other = Service::embedding(16);
    for archive in wrong {
        let refused = other.restored(&archive).await.unwrap_err();
        assert!(matches!(refused, BackupError::Archive(_)), "{refused} {:?}", archive.names());
        assert!(other.blobs.keys().is_empty() && other.is_without_records().await);
    }
}

#[tokio::test]
async fn restore_into_a_non_empty_installation_is_refused() {
    let service = Service::new();
    documents_in_each_status(&service).await;
    let (archive, _) = service.saved().await;
    let refused = |error: BackupError, expected: &str| {
        assert!(matches!(&error, BackupError::NotEmpty(found) if found.contains(expected)), "{error}");
    };
    refused(service.restored(&archive).await.unwrap_err(), "1 accounts, 3 documents");

    let other = Service::new();
    other.index.replace(&indexed(7), vec![entry(7, 0, "pump")]).await.unwrap();
    refused(other.restored(&archive).await.unwrap_err(), "chunks");

    let other = Service::new();
    other.ports.blobs.create(&BlobKey::of_version(builders::id(5))).await.unwrap().finish().await.unwrap();
    refused(other.restored(&archive).await.unwrap_err(), "file");
    assert!(other.is_without_records().await);
}

// Invariant: A restore writes all records or none.
#[tokio::test]
async fn interrupted_restore_leaves_no_records_and_can_be_repeated() {
    let service = Service::embedding(16);
    let [ingested, ..] = documents_in_each_status(&service).await;
    let (archive, _) = service.saved().await;
    let other = Service::embedding(16);
    other.index_switch.fail_after(1, 1, FaultKind::Unavailable);
    assert!(other.restored(&archive).await.is_err());
    assert!(other.is_without_records().await);
    other.store_switches.commit.fail_next(1, FaultKind::Unavailable);
    assert!(other.restored(&archive).await.is_err());
    assert!(other.is_without_records().await);
    assert_eq!(other.restored(&archive).await.unwrap().documents, 3);
    assert_eq!(
        other.index.entries(VersionId::first(ingested)),
        service.index.entries(VersionId::first(ingested))
    );
}

#[tokio::test]
async fn interrupted_backup_leaves_no_archive() {
    let service = Service::new();
    documents_in_each_status(&service).await;
    let archive = FakeArchive::default();
    service.index_switch.fail_next(1, FaultKind::Unavailable);
    assert!(save(&service.app, scope(), archive.writer(), &NoProgress).await.is_err());
    assert_eq!(archive.names(), None);
}

#[tokio::test]
async fn backup_that_cannot_be_recorded_is_complete() {
    let (service, other) = (Service::new(), Service::new());
    documents_in_each_status(&service).await;
    let archive = FakeArchive::default();
    service.store_switches.commit.fail_next(1, FaultKind::Unavailable);
    let saved = save(&service.app, scope(), archive.writer(), &NoProgress).await.unwrap();
    assert_eq!(saved.documents, 3);
    assert_eq!(other.restored(&archive).await.unwrap().documents, 3);
}

#[tokio::test]
async fn restore_ingests_documents_with_missing_chunks_again() {
    let (service, other) = (Service::new(), Service::new());
    let [ingested, ..] = documents_in_each_status(&service).await;
    service.index.remove(VersionId::first(ingested)).await.unwrap();
    let (archive, saved) = service.saved().await;
    assert_eq!(saved.chunks, 0);
    assert_eq!(other.restored(&archive).await.unwrap().queued, 2);
    other.drain().await;
    assert_eq!(other.index.entries(VersionId::first(ingested)).len(), 1);
}

/// Deletes documents during a backup.
struct DeleteDuringBackup {
    begun: AtomicUsize,
    service: Arc<Service>,
    victims: Mutex<Vec<DocumentId>>,
}

impl Progress for DeleteDuringBackup {
    fn begin(&self, _stage: &'static str, _steps: Option<u64>) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        for victim in self.victims.lock().unwrap().drain(..) {
            let work = async {
                let mut work = self.service.ports.store.begin().await.unwrap();
                work.documents().mark_deleted(victim, self.service.app.now()).await.unwrap();
                work.commit().await.unwrap();
                self.service
                    .ports
                    .blobs
                    .delete(&BlobKey::of_version(VersionId::first(victim)))
                    .await
                    .unwrap();
                self.service.index.remove(VersionId::first(victim)).await.unwrap();
            };
            work.now_or_never().expect("fakes do not wait");
        }
    }

    fn advance(&self, _steps: u64) {}

    fn end(&self) {}
}

#[tokio::test]
async fn document_deleted_during_a_backup_is_left_out_completely() {
    let service = Arc::new(Service::new());
    let [ingested, failed, _] = documents_in_each_status(&service).await;
    let victims = Mutex::new(vec![ingested]);
    let progress = DeleteDuringBackup { begun: AtomicUsize::new(0), service: Arc::clone(&service), victims };
    let archive = FakeArchive::default();
    let saved = save(&service.app, scope(), archive.writer(), &progress).await.unwrap();
    assert_eq!((saved.documents, progress.begun.load(Ordering::SeqCst)), (2, 1));
    assert!(!archive.names().unwrap().iter().any(|name| name.contains(&ingested.to_string())));
    let other = Service::new();
    assert_eq!(other.restored(&archive).await.unwrap().documents, 2);
    assert_eq!(other.document(failed).await.state.name(), "failed");
}
