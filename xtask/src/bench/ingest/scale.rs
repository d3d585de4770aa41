//! Whether the rate stays the same while the index grows, and how long a large document takes to go.

use super::{
    super::{peer::Role, service, service::Peer},
    follow::{Follower, Pdf},
    synthetic::Library,
    watch::{Watch, kib},
};
use anyhow::Result;
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Pages of a document, some 290 chunks.
const PAGES: usize = 200;
/// Pages of the document that is deleted, over 5,000 chunks.
const MANY_PAGES: usize = 3_600;
/// Chunks of a line of figures.
const STEP: u64 = 10_000;
const AHEAD: usize = 8;

/// Ingests documents until there are so many chunks.
pub(super) async fn run(root: &Path, program: &Path, folder: &Path, chunks: u64) -> Result<()> {
    let library = Library::read(root)?;
    let settings = [("DOCENT_METRICS_ENABLED", "true".to_owned())];
    let (docent, token) = service::docent(program, &folder.join("embedded"), &settings).await?;
    let watch = Watch::start(&docent)?;
    let mut follower = Follower::connect(docent.address, token).await?;
    println!("  chunks   documents   chunks/s   pages/s   CPU s for {STEP} chunks   resident MiB");
    let mut step = Step::begin(&docent, &follower)?;
    for n in 0.. {
        while follower.outstanding() >= AHEAD {
            follower.settle().await?;
        }
        step = step.end(&docent, &follower, STEP)?;
        if follower.done().chunks >= chunks {
            break;
        }
        follower.upload(&library.document(n, PAGES)).await?;
    }
    while follower.outstanding() > 0 {
        follower.settle().await?;
    }
    step.end(&docent, &follower, 1)?;
    delete(&mut follower, &library, "embedded index, beside the others").await?;
    watch.stop(&docent).await?.print_memory();
    drop(docent);

    let store = Peer::in_role(&Role::Qdrant.arguments())?;
    let settings = [
        ("DOCENT_METRICS_ENABLED", "true".to_owned()),
        ("DOCENT_VECTOR_DB", "qdrant".to_owned()),
        ("DOCENT_QDRANT_URL", format!("http://{}", store.address)),
    ];
    let (docent, token) = service::docent(program, &folder.join("qdrant"), &settings).await?;
    let mut follower = Follower::connect(docent.address, token).await?;
    delete(&mut follower, &library, "Qdrant's protocol, the store of the tests").await
}

/// Ingests a large document and deletes it.
async fn delete(follower: &mut Follower, library: &Library, name: &str) -> Result<()> {
    let before = follower.done().chunks;
    let id = follower
        .upload(&Pdf { name: "large.pdf".to_owned(), ..library.document(1 << 20, MANY_PAGES) })
        .await?;
    follower.settle().await?;
    let chunks = follower.done().chunks - before;
    let began = Instant::now();
    follower.delete(&id).await?;
    let took = began.elapsed().as_secs_f64();
    println!("  deleted a document of {chunks} chunks, all of it gone after {took:.2} s ({name})");
    Ok(())
}

/// Where a line of figures begins.
struct Step {
    began: Instant,
    cpu: Duration,
    chunks: u64,
    pages: u64,
}

impl Step {
    fn begin(docent: &Peer, follower: &Follower) -> Result<Self> {
        let (server, workers) = docent.times()?;
        let done = follower.done();
        Ok(Self { began: Instant::now(), cpu: server + workers, chunks: done.chunks, pages: done.pages })
    }

    /// Prints the line and begins the next one, once there are `least` chunks more.
    fn end(self, docent: &Peer, follower: &Follower, least: u64) -> Result<Self> {
        let done = follower.done();
        let (chunks, pages) = (done.chunks - self.chunks, done.pages - self.pages);
        if chunks < least {
            return Ok(self);
        }
        let next = Self::begin(docent, follower)?;
        let (wall, cpu) = (next.began - self.began, next.cpu.saturating_sub(self.cpu));
        println!(
            "  {:>6}   {:>9}   {:>8.0}   {:>7.0}   {:>24.2}   {:>12}",
            done.chunks,
            done.ingested,
            super::rate(chunks, wall),
            super::rate(pages, wall),
            cpu.as_secs_f64() * STEP as f64 / chunks as f64,
            kib(docent.pid(), "VmRSS:").unwrap_or_default() / 1024,
        );
        Ok(next)
    }
}
