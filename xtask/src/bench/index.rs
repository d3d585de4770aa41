//! Time, memory and disk for filling and searching the embedded index, optionally with dense vectors.

use super::size_of;
use super::synthetic::{Document, dense_vector, memory};
use super::words::question;
use crate::random::Random;
use anyhow::Result;
use docent_domain::retrieval::ChunkFilter;
use docent_index::embedded_index::{EmbeddedIndex, Options};
use docent_models::builtin::embedder::BuiltinEmbedder;
use docent_ports::embedder::Embedder;
use docent_ports::vector_index::VectorIndex;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const CHUNKS_PER_DOCUMENT: u32 = 100;
const QUERIES: u32 = 300;
const WORDS_PER_QUERY: usize = 8;

/// Fills an index in a temporary directory and searches it. With `dimensions` above 0, chunks and queries also have dense
/// vectors.
pub(crate) fn run(chunks: u32, dimensions: usize) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(chunks, dimensions))
}

async fn measure(chunks: u32, dimensions: usize) -> Result<ExitCode> {
    let folder = std::env::temp_dir().join(format!("docent-bench-index-{}", std::process::id()));
    let index = EmbeddedIndex::open(&folder, Options::default())?;
    let mut random = Random(1);
    let (mut embedding, mut indexing) = (Duration::ZERO, Duration::ZERO);
    let documents = chunks.div_ceil(CHUNKS_PER_DOCUMENT);
    for n in 0..documents {
        let size = CHUNKS_PER_DOCUMENT.min(chunks - n * CHUNKS_PER_DOCUMENT);
        let document = Document::new(n, size, &mut random)?;
        let started = Instant::now();
        let mut embeddings = document.embed().await?;
        embedding += started.elapsed();
        for embedding in &mut embeddings {
            embedding.dense = dense_vector(&mut random, dimensions);
        }
        let indexed = document.document.clone();
        let entries = document.into_entries(embeddings);
        let started = Instant::now();
        index.replace(&indexed, entries).await?;
        indexing += started.elapsed();
    }
    println!("{chunks} chunks of {documents} documents, one commit each");
    println!("embedding    {:8.2} s", embedding.as_secs_f64());
    println!("indexing     {:8.2} s", indexing.as_secs_f64());
    print_memory("filled")?;
    drop(index);
    let started = Instant::now();
    let index = EmbeddedIndex::open(&folder, Options::default())?;
    println!("opening      {:8.1} ms", started.elapsed().as_secs_f64() * 1e3);
    println!("disk         {:8} MB", size_of(&folder)? / 1_000_000);
    for limit in [5, 200] {
        search(&index, limit, dimensions, &mut random).await?;
    }
    print_memory("searched")?;
    drop(index);
    std::fs::remove_dir_all(&folder)?;
    Ok(ExitCode::SUCCESS)
}

async fn search(index: &EmbeddedIndex, limit: usize, dimensions: usize, random: &mut Random) -> Result<()> {
    let embedder = BuiltinEmbedder::default();
    let mut times = Vec::new();
    for _ in 0..QUERIES {
        let mut query = embedder.embed_query(&question(random, WORDS_PER_QUERY)).await?;
        query.dense = dense_vector(random, dimensions);
        let started = Instant::now();
        let found = index.search(&query, ChunkFilter::all(limit)).await?;
        times.push(started.elapsed());
        anyhow::ensure!(!found.is_empty(), "a query of indexed words has no results");
    }
    times.sort_unstable();
    let at =
        |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default().as_secs_f64() * 1e3;
    println!("top {limit:<8} {:8.2} ms median, {:.2} ms at 95 %", at(50), at(95));
    Ok(())
}

/// Prints anonymous memory, and resident memory including cached pages of mapped files.
fn print_memory(when: &str) -> Result<()> {
    let mebibytes = |name| Ok::<_, anyhow::Error>(memory(name)? >> 20);
    let (own, all, most) = (mebibytes("RssAnon:")?, mebibytes("VmRSS:")?, mebibytes("VmHWM:")?);
    println!("memory       {own:8} MiB anonymous, {all} MiB resident, {most} MiB peak, {when}");
    Ok(())
}
