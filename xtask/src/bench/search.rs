//! Time of searches in the embedded index or in Qdrant, including ranking, at several sizes.
//!
//! Searches run in this process, one at a time, with a small limit and with the number of candidates for reranking: over all
//! documents, over one, in scopes of different sizes and with a condition; see `rows`. At the end a twentieth of the documents is removed and the searches are repeated. A hash of
//! the results shows whether a change affected more than speed; after the removal it varies, because the average chunk
//! length includes removed chunks until their segment is merged.

mod rows;

use super::size_of;
use super::synthetic::{Document, memory};
use super::words::question;
use crate::random::Random;
use anyhow::{Context, Result};
use clap::ValueEnum;
use docent_domain::id::VersionId;
use docent_index::embedded_index::{EmbeddedIndex, Options};
use docent_index::qdrant::{self, QdrantIndex};
use docent_models::builtin::embedder::BuiltinEmbedder;
use docent_ports::embedder::Embedder;
use docent_ports::vector_index::VectorIndex;
use docent_sql::{SqlOptions, SqlStore};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;

const CHUNKS_PER_DOCUMENT: u32 = 100;
/// Documents per commit, as in the service under load.
const BATCH: usize = 16;
const QUERIES: usize = 300;
/// Result limits.
const LIMITS: [usize; 2] = [10, 200];
/// One in this many documents is removed.
const REMOVED: usize = 20;

/// A Qdrant server to search, and how its collections are created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server<'a> {
    url: &'a str,
    on_disk: bool,
}

impl<'a> Server<'a> {
    pub(crate) fn of(url: Option<&'a str>, on_disk: bool) -> Option<Self> {
        url.map(|url| Self { url, on_disk })
    }
}

/// A step, run in a separate process so that memory is measured separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Step {
    /// Fills an index.
    Fill,
    /// Searches it.
    Search,
    /// Searches it, removes documents and searches again.
    SearchAndRemove,
}

/// Measures each size in a temporary directory, or in a subdirectory of `kept`, which is reused and from which nothing is
/// removed.
pub(crate) fn run(sizes: &[u32], kept: Option<&Path>, qdrant: Option<Server<'_>>) -> Result<ExitCode> {
    let temporary = std::env::temp_dir().join(format!("docent-bench-search-{}", std::process::id()));
    let root = kept.unwrap_or(&temporary);
    let measured = sizes.iter().try_for_each(|chunks| {
        println!("{chunks} chunks");
        if !folder(*chunks, root).exists() {
            run_step(*chunks, root, qdrant, Step::Fill)?;
        }
        let last = if kept.is_some() { Step::Search } else { Step::SearchAndRemove };
        run_step(*chunks, root, qdrant, last)
    });
    if temporary.exists() {
        std::fs::remove_dir_all(&temporary)?;
    }
    measured.map(|()| ExitCode::SUCCESS)
}

fn folder(chunks: u32, root: &Path) -> PathBuf {
    root.join(format!("search-{chunks}"))
}

/// Restarts this program for one step.
fn run_step(chunks: u32, root: &Path, qdrant: Option<Server<'_>>, step: Step) -> Result<()> {
    let name = step.to_possible_value().context("a step has a name")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["bench", "search", "--sizes", &chunks.to_string(), "--step", name.get_name(), "--keep"]);
    command.arg(root);
    if let Some(Server { url, on_disk }) = qdrant {
        command.args(["--qdrant", url]).args(on_disk.then_some("--on-disk"));
    }
    let status = command.status()?;
    anyhow::ensure!(status.success(), "the step {} at {chunks} chunks ended with {status}", name.get_name());
    Ok(())
}

/// Runs a step in this process.
pub(crate) fn step(chunks: u32, root: &Path, qdrant: Option<Server<'_>>, step: Step) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = folder(chunks, root);
    runtime.block_on(async {
        match step {
            Step::Fill => fill(chunks, &folder, qdrant).await,
            Step::Search => measure(chunks, &folder, qdrant, false).await,
            Step::SearchAndRemove => measure(chunks, &folder, qdrant, true).await,
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the index in a directory, or a collection of a Qdrant server whose statistics are in that directory.
async fn open(chunks: u32, folder: &Path, qdrant: Option<Server<'_>>) -> Result<Box<dyn VectorIndex>> {
    let Some(Server { url, on_disk }) = qdrant else {
        return Ok(Box::new(EmbeddedIndex::open(folder, Options::default())?));
    };
    std::fs::create_dir_all(folder)?;
    let store =
        SqlStore::connect(&SqlStore::sqlite_url(&folder.join("statistics.db")), SqlOptions::default())
            .await?;
    store.migrate().await?;
    let options = qdrant::Options {
        collection: format!("docent_bench_{chunks}"),
        on_disk,
        ..qdrant::Options::default()
    };
    Ok(Box::new(QdrantIndex::new(url, None, options, Arc::new(store))?))
}

async fn measure(chunks: u32, folder: &Path, qdrant: Option<Server<'_>>, removes: bool) -> Result<()> {
    let disk = size_of(folder)?;
    if qdrant.is_none() {
        println!(
            "  disk          {:9.1} MB, {} bytes per chunk",
            disk as f64 / 1e6,
            disk / u64::from(chunks)
        );
    }
    let before = memory("RssAnon:")?;
    let index = open(chunks, folder, qdrant).await?;
    let documents = documents(&*index).await?;
    search(&*index, &documents, "").await?;
    let (own, mapped) = (memory("RssAnon:")?.saturating_sub(before), memory("RssFile:")?);
    let each = |bytes: u64| bytes as f64 / f64::from(chunks);
    println!(
        "  memory        {:9.1} MB anonymous, {:.1} bytes per chunk; {:.1} MB of mapped files, {:.0} bytes per chunk",
        own as f64 / 1e6,
        each(own),
        mapped as f64 / 1e6,
        each(mapped),
    );
    if !removes {
        return Ok(());
    }
    let removed: Vec<VersionId> = documents.iter().copied().step_by(REMOVED).collect();
    let started = Instant::now();
    for batch in removed.chunks(BATCH) {
        futures::future::try_join_all(batch.iter().map(|document| index.remove(*document))).await?;
    }
    println!("  removing      {:9.2} s for {} documents", started.elapsed().as_secs_f64(), removed.len());
    let left: Vec<VersionId> = documents.into_iter().filter(|document| !removed.contains(document)).collect();
    search(&*index, &left, " of the rest").await
}

/// Fills an index and closes it. It is renamed when it is complete.
async fn fill(chunks: u32, folder: &Path, qdrant: Option<Server<'_>>) -> Result<()> {
    let new = folder.with_extension("new");
    if new.exists() {
        std::fs::remove_dir_all(&new)?;
    }
    let index = open(chunks, &new, qdrant).await?;
    let mut random = Random(1);
    let started = Instant::now();
    let sizes: Vec<u32> = (0..chunks.div_ceil(CHUNKS_PER_DOCUMENT))
        .map(|n| CHUNKS_PER_DOCUMENT.min(chunks - n * CHUNKS_PER_DOCUMENT))
        .collect();
    for (batch, sizes) in (0..).zip(sizes.chunks(BATCH)) {
        let mut documents = Vec::with_capacity(sizes.len());
        for (n, size) in (batch * BATCH as u32..).zip(sizes) {
            let document = Document::new(n, *size, &mut random)?;
            let embeddings = document.embed().await?;
            documents.push((document.document.clone(), document.into_entries(embeddings)));
        }
        let writes =
            documents.into_iter().map(async |(document, entries)| index.replace(&document, entries).await);
        futures::future::try_join_all(writes).await?;
    }
    // Closing waits for running segment merges.
    drop(index);
    std::fs::rename(&new, folder)?;
    let seconds = started.elapsed().as_secs_f64();
    println!("  building      {seconds:9.1} s, {:.0} chunks/s", f64::from(chunks) / seconds);
    Ok(())
}

async fn documents(index: &dyn VectorIndex) -> Result<Vec<VersionId>> {
    let (mut documents, mut after) = (Vec::new(), None::<String>);
    loop {
        let page = index.versions(after.as_deref(), 10_000).await?;
        documents.extend(page.versions);
        after = page.next;
        if after.is_none() {
            // Their order depends on segment merges.
            documents.sort_unstable();
            return Ok(documents);
        }
    }
}

/// Runs the same searches for each limit and each row.
async fn search(index: &dyn VectorIndex, documents: &[VersionId], which: &str) -> Result<()> {
    let mut random = Random(2);
    let mut questions = Vec::with_capacity(QUERIES);
    for _ in 0..QUERIES {
        let words = 6 + random.below(10) as usize;
        let query = BuiltinEmbedder::default().embed_query(&question(&mut random, words)).await?;
        let document = documents.get(random.below(documents.len() as u64) as usize).copied();
        questions.push((query, document));
    }
    let rows = rows::rows()?;
    for limit in LIMITS {
        rows::time(index, &questions, &rows, limit, which).await?;
    }
    Ok(())
}
