use super::*;
use docent_domain::attributes::{AttributeKey, AttributeValue};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::id::{CollectionId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::scope::Scope;
use docent_testkit::builders::id;
use std::collections::BTreeSet;
use std::io::Write;

fn labelled(n: u32, collection: u32) -> IndexedVersion {
    let document = indexed(n);
    let collections = BTreeSet::from([id(collection)]);
    IndexedVersion { labels: DocumentLabels { collections, ..document.labels }, ..document }
}

fn scope(collections: &[CollectionId]) -> Scope {
    Scope::SERVICE.within(collections).unwrap()
}

/// The documents in a collection with the word `pump`.
async fn in_collection(index: &EmbeddedIndex, collection: CollectionId) -> Vec<VersionId> {
    let scope = scope(&[collection]);
    let filter = ChunkFilter { scope: &scope, ..ChunkFilter::all(1000) };
    let chunks = index.search(&query("pump"), filter).await.unwrap();
    let documents: BTreeSet<VersionId> = chunks.iter().map(|chunk| chunk.version).collect();
    documents.into_iter().collect()
}

fn lines(folder: &TempDir) -> usize {
    fs::read_to_string(folder.path().join(LABELS)).unwrap().lines().count()
}

#[tokio::test]
async fn labels_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    for n in 1..=3 {
        index.replace(&labelled(n, 1), vec![entry(n, 0, "pump")]).await.unwrap();
    }
    index.relabel(&labelled(2, 2)).await.unwrap();
    drop(index);
    let index = open(&folder);
    assert_eq!(in_collection(&index, id(1)).await, [1, 3].map(version_id));
    assert_eq!(in_collection(&index, id(2)).await, [version_id(2)]);
    assert_eq!(in_collection(&index, CollectionId::EVERYONE).await, []);
}

#[tokio::test]
async fn chunks_of_a_version_without_labels_are_in_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    index.replace(&labelled(1, 1), vec![entry(1, 0, "pump")]).await.unwrap();
    drop(index);
    fs::remove_file(folder.path().join(LABELS)).unwrap();
    let index = open(&folder);
    assert_eq!(in_collection(&index, id(1)).await, []);
    assert_eq!(in_collection(&index, CollectionId::EVERYONE).await, [version_id(1)]);
    let key = AttributeKey::parse("year").unwrap();
    let condition = Condition::compare(key, Comparison::Ne, vec![AttributeValue::Number(1.0)]).unwrap();
    let filter = ChunkFilter { condition: Some(&condition), ..ChunkFilter::all(5) };
    assert_eq!(index.search(&query("pump"), filter).await.unwrap().len(), 1);
    index.relabel(&labelled(1, 2)).await.unwrap();
    assert_eq!(in_collection(&index, CollectionId::EVERYONE).await, []);
    drop(index);
    assert_eq!(in_collection(&open(&folder), id(2)).await, [version_id(1)]);
}

#[tokio::test]
async fn labels_without_a_commit_are_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    index.replace(&labelled(1, 1), vec![entry(1, 0, "pump")]).await.unwrap();
    drop(index);
    // The process ended after the labels and before the commit: of a replaced document, of a new one, and within a line.
    let path = folder.path().join(LABELS);
    let (mut file, _) = LabelFile::open(&path).unwrap();
    file.append(&[labelled(1, 2), labelled(2, 2)]).unwrap();
    fs::File::options().append(true).open(&path).unwrap().write_all(b"{\"document\":").unwrap();
    let index = open(&folder);
    assert_eq!(in_collection(&index, id(2)).await, [version_id(1)]);
    let known: Vec<u128> = index.shared.labels.get().labels().keys().copied().collect();
    assert_eq!(known, [crate::embedded_index::labels::key(version_id(1))]);
    index.replace(&labelled(2, 1), vec![entry(2, 0, "pump")]).await.unwrap();
    drop(index);
    assert_eq!(in_collection(&open(&folder), id(1)).await, [version_id(2)]);
}

#[tokio::test]
async fn labels_are_compacted_on_opening() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    for n in 1..=4 {
        index.replace(&labelled(n, 1), vec![entry(n, 0, "pump")]).await.unwrap();
    }
    index.relabel(&labelled(2, 2)).await.unwrap();
    index.remove(version_id(3)).await.unwrap();
    index.remove(version_id(4)).await.unwrap();
    assert_eq!(lines(&folder), 5);
    drop(index);
    let index = open(&folder);
    assert_eq!(lines(&folder), 2);
    assert_eq!(in_collection(&index, id(1)).await, [version_id(1)]);
    index.relabel(&labelled(1, 3)).await.unwrap();
    drop(index);
    let index = open(&folder);
    assert_eq!(in_collection(&index, id(3)).await, [version_id(1)]);
    assert_eq!(in_collection(&index, id(2)).await, [version_id(2)]);
}

#[tokio::test]
async fn many_changes_do_not_grow_the_file_without_bound() {
    let folder = tempfile::tempdir().unwrap();
    let index = Arc::new(open(&folder));
    index.replace(&labelled(1, 1), vec![entry(1, 0, "pump")]).await.unwrap();
    let changes = (0..1_100).map(|n| {
        let index = Arc::clone(&index);
        tokio::spawn(async move { index.relabel(&labelled(1, n % 7)).await.unwrap() })
    });
    futures::future::join_all(changes).await;
    assert!(lines(&folder) < 200, "{}", lines(&folder));
    index.relabel(&labelled(1, 9)).await.unwrap();
    assert_eq!(in_collection(&index, id(9)).await, [version_id(1)]);
}

#[tokio::test]
async fn document_whose_labels_cannot_be_written_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    let path = folder.path().join(LABELS);
    fs::create_dir(&path).unwrap();
    let fault = index.replace(&labelled(1, 1), vec![entry(1, 0, "pump")]).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unavailable);
    assert!(index.relabel(&labelled(1, 1)).await.unwrap_err().is_transient());
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), []);
    fs::remove_dir(&path).unwrap();
    index.replace(&labelled(1, 1), vec![entry(1, 0, "pump")]).await.unwrap();
    assert_eq!(in_collection(&index, id(1)).await, [version_id(1)]);
}

#[tokio::test]
async fn damaged_labels_are_reported_with_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    index.replace(&labelled(1, 1), vec![entry(1, 0, "pump")]).await.unwrap();
    drop(index);
    fs::write(folder.path().join(LABELS), "{\"document\":1}\n").unwrap();
    let message = open_fault(&folder).report();
    assert!(message.contains("ingest the documents again") && message.contains("line 1"), "{message}");
}

/// Few and many allowed chunks take different ways, which must find the same.
#[tokio::test]
async fn scopes_of_every_size_find_the_best_chunks_with_and_without_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    for n in 0..64_u32 {
        let text = format!("pump{} valve", " pump".repeat((n % 9) as usize));
        let angle = n as f32 / 50.0;
        let entries = (0..4).map(|at| hybrid_entry(n, at, &text, &[angle.cos(), angle.sin()]));
        index.replace(&labelled(n, n.trailing_zeros().min(6) + 1), entries.collect()).await.unwrap();
    }
    for n in [3, 10, 11] {
        index.remove(version_id(n)).await.unwrap();
    }
    let vector = QueryEmbedding { dense: Some(vec![0.6, 0.8]), sparse: None };
    for query in [query("pump"), vector] {
        let all = index.search(&query, ChunkFilter::all(1000)).await.unwrap();
        for collection in 1..=7 {
            let inside = |chunk: &&FoundChunk| {
                let n = (chunk.version.as_uuid().as_u128() & 0xff) as u32;
                n.trailing_zeros().min(6) + 1 == collection
            };
            let expected: Vec<FoundChunk> = all.iter().filter(inside).cloned().collect();
            assert!(!expected.is_empty());
            let scope = scope(&[id(collection)]);
            let filter = ChunkFilter { scope: &scope, ..ChunkFilter::all(1000) };
            assert_eq!(index.search(&query, filter).await.unwrap(), expected);
            let few = index.search(&query, ChunkFilter { limit: 3, ..filter }).await.unwrap();
            assert_eq!(few, expected[..3]);
        }
    }
}
