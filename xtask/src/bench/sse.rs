//! Cost of many concurrent chat streams, and the latency that the service adds to the first token.
//!
//! The model is the fake LLM of the tests, which pauses after each token so that all streams overlap. It is measured
//! directly first, then through `docent serve`. Streams are opened at a constant rate: in a burst, the time to the first
//! token would measure the queue for the CPU.

use super::Programs;
use super::figures::Figure;
use super::peer::Role;
use super::service::{self, Peer};
use super::wire::{Client, find, request};
use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Options of the benchmark.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct Load {
    /// Concurrent streams.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub(super) streams: u32,
    /// Tokens per stream.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..))]
    pub(super) tokens: u32,
    /// Streams opened per second.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) rate: u32,
    /// Milliseconds after each token of the model. By default such that all streams overlap.
    #[arg(long, value_name = "MS")]
    pub(super) pace: Option<u64>,
}

/// Streams before the measurement, for one-time initialisation.
const WARM_UP: u32 = 50;
/// Duration of a stream relative to the time for opening all streams.
const OVERLAP: f64 = 1.3;
const SAMPLE: Duration = Duration::from_millis(200);
/// Timeout between two pieces of a stream.
const STREAM_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn run(programs: Programs, load: Load) -> Result<ExitCode> {
    raise_limit(load.streams)?;
    super::in_folder(programs, async |program, folder| measure(program, folder, load).await)
}

/// Allows as many open files as this many streams need: each has a client connection and a connection to the model. Child processes
/// inherit the limit.
pub(super) fn raise_limit(streams: u32) -> Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let wanted = u64::from(streams) * 2 + 500;
    ensure!(most >= wanted, "{wanted} open files are needed, but only {most} are allowed");
    Ok(setrlimit(Resource::RLIMIT_NOFILE, wanted, most)?)
}

pub(super) async fn measure(program: &Path, folder: &Path, load: Load) -> Result<Vec<Figure>> {
    let Load { streams, tokens, rate, pace } = load;
    let opening = f64::from(streams) / f64::from(rate);
    let pace = pace.unwrap_or((opening * OVERLAP / f64::from(tokens) * 1e3).ceil() as u64);
    let model = Peer::in_role(&Role::Llm { tokens: tokens as usize, pace }.arguments())?;
    let settings = [
        ("DOCENT_LLM_BASE_URL", format!("http://{}/v1", model.address)),
        ("DOCENT_LLM_MODEL", "bench".to_owned()),
        // All streams are of one account.
        ("DOCENT_ACCOUNT_LIMITS", "answers=0".to_owned()),
    ];
    let (docent, token) = service::docent(program, folder, &settings).await?;
    let question = serde_json::json!([{"role": "user", "content": "How long is the warranty?"}]);
    let direct = serde_json::json!({"model": "bench", "stream": true, "messages": question,
        "stream_options": {"include_usage": true}});
    let direct = Rc::new(request("POST", "/v1/chat/completions", None, &direct.to_string()));
    let ours = serde_json::json!({"messages": question}).to_string();
    let ours = Rc::new(request("POST", "/agents/chat", Some(&token), &ours));

    println!("{streams} streams of {tokens} tokens, {rate} opened per second, one token per {pace} ms");
    let warm_up = Load { streams: WARM_UP.min(streams), ..load };
    open_all(docent.address, &ours, warm_up, &docent).await?;
    let model_result = open_all(model.address, &direct, load, &model).await?;
    model_result.print("model, directly");
    let before = docent.resident_kib()?;
    let docent_result = open_all(docent.address, &ours, load, &docent).await?;
    docent_result.print("docent");
    let added = |percent| (docent_result.first(percent) - model_result.first(percent)) * 1e3;
    println!("  added latency of the first token {:.2} ms p50, {:.2} ms p99", added(50), added(99));
    let memory = docent_result.peak_kib.saturating_sub(before);
    println!(
        "  memory {:.1} KiB per stream ({:.1} MiB before, {:.1} MiB peak)",
        memory as f64 / f64::from(docent_result.at_once),
        before as f64 / 1024.0,
        docent_result.peak_kib as f64 / 1024.0,
    );
    let figure =
        |what: &str, value| Figure::new(format!("{what}, {streams} streams, a token per {pace} ms"), value);
    Ok(vec![
        figure("tokens per CPU second", docent_result.tokens_per_cpu_second()),
        figure("KiB per stream", memory as f64 / f64::from(docent_result.at_once)),
        figure("added latency of the first token, p50 ms", added(50)),
    ])
}

/// Measurements of a set of streams.
struct Outcome {
    /// Seconds to the first token of each stream, sorted.
    firsts: Vec<f64>,
    tokens: u32,
    /// Maximum number of concurrent streams.
    at_once: u32,
    peak_kib: u64,
    cpu: Duration,
}

impl Outcome {
    fn first(&self, percent: usize) -> f64 {
        self.firsts[self.firsts.len() * percent / 100]
    }

    fn tokens_per_cpu_second(&self) -> f64 {
        self.firsts.len() as f64 * f64::from(self.tokens) / self.cpu.as_secs_f64()
    }

    fn print(&self, name: &str) {
        println!("{name}: {} complete streams, {} of them concurrent", self.firsts.len(), self.at_once);
        println!(
            "  first token after {:.2} ms p50, {:.2} ms p99; {:.1} us of CPU per token, {:.0} tokens per CPU second",
            self.first(50) * 1e3,
            self.first(99) * 1e3,
            1e6 / self.tokens_per_cpu_second(),
            self.tokens_per_cpu_second(),
        );
    }
}

/// Opens all streams at a constant rate and reads each to its end.
async fn open_all(address: SocketAddr, request: &Rc<Vec<u8>>, load: Load, peer: &Peer) -> Result<Outcome> {
    let cpu = peer.cpu()?;
    let (open, at_once) = (Rc::new(Cell::new(0_u32)), Rc::new(Cell::new(0_u32)));
    let began = tokio::time::Instant::now();
    let mut tasks = Vec::new();
    let mut peak_kib = 0;
    for n in 0..load.streams {
        tokio::time::sleep_until(began + Duration::from_secs(1) * n / load.rate).await;
        let (request, open, at_once) = (Rc::clone(request), Rc::clone(&open), Rc::clone(&at_once));
        tasks.push(tokio::task::spawn_local(async move {
            open.set(open.get() + 1);
            at_once.set(at_once.get().max(open.get()));
            let first = stream(address, &request, load.tokens).await;
            open.set(open.get() - 1);
            first
        }));
        if n % load.rate == 0 {
            peak_kib = peak_kib.max(peer.resident_kib()?);
        }
    }
    while tasks.iter().any(|task| !task.is_finished()) {
        peak_kib = peak_kib.max(peer.resident_kib()?);
        tokio::time::sleep(SAMPLE).await;
    }
    let mut firsts = Vec::new();
    for task in tasks {
        firsts.push(task.await??.as_secs_f64());
    }
    firsts.sort_by(f64::total_cmp);
    let cpu = peer.cpu()?.saturating_sub(cpu);
    Ok(Outcome { firsts, tokens: load.tokens, at_once: at_once.get(), peak_kib, cpu })
}

/// Reads one stream; returns the time from connecting to the first token.
async fn stream(address: SocketAddr, request: &[u8], tokens: u32) -> Result<Duration> {
    let began = Instant::now();
    let mut client = Client::connect(address).await?;
    client.send(request).await?;
    let mut first = None;
    // Without the space after it, which the service sends with the next token.
    let last = format!("t{}", tokens - 1);
    loop {
        let more =
            tokio::time::timeout(STREAM_TIMEOUT, client.read_more()).await.context("a stream stalled")??;
        let Some(more) = more else {
            bail!("a stream was closed early: {}", String::from_utf8_lossy(client.received()));
        };
        let is_over = more.ends_with(b"0\r\n\r\n");
        if first.is_none() && find(client.received(), b"\"t0").is_some() {
            first = Some(began.elapsed());
        }
        if is_over {
            break;
        }
    }
    let read = client.received();
    ensure!(read.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(read));
    ensure!(find(read, b"event: error").is_none(), "{}", String::from_utf8_lossy(read));
    ensure!(find(read, last.as_bytes()).is_some(), "the last token is missing");
    first.context("the first token is missing")
}
