//! Latency of other requests during ingestion.

use super::super::service;
use super::super::wire::{Client, request};
use super::sampler::Sampler;
use super::uploader::{File, Uploader};
use anyhow::{Context, Result};
use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Pause between two requests of a connection.
const PAUSE: Duration = Duration::from_millis(5);

/// Ingests the PDFs and meanwhile requests the health status and one of the documents.
pub(super) async fn run(program: &Path, folder: &Path, pdfs: Rc<Vec<File>>) -> Result<()> {
    let settings = [("DOCENT_METRICS_ENABLED", "true".to_owned())];
    let (docent, token) = service::docent(program, folder, &settings).await?;
    let sampler = Sampler::start(&docent)?;
    let began = Instant::now();
    let mut uploader = Uploader::connect(docent.address, token.clone()).await?;
    let first = pdfs.first().context("a PDF")?;
    let document = format!("/documents/{}", uploader.upload(first).await?);
    let is_done = Rc::new(Cell::new(false));
    let measure = |path: &str| {
        tokio::task::spawn_local(measure_latency(
            docent.address,
            request("GET", path, Some(&token), ""),
            Rc::clone(&is_done),
        ))
    };
    let measurements =
        [("GET /health/live", measure("/health/live")), ("GET /documents/{id}", measure(&document))];
    for pdf in &pdfs[1..] {
        uploader.upload(pdf).await?;
    }
    while uploader.outstanding() > 0 {
        uploader.wait_for_next().await?;
    }
    is_done.set(true);
    let totals = uploader.totals();
    println!(
        "  {} documents with {} pages ingested in {:.1} s; latencies meanwhile:",
        totals.ingested,
        totals.pages,
        began.elapsed().as_secs_f64()
    );
    for (name, task) in measurements {
        let mut times = task.await??;
        times.sort_unstable();
        let ms = |share: usize| times[(times.len() - 1) * share / 1000].as_secs_f64() * 1e3;
        println!(
            "  {name:<20} {} answers: p50 {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms, max {:.1} ms",
            times.len(),
            ms(500),
            ms(990),
            ms(999),
            ms(1000)
        );
    }
    sampler.stop(&docent).await?.print_memory();
    Ok(())
}

async fn measure_latency(
    address: SocketAddr,
    request: Vec<u8>,
    is_done: Rc<Cell<bool>>,
) -> Result<Vec<Duration>> {
    let mut client = Client::connect(address).await?;
    let mut times = Vec::new();
    while !is_done.get() {
        let began = Instant::now();
        client.exchange(&request).await?;
        times.push(began.elapsed());
        tokio::time::sleep(PAUSE).await;
    }
    Ok(times)
}
