//! What else is served while documents are ingested.

use super::{
    super::{
        service,
        wire::{Client, request},
    },
    follow::{Follower, Pdf},
    watch::Watch,
};
use anyhow::{Context, Result};
use std::{
    cell::Cell,
    net::SocketAddr,
    path::Path,
    rc::Rc,
    time::{Duration, Instant},
};

/// Between two requests of a connection.
const PAUSE: Duration = Duration::from_millis(5);

/// Ingests the PDFs and asks for health and for one of the documents until all are ingested.
pub(super) async fn run(program: &Path, folder: &Path, pdfs: Rc<Vec<Pdf>>) -> Result<()> {
    let settings = [("DOCENT_METRICS_ENABLED", "true".to_owned())];
    let (docent, token) = service::docent(program, folder, &settings).await?;
    let watch = Watch::start(&docent)?;
    let began = Instant::now();
    let mut follower = Follower::connect(docent.address, token.clone()).await?;
    let first = pdfs.first().context("a PDF")?;
    let document = format!("/documents/{}", follower.upload(first).await?);
    let over = Rc::new(Cell::new(false));
    let ask = |path: &str| {
        tokio::task::spawn_local(ask(
            docent.address,
            request("GET", path, Some(&token), ""),
            Rc::clone(&over),
        ))
    };
    let asked = [("GET /health/live", ask("/health/live")), ("GET /documents/{id}", ask(&document))];
    for pdf in &pdfs[1..] {
        follower.upload(pdf).await?;
    }
    while follower.outstanding() > 0 {
        follower.settle().await?;
    }
    over.set(true);
    let done = follower.done();
    println!(
        "  {} documents of {} pages ingested in {:.1} s, meanwhile",
        done.ingested,
        done.pages,
        began.elapsed().as_secs_f64()
    );
    for (name, asked) in asked {
        let mut times = asked.await??;
        times.sort_unstable();
        let ms = |share: usize| times[(times.len() - 1) * share / 1000].as_secs_f64() * 1e3;
        println!(
            "  {name:<20} {} answers: p50 {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms, most {:.1} ms",
            times.len(),
            ms(500),
            ms(990),
            ms(999),
            ms(1000)
        );
    }
    watch.stop(&docent).await?.print_memory();
    Ok(())
}

async fn ask(address: SocketAddr, request: Vec<u8>, over: Rc<Cell<bool>>) -> Result<Vec<Duration>> {
    let mut client = Client::connect(address).await?;
    let mut times = Vec::new();
    while !over.get() {
        let began = Instant::now();
        client.exchange(&request).await?;
        times.push(began.elapsed());
        tokio::time::sleep(PAUSE).await;
    }
    Ok(times)
}
