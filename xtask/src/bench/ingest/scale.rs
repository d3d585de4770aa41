//! Ingestion rate while the index grows, and the time to delete a large document.

use super::super::peer::Role;
use super::super::service;
use super::super::service::Peer;
use super::sampler::{Sampler, kib};
use super::synthetic::Library;
use super::uploader::{Pdf, Uploader};
use anyhow::Result;
use std::path::Path;
use std::time::{Duration, Instant};

/// Pages per document, about 290 chunks.
const PAGES: usize = 200;
/// Pages of the large document, over 5,000 chunks.
const MANY_PAGES: usize = 3_600;
/// Chunks per line of output.
const STEP: u64 = 10_000;
const MAX_OUTSTANDING: usize = 8;

/// Ingests documents up to a number of chunks.
pub(super) async fn run(root: &Path, program: &Path, folder: &Path, chunks: u64) -> Result<()> {
    let library = Library::read(root)?;
    let settings = [("DOCENT_METRICS_ENABLED", "true".to_owned())];
    let (docent, token) = service::docent(program, &folder.join("embedded"), &settings).await?;
    let sampler = Sampler::start(&docent)?;
    let mut uploader = Uploader::connect(docent.address, token).await?;
    println!("  chunks   documents   chunks/s   pages/s   CPU s for {STEP} chunks   resident MiB");
    let mut step = Step::begin(&docent, &uploader)?;
    for n in 0.. {
        while uploader.outstanding() >= MAX_OUTSTANDING {
            uploader.wait_for_next().await?;
        }
        step = step.end(&docent, &uploader, STEP)?;
        if uploader.totals().chunks >= chunks {
            break;
        }
        uploader.upload(&library.document(n, PAGES)).await?;
    }
    while uploader.outstanding() > 0 {
        uploader.wait_for_next().await?;
    }
    step.end(&docent, &uploader, 1)?;
    delete(&mut uploader, &library, "embedded index, with the other documents").await?;
    sampler.stop(&docent).await?.print_memory();
    drop(docent);

    let store = Peer::in_role(&Role::Qdrant.arguments())?;
    let settings = [
        ("DOCENT_METRICS_ENABLED", "true".to_owned()),
        ("DOCENT_VECTOR_DB", "qdrant".to_owned()),
        ("DOCENT_QDRANT_URL", format!("http://{}", store.address)),
    ];
    let (docent, token) = service::docent(program, &folder.join("qdrant"), &settings).await?;
    let mut uploader = Uploader::connect(docent.address, token).await?;
    delete(&mut uploader, &library, "Qdrant fake").await
}

/// Ingests a large document and deletes it.
async fn delete(uploader: &mut Uploader, library: &Library, name: &str) -> Result<()> {
    let before = uploader.totals().chunks;
    let id = uploader
        .upload(&Pdf { name: "large.pdf".to_owned(), ..library.document(1 << 20, MANY_PAGES) })
        .await?;
    uploader.wait_for_next().await?;
    let chunks = uploader.totals().chunks - before;
    let began = Instant::now();
    uploader.delete(&id).await?;
    let took = began.elapsed().as_secs_f64();
    println!("  deleted a document of {chunks} chunks in {took:.2} s ({name})");
    Ok(())
}

/// The start of a line of output.
struct Step {
    began: Instant,
    cpu: Duration,
    chunks: u64,
    pages: u64,
}

impl Step {
    fn begin(docent: &Peer, uploader: &Uploader) -> Result<Self> {
        let (server, workers) = docent.times()?;
        let done = uploader.totals();
        Ok(Self { began: Instant::now(), cpu: server + workers, chunks: done.chunks, pages: done.pages })
    }

    /// Prints the line and starts the next one, after at least `least` more chunks.
    fn end(self, docent: &Peer, uploader: &Uploader, least: u64) -> Result<Self> {
        let done = uploader.totals();
        let (chunks, pages) = (done.chunks - self.chunks, done.pages - self.pages);
        if chunks < least {
            return Ok(self);
        }
        let next = Self::begin(docent, uploader)?;
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
