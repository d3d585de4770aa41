use super::*;
use docent_domain::retrieval::SparseVector;
use docent_testkit::retrieval::{entry, hybrid_entry, indexed, query, terms, version_id};
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

docent_testkit::vector_index_contract!(async {
    let folder = tempfile::tempdir().unwrap();
    (Arc::new(open(&folder)) as _, folder)
});

fn open(folder: &TempDir) -> EmbeddedIndex {
    EmbeddedIndex::open(folder.path(), Options::default()).unwrap()
}

fn open_fault(folder: &TempDir) -> Fault {
    match EmbeddedIndex::open(folder.path(), Options::default()) {
        Ok(_) => panic!("the folder was opened"),
        Err(fault) => fault,
    }
}

fn dense(vector: &[f32]) -> QueryEmbedding {
    QueryEmbedding { sparse: None, dense: Some(vector.to_vec()) }
}

#[tokio::test]
async fn chunks_and_vectors_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    let entries = vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0]), hybrid_entry(1, 1, "valve", &[0.0, 1.0])];
    index.replace(&indexed(1), entries).await.unwrap();
    index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
    index.remove(version_id(2)).await.unwrap();
    let lexical = index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap();
    let nearest = index.search(&dense(&[0.0, 1.0]), ChunkFilter::all(5)).await.unwrap();
    drop(index);
    let index = open(&folder);
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), lexical);
    assert_eq!(index.search(&dense(&[0.0, 1.0]), ChunkFilter::all(5)).await.unwrap(), nearest);
    assert_eq!((lexical.len(), nearest.len()), (1, 1));
}

#[tokio::test]
async fn index_can_be_opened_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    let fault = open_fault(&folder);
    assert!(fault.report().contains("in use by another process"), "{fault}");
    assert!(fault.is_transient());
    drop(index);
    open(&folder);
}

#[tokio::test]
async fn index_is_released_while_a_new_child_has_its_lock_open() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    let inherited = index.shared._lock.0.try_clone().unwrap();
    drop(index);
    open(&folder);
    drop(inherited);
}

#[tokio::test]
async fn unreferenced_vectors_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])]).await.unwrap();
    drop(index);
    let path = folder.path().join(VECTORS);
    let whole = fs::read(&path).unwrap();
    // An append without its commit, complete and incomplete.
    for tail in [&whole[16..], &whole[16..21]] {
        fs::write(&path, [whole.as_slice(), tail].concat()).unwrap();
        let index = open(&folder);
        assert_eq!(index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap().len(), 1);
    }
    let index = open(&folder);
    index.replace(&indexed(2), vec![hybrid_entry(2, 0, "pump", &[1.0, 0.0])]).await.unwrap();
    assert_eq!(index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(5)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn empty_index_accepts_other_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "", &[1.0, 0.0])]).await.unwrap();
    index.remove(version_id(1)).await.unwrap();
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "", &[0.0, 1.0, 0.0])]).await.unwrap();
    assert_eq!(index.search(&dense(&[0.0, 1.0, 0.0]), ChunkFilter::all(5)).await.unwrap().len(), 1);
    drop(index);
    let index = open(&folder);
    assert_eq!(index.search(&dense(&[0.0, 1.0, 0.0]), ChunkFilter::all(5)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn dead_vectors_are_removed_by_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    let rows = |n, x: f32| (0..600).map(|at| hybrid_entry(n, at, "", &[x, 1.0 - x])).collect::<Vec<_>>();
    index.replace(&indexed(1), rows(1, 1.0)).await.unwrap();
    let size = || fs::metadata(folder.path().join(VECTORS)).unwrap().len();
    let once = size();
    for _ in 0..3 {
        index.replace(&indexed(1), rows(1, 1.0)).await.unwrap();
    }
    assert!(size() < 3 * once, "{} of {once}", size());
    assert_eq!(index.search(&dense(&[1.0, 0.0]), ChunkFilter::all(1000)).await.unwrap().len(), 600);
    drop(index);
    assert_eq!(open(&folder).search(&dense(&[1.0, 0.0]), ChunkFilter::all(1000)).await.unwrap().len(), 600);
}

#[tokio::test]
async fn title_counts_for_all_chunks_of_a_document_in_several_segments() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { writer_memory: 15_000_000, ..Options::default() };
    let index = EmbeddedIndex::open(folder.path(), options).unwrap();
    let chunk = |at: u32| {
        let words: Vec<String> = (0..10).map(|word| format!("{}-{at}-{word}", "x".repeat(50_000))).collect();
        let mut entry = entry(1, at, "");
        let (body, title) = (terms(&words.join(" ")), terms("pump manual"));
        entry.embedding.sparse = Some(SparseVector { body, title, ..SparseVector::default() });
        entry
    };
    // More terms than the writer's memory can hold.
    index.replace(&indexed(1), (0..40).map(chunk).collect()).await.unwrap();
    index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
    let segments = index.shared.snapshot().0.segment_readers().len();
    assert!(segments > 2, "{segments}");
    let found = index.search(&query("manual"), ChunkFilter::all(100)).await.unwrap();
    assert_eq!(found.len(), 40);
    assert!(found.iter().all(|chunk| chunk.version == version_id(1) && chunk.score == found[0].score));
}

#[tokio::test]
async fn damaged_folder_is_reported_with_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    let vectors = (0..50).map(|at| hybrid_entry(1, at, "pump", &[1.0, 0.0])).collect();
    index.replace(&indexed(1), vectors).await.unwrap();
    drop(index);
    let files = fs::read_dir(folder.path().join(LEXICAL)).unwrap().map(|file| file.unwrap().path());
    let segment_files: Vec<_> = files.filter(|path| path.extension().is_some()).collect();
    let damaged = segment_files.iter().filter(|path| !path.to_string_lossy().contains(".lock"));
    for path in damaged.chain([&folder.path().join(VECTORS)]) {
        let whole = fs::read(path).unwrap();
        // The garbage-collection list is not needed to read the index.
        if path.ends_with(".managed.json") {
            continue;
        }
        for cut in [0, whole.len() / 2] {
            fs::write(path, &whole[..cut]).unwrap();
            let message = open_fault(&folder).to_string();
            let named = message.contains(&folder.path().display().to_string());
            assert!(named && message.contains("ingest the documents again"), "{}: {message}", path.display());
        }
        fs::write(path, whole).unwrap();
    }
    assert_eq!(open(&folder).count(version_id(1)).await.unwrap(), 50);
}

#[tokio::test]
async fn check_fails_after_the_folder_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let index = open(&folder);
    index.check().await.unwrap();
    fs::remove_dir_all(folder.path().join(LEXICAL)).unwrap();
    let fault = index.check().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unavailable);
}

mod labels;
