//! How long the embedded index takes to fill and to search, and how much memory and disk.
//!
//! The text is synthetic: words of a large vocabulary, the frequency of each inverse to its rank, as
//! in natural language. Every run makes the same text.

use anyhow::{Context, Result};
use docent_adapters::{
    builtin::embedder::BuiltinEmbedder,
    embedded_index::{EmbeddedIndex, Options},
};
use docent_domain::{
    chunk::{PageStart, Position, Span},
    id::{ChunkId, DocumentId},
    retrieval::{Embedding, IndexEntry, IndexedDocument, Passages},
    text::Title,
};
use docent_ports::{embedder::Embedder, vector_index::VectorIndex};
use std::{
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

const VOCABULARY: f64 = 200_000.0;
const WORDS_PER_CHUNK: usize = 350;
const CHUNKS_PER_DOCUMENT: u32 = 100;
const QUERIES: u32 = 300;
const WORDS_PER_QUERY: usize = 8;

/// Fills an index with `chunks` chunks in a temporary folder and searches it. With `dimensions`
/// above 0 the chunks and queries have dense vectors too.
pub(crate) fn run(chunks: u32, dimensions: usize) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(measure(chunks, dimensions))
}

async fn measure(chunks: u32, dimensions: usize) -> Result<ExitCode> {
    let folder = std::env::temp_dir().join(format!("docent-bench-index-{}", std::process::id()));
    let index = EmbeddedIndex::open(&folder, Options::default())?;
    let mut chance = Chance(1);
    let (mut embedding, mut indexing) = (Duration::ZERO, Duration::ZERO);
    let documents = chunks.div_ceil(CHUNKS_PER_DOCUMENT);
    for n in 0..documents {
        let size = CHUNKS_PER_DOCUMENT.min(chunks - n * CHUNKS_PER_DOCUMENT);
        let texts: Vec<String> = (0..size).map(|_| text(&mut chance, WORDS_PER_CHUNK)).collect();
        let document = document(n, &mut chance)?;
        let started = Instant::now();
        let embeddings = embed(&document, &texts).await?;
        embedding += started.elapsed();
        let entries = entries(&document, texts, embeddings, dimensions, &mut chance);
        let started = Instant::now();
        index.replace(&document, entries).await?;
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
        search(&index, limit, dimensions, &mut chance).await?;
    }
    print_memory("searched")?;
    drop(index);
    std::fs::remove_dir_all(&folder)?;
    Ok(ExitCode::SUCCESS)
}

async fn search(index: &EmbeddedIndex, limit: usize, dimensions: usize, chance: &mut Chance) -> Result<()> {
    let embedder = BuiltinEmbedder;
    let mut times = Vec::new();
    for _ in 0..QUERIES {
        let mut query = embedder.embed_query(&text(chance, WORDS_PER_QUERY)).await?;
        query.dense = vector(chance, dimensions);
        let started = Instant::now();
        let found = index.search(&query, None, limit).await?;
        times.push(started.elapsed());
        anyhow::ensure!(!found.is_empty(), "a query of known words found nothing");
    }
    times.sort_unstable();
    let at =
        |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default().as_secs_f64() * 1e3;
    println!("top {limit:<8} {:8.2} ms median, {:.2} ms at 95 %", at(50), at(95));
    Ok(())
}

async fn embed(document: &IndexedDocument, texts: &[String]) -> Result<Vec<Embedding>> {
    let chunks: Vec<(u32, &str)> = (1..).zip(texts.iter().map(String::as_str)).collect();
    let lead = texts.first().map_or("", String::as_str);
    let passages = Passages { title: document.title.as_str(), lead, chunks: &chunks, headings: &[] };
    Ok(BuiltinEmbedder.embed_passages(passages).await?)
}

fn document(n: u32, chance: &mut Chance) -> Result<IndexedDocument> {
    let id: DocumentId = format!("00000000-0000-7000-8000-{n:012x}").parse()?;
    let title = format!("{} {n}.pdf", text(chance, 3));
    Ok(IndexedDocument { id, title: Title::parse(&title)?, filename: title })
}

fn entries(
    document: &IndexedDocument,
    texts: Vec<String>,
    embeddings: Vec<Embedding>,
    dimensions: usize,
    chance: &mut Chance,
) -> Vec<IndexEntry> {
    let entry = |(ordinal, (text, mut embedding)): (u32, (String, Embedding))| {
        embedding.dense = vector(chance, dimensions);
        let page = ordinal + 1;
        IndexEntry {
            id: ChunkId::of(document.id, ordinal),
            ordinal,
            text,
            span: Span { start: Position { page, offset: 0 }, end: Position { page: page + 1, offset: 0 } },
            pages: vec![PageStart { page, at: 0 }],
            embedding,
        }
    };
    (0..).zip(texts.into_iter().zip(embeddings)).map(entry).collect()
}

/// The same numbers in every run (splitmix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn text(chance: &mut Chance, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        // The logarithm of the rank is even, so the frequency is the inverse of the rank.
        let rank = VOCABULARY.powf(chance.share()) as u64;
        word(rank, &mut text);
        text.push(' ');
    }
    text
}

/// A pronounceable word for a rank.
fn word(mut rank: u64, text: &mut String) {
    const CONSONANTS: [char; 12] = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 't', 'v'];
    const VOWELS: [char; 4] = ['a', 'e', 'i', 'o'];
    loop {
        text.push(CONSONANTS[(rank % 12) as usize]);
        text.push(VOWELS[(rank / 12 % 4) as usize]);
        rank /= 48;
        if rank == 0 {
            // No stemmer takes this for an ending.
            text.push('x');
            return;
        }
    }
}

/// A vector of unit length.
fn vector(chance: &mut Chance, dimensions: usize) -> Option<Vec<f32>> {
    let numbers: Vec<f32> = (0..dimensions).map(|_| chance.share() as f32 - 0.5).collect();
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    (dimensions > 0).then(|| numbers.iter().map(|number| number / length).collect())
}

/// Memory of its own, and with the pages of mapped files that happen to be in the system's cache.
fn print_memory(when: &str) -> Result<()> {
    let (own, all, most) = (figure("RssAnon:")?, figure("VmRSS:")?, figure("VmHWM:")?);
    println!("memory       {own:8} MiB own, {all} MiB with mapped files, {most} MiB at most, {when}");
    Ok(())
}

/// A figure of this process in MiB, as Linux tells it.
fn figure(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("memory is measured on Linux only")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context("no such figure")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes / 1024)
}

fn size_of(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}
