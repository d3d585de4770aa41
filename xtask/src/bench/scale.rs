//! One installation with many documents and accounts: ingestion, searches by several clients, memory, disk, start, backup and
//! reindexing. With built-in stores, or on PostgreSQL and Redis, which it starts, and a Qdrant server.
//!
//! The documents are text files of synthetic words, so that the figures are those of chunking, storing and indexing; what
//! extraction adds is measured by the benchmark of ingestion. The clients share the cores of the service.

use super::Programs;
use super::ingest::{File, Uploader};
use super::lists::fill;
use super::service::{Installation, Peer};
use super::size_of;
use super::wire::{Client, request};
use super::words::{chunk, content_words, question};
use crate::random::Random;
use anyhow::{Result, ensure};
use docent_sql::{SqlOptions, SqlStore};
use docent_testkit::servers::{PostgresServer, RedisServer};
use futures::future::try_join_all;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

/// Options of the benchmark.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Documents, each with about ten chunks.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    documents: u32,
    /// Accounts, each with a session.
    #[arg(long, default_value_t = 10_000)]
    accounts: u32,
    /// Use PostgreSQL, Redis and the Qdrant server with this gRPC address, such as http://localhost:6334. Its data is not counted as
    /// disk space, and its collections stay there.
    #[arg(long, value_name = "URL")]
    qdrant: Option<String>,
    /// Measure in this directory, which must be empty, and keep it.
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// Blocks of words in a document; they become about ten chunks, because rare words have many tokens.
const BLOCKS: u32 = 6;
const BLOCKS_OF_LARGE_DOCUMENT: u32 = 3_000;
const MAX_OUTSTANDING: usize = 64;
/// Lines of output for the ingestion.
const STEPS: u64 = 10;
/// Numbers of clients that search at the same time.
const CLIENTS: [u64; 3] = [1, 8, 64];
const SEARCHING: Duration = Duration::from_secs(20);
const WORDS_PER_QUERY: usize = 6;

pub(crate) fn run(programs: Programs, load: &Load) -> Result<ExitCode> {
    super::in_folder(programs, async |program, folder| {
        let folder = load.keep.as_deref().unwrap_or(folder);
        match &load.qdrant {
            None => {
                let database = SqlStore::sqlite_url(&folder.join("docent.db"));
                measure(program, folder, &database, &[], load).await?;
            }
            Some(qdrant) => {
                let (postgres, redis) = (PostgresServer::start(), RedisServer::start());
                let database = postgres.url("docent", PostgresServer::PASSWORD, "postgres");
                let stores = [
                    ("DOCENT_REDIS_URL", redis.url(0)),
                    ("DOCENT_VECTOR_DB", "qdrant".to_owned()),
                    ("DOCENT_QDRANT_URL", qdrant.clone()),
                    (
                        "DOCENT_QDRANT_COLLECTION",
                        format!("scale_{}", SystemTime::UNIX_EPOCH.elapsed()?.as_secs()),
                    ),
                ];
                measure(program, folder, &database, &stores, load).await?;
            }
        }
        Ok(Vec::new())
    })
}

async fn measure(
    program: &Path,
    folder: &Path,
    database: &str,
    stores: &[(&'static str, String)],
    load: &Load,
) -> Result<()> {
    let own = [
        ("DOCENT_DATABASE_URL", database.to_owned()),
        ("DOCENT_ACCESS_TOKEN_TTL", "12h".to_owned()),
        ("DOCENT_UPLOAD_TYPES", "txt".to_owned()),
        ("DOCENT_METRICS_ENABLED", "true".to_owned()),
    ];
    let settings: Vec<_> = own.into_iter().chain(stores.iter().cloned()).collect();
    let installation = Installation::new(program, folder, &settings)?;
    installation.run(&["migrate"])?;
    installation.create_account()?;
    let store = SqlStore::connect(database, SqlOptions::default()).await?;
    fill::accounts(&store, load.accounts).await?;
    store.close().await?;

    let (docent, token) = installation.serve().await?;
    ingest(&docent, &token, load.documents).await?;
    print_memory("after ingestion", &docent)?;
    delete_large(&docent, &token).await?;
    for clients in CLIENTS {
        search(&docent, &token, clients).await?;
    }
    print_memory("after searches", &docent)?;
    docent.stop()?;
    println!("disk, without servers: {} MB", size_of(folder)? / 1_000_000);

    let began = Instant::now();
    let (docent, token) = installation.serve().await?;
    println!("start and a login: {:.2} s", began.elapsed().as_secs_f64());
    print_memory("after the start", &docent)?;
    let began = Instant::now();
    Client::connect(docent.address).await?.exchange(&search_request(&token, "first")).await?;
    println!("first search: {:.1} ms", began.elapsed().as_secs_f64() * 1e3);
    docent.stop()?;

    let archive = folder.join("backup.tar.gz");
    let archive_path = archive.to_string_lossy();
    let began = Instant::now();
    installation.run(&["backup", &archive_path])?;
    let size = std::fs::metadata(&archive)?.len() / 1_000_000;
    println!("backup: {:.0} s, {size} MB", began.elapsed().as_secs_f64());
    let began = Instant::now();
    installation.run(&["reindex"])?;
    println!("reindexing: {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Generates document `n`.
fn document(n: u32, blocks: u32) -> File {
    let mut random = Random(u64::from(n) + 1);
    let name = format!("{} {n}.txt", content_words(&mut random, 3));
    let blocks: Vec<String> = (0..blocks).map(|_| chunk(&mut random)).collect();
    File { name, bytes: blocks.join("\n\n").into_bytes() }
}

/// Uploads documents and waits until they are searchable; prints a line for each tenth of them.
async fn ingest(docent: &Peer, token: &str, documents: u32) -> Result<()> {
    println!(
        "documents     chunks   documents/s   chunks/s   CPU ms per chunk   of which extraction   resident MiB"
    );
    let mut uploader = Uploader::connect(docent.address, token.to_owned()).await?;
    let step = u64::from(documents).div_ceil(STEPS);
    let mut before = Progress::of(docent, &uploader)?;
    for n in 0..documents {
        uploader.upload(&document(n, BLOCKS)).await?;
        let is_last = n + 1 == documents;
        while uploader.outstanding() >= MAX_OUTSTANDING || (is_last && uploader.outstanding() > 0) {
            uploader.wait_for_next().await?;
            if uploader.totals().ingested == before.ingested + step {
                let now = Progress::of(docent, &uploader)?;
                now.print_since(&before, docent)?;
                before = now;
            }
        }
    }
    let ingested = uploader.totals().ingested;
    ensure!(ingested == u64::from(documents), "{ingested} of {documents} documents were ingested");
    Ok(())
}

/// What was ingested up to a moment.
struct Progress {
    at: Instant,
    server: Duration,
    extraction: Duration,
    ingested: u64,
    chunks: u64,
}

impl Progress {
    fn of(docent: &Peer, uploader: &Uploader) -> Result<Self> {
        let (server, extraction) = docent.times()?;
        let totals = uploader.totals();
        Ok(Self { at: Instant::now(), server, extraction, ingested: totals.ingested, chunks: totals.chunks })
    }

    fn print_since(&self, before: &Self, docent: &Peer) -> Result<()> {
        let seconds = (self.at - before.at).as_secs_f64();
        let chunks = (self.chunks - before.chunks) as f64;
        let extraction = self.extraction - before.extraction;
        println!(
            "{:9} {:10} {:13.0} {:10.0} {:18.2} {:21.2} {:14}",
            self.ingested,
            self.chunks,
            (self.ingested - before.ingested) as f64 / seconds,
            chunks / seconds,
            (self.server - before.server + extraction).as_secs_f64() * 1e3 / chunks,
            extraction.as_secs_f64() * 1e3 / chunks,
            docent.resident_kib()? / 1024,
        );
        Ok(())
    }
}

/// Ingests a large document and deletes it.
async fn delete_large(docent: &Peer, token: &str) -> Result<()> {
    let mut uploader = Uploader::connect(docent.address, token.to_owned()).await?;
    let id = uploader.upload(&document(u32::MAX - 1, BLOCKS_OF_LARGE_DOCUMENT)).await?;
    uploader.wait_for_next().await?;
    let began = Instant::now();
    uploader.delete(&id).await?;
    let chunks = uploader.totals().chunks;
    println!("deletion of a document with {chunks} chunks: {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn search_request(token: &str, query: &str) -> Vec<u8> {
    request("POST", "/search", Some(token), &json!({"query": query, "limit": 10}).to_string())
}

/// Searches with a number of clients, each with one request at a time.
async fn search(docent: &Peer, token: &str, clients: u64) -> Result<()> {
    let (began, cpu) = (Instant::now(), docent.cpu()?);
    let clients_searching = (0..clients).map(async |client| {
        let mut connection = Client::connect(docent.address).await?;
        let mut random = Random(1 << 40 | client);
        let mut times = Vec::new();
        while began.elapsed() < SEARCHING {
            let search = search_request(token, &question(&mut random, WORDS_PER_QUERY));
            let sent = Instant::now();
            connection.exchange(&search).await?;
            times.push(sent.elapsed());
        }
        anyhow::Ok(times)
    });
    let times: Vec<Vec<Duration>> = try_join_all(clients_searching).await?;
    let mut times = times.concat();
    let (wall, cpu) = (began.elapsed(), docent.cpu()? - cpu);
    times.sort_unstable();
    let ms = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    println!(
        "searches, {clients} clients: {:.0} per second, p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms, CPU {:.1} ms",
        times.len() as f64 / wall.as_secs_f64(),
        ms(50),
        ms(95),
        ms(99),
        cpu.as_secs_f64() * 1e3 / times.len() as f64,
    );
    Ok(())
}

fn print_memory(when: &str, docent: &Peer) -> Result<()> {
    println!("memory {when}: {} MiB resident", docent.resident_kib()? / 1024);
    Ok(())
}
