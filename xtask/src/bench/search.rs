//! How long a search of the embedded index takes, ranking included, at several sizes of the collection.
//!
//! The index is asked in this process, without HTTP, one search at a time: of all documents and of a single one,
//! for few passages and for as many as are candidates of a further ranking. At the end a twentieth of the
//! documents is removed and the same is asked again, for the statistics stay exact. What was found is shown as one
//! number, which a change of speed alone does not change.

use super::synthetic::{Chance, Document, memory, question, size_of};
use anyhow::Result;
use docent_adapters::{
    builtin::embedder::BuiltinEmbedder,
    embedded_index::{EmbeddedIndex, Options},
};
use docent_domain::{id::DocumentId, retrieval::QueryEmbedding};
use docent_ports::{embedder::Embedder, vector_index::VectorIndex};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    process::ExitCode,
    time::Instant,
};

const CHUNKS_PER_DOCUMENT: u32 = 100;
/// Documents that are committed together, as the service does with what has queued up.
const TOGETHER: usize = 16;
const QUERIES: usize = 300;
/// Searches before those that are timed, so that the files are in the system's cache.
const WARM: usize = 30;
/// How many passages are asked for.
const LIMITS: [usize; 2] = [10, 200];
/// One document in so many is removed.
const REMOVED: usize = 20;

/// Measures each size in a temporary folder, or in one below `folder`: that stays, is used again, and nothing is
/// removed from it.
pub(crate) fn run(sizes: &[u32], folder: Option<&Path>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for chunks in sizes {
        let name = format!("docent-bench-search-{chunks}");
        match folder {
            Some(folder) => runtime.block_on(measure(*chunks, &folder.join(name), true))?,
            None => {
                let folder = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
                let done = runtime.block_on(measure(*chunks, &folder, false));
                std::fs::remove_dir_all(&folder)?;
                done?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn measure(chunks: u32, folder: &Path, is_kept: bool) -> Result<()> {
    println!("{chunks} chunks");
    if !folder.exists() {
        fill(chunks, folder).await?;
    }
    let disk = size_of(folder)?;
    println!("  disk          {:9.1} MB, {} bytes a chunk", disk as f64 / 1e6, disk / u64::from(chunks));
    let before = memory("RssAnon:")?;
    let index = EmbeddedIndex::open(folder, Options::default())?;
    let documents = documents(&index).await?;
    search(&index, &documents, "").await?;
    let (own, mapped) = (memory("RssAnon:")?.saturating_sub(before), memory("RssFile:")?);
    let each = |bytes: u64| bytes as f64 / f64::from(chunks);
    println!(
        "  memory        {:9.1} MB of its own, {:.1} bytes a chunk; {:.1} MB of mapped files, {:.0} bytes a chunk",
        own as f64 / 1e6,
        each(own),
        mapped as f64 / 1e6,
        each(mapped),
    );
    if is_kept {
        return Ok(());
    }
    let removed: Vec<DocumentId> = documents.iter().copied().step_by(REMOVED).collect();
    let started = Instant::now();
    for together in removed.chunks(TOGETHER) {
        futures::future::try_join_all(together.iter().map(|document| index.remove(*document))).await?;
    }
    println!("  removing      {:9.2} s for {} documents", started.elapsed().as_secs_f64(), removed.len());
    let left: Vec<DocumentId> =
        documents.into_iter().filter(|document| !removed.contains(document)).collect();
    search(&index, &left, " of the rest").await
}

/// Fills an index, and closes it.
async fn fill(chunks: u32, folder: &Path) -> Result<()> {
    let index = EmbeddedIndex::open(folder, Options::default())?;
    let mut chance = Chance(1);
    let started = Instant::now();
    let sizes: Vec<u32> = (0..chunks.div_ceil(CHUNKS_PER_DOCUMENT))
        .map(|n| CHUNKS_PER_DOCUMENT.min(chunks - n * CHUNKS_PER_DOCUMENT))
        .collect();
    for (batch, sizes) in (0..).zip(sizes.chunks(TOGETHER)) {
        let mut documents = Vec::with_capacity(sizes.len());
        for (n, size) in (batch * TOGETHER as u32..).zip(sizes) {
            let document = Document::new(n, *size, &mut chance)?;
            let embeddings = document.embed().await?;
            documents.push((document.document.clone(), document.into_entries(embeddings)));
        }
        let writes =
            documents.into_iter().map(async |(document, entries)| index.replace(&document, entries).await);
        futures::future::try_join_all(writes).await?;
    }
    // Closing waits for the segments that are being merged.
    drop(index);
    let seconds = started.elapsed().as_secs_f64();
    println!("  building      {seconds:9.1} s, {:.0} chunks a second", f64::from(chunks) / seconds);
    Ok(())
}

async fn documents(index: &EmbeddedIndex) -> Result<Vec<DocumentId>> {
    let (mut documents, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = index.documents(after.as_deref(), 10_000).await?;
        documents.extend(page.documents);
        after = page.next;
        if after.is_none() {
            return Ok(documents);
        }
    }
}

/// Asks the same questions for each limit, of all documents and of one.
async fn search(index: &EmbeddedIndex, documents: &[DocumentId], which: &str) -> Result<()> {
    let mut chance = Chance(2);
    let mut questions = Vec::with_capacity(QUERIES);
    for _ in 0..QUERIES {
        let words = 6 + chance.below(10) as usize;
        let query = BuiltinEmbedder::default().embed_query(&question(&mut chance, words)).await?;
        let document = documents.get(chance.below(documents.len() as u64) as usize).copied();
        questions.push((query, document));
    }
    for limit in LIMITS {
        time(index, &questions, false, limit, &format!("all{which}")).await?;
        time(index, &questions, true, limit, &format!("one{which}")).await?;
    }
    Ok(())
}

async fn time(
    index: &EmbeddedIndex,
    questions: &[(QueryEmbedding, Option<DocumentId>)],
    of_one: bool,
    limit: usize,
    which: &str,
) -> Result<()> {
    let mut times = Vec::with_capacity(questions.len());
    let mut results = DefaultHasher::new();
    for (at, (query, document)) in questions.iter().take(WARM).chain(questions).enumerate() {
        let filter = document.as_ref().filter(|_| of_one).map(std::slice::from_ref);
        let started = Instant::now();
        let found = index.search(query, filter, limit).await?;
        let took = started.elapsed();
        if at >= WARM {
            times.push(took);
            for chunk in &found {
                (chunk.id, chunk.score.to_bits()).hash(&mut results);
            }
        }
    }
    times.sort_unstable();
    let at =
        |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default().as_secs_f64() * 1e3;
    println!(
        "  top {limit:<4} {which:<16} {:8.2} ms p50 {:8.2} ms p95   results {:016x}",
        at(50),
        at(95),
        results.finish()
    );
    Ok(())
}
