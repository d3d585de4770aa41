//! Ingestion from upload to `ingested`: rates, CPU time by stage, and latency of other requests meanwhile.
//!
//! The service is a separate process with an empty data directory, used over HTTP. Embeddings are the built-in ones, then
//! those of the fake back end of the tests, which shares the cores. CPU times are printed too, because other load on the
//! machine affects only the rates.

mod sampler;
mod serving;
mod uploader;

use super::Programs;
use super::figures::Figure;
use super::peer::Role;
use super::service::{self, Peer};
use anyhow::{Context, Result, ensure};
use sampler::Sampler;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};
pub(super) use uploader::{File, Uploader};

/// Options of the benchmark.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Directory with PDFs.
    folder: PathBuf,
    /// Use only the N largest PDFs.
    #[arg(long, value_name = "N")]
    largest: Option<usize>,
    /// Another build of `docent`, for example from before a change, measured in the same rounds.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
    /// Number of rounds.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Measure the latency of `/health/live` and of a document during ingestion.
    #[arg(long)]
    while_serving: bool,
}

impl Load {
    /// One round of the largest PDFs of a directory.
    pub(super) fn of(folder: PathBuf, largest: Option<usize>) -> Self {
        Self { folder, largest, beside: None, rounds: 1, while_serving: false }
    }
}

/// Settings of the service.
type Settings = Vec<(&'static str, String)>;

/// Maximum number of outstanding uploads; more would only wait in the queue.
const MAX_OUTSTANDING: usize = 32;

pub(crate) fn run(programs: Programs, load: Load) -> Result<ExitCode> {
    super::in_folder(programs, async |program, folder| measure(program, folder, &load).await)
}

pub(super) async fn measure(program: &Path, folder: &Path, load: &Load) -> Result<Vec<Figure>> {
    let programs =
        [Some(("docent", program)), load.beside.as_deref().map(|beside| ("docent beside", beside))];
    let mut runs = 0;
    let mut figures = Vec::new();
    for _ in 0..load.rounds {
        for (name, program) in programs.iter().flatten() {
            runs += 1;
            let folder = folder.join(runs.to_string());
            println!("{name}, load average {}", fs::read_to_string("/proc/loadavg")?.trim());
            if load.while_serving {
                let pdfs = Rc::new(pdfs(&load.folder, load.largest)?);
                serving::run(program, &folder, pdfs).await?;
            } else {
                let pdfs = Rc::new(pdfs(&load.folder, load.largest)?);
                let builtin = throughput(program, &folder.join("builtin"), &pdfs, None).await?;
                let model = Peer::in_role(&Role::Llm { tokens: 0, pace: 0 }.arguments())?;
                let wire = throughput(program, &folder.join("wire"), &pdfs, Some(&model)).await?;
                // Those of the last round; another build of `beside` only prints its own.
                if *name == "docent" {
                    figures = builtin.into_iter().chain(wire).collect();
                }
            }
        }
    }
    Ok(figures)
}

/// Reads the PDFs of a directory, largest first.
pub(super) fn pdfs(folder: &Path, largest: Option<usize>) -> Result<Vec<File>> {
    let mut pdfs = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pdfs.push(File { name, bytes: fs::read(&path)? });
        }
    }
    ensure!(!pdfs.is_empty(), "no PDFs in {}", folder.display());
    pdfs.sort_by_key(|pdf| (usize::MAX - pdf.bytes.len(), pdf.name.clone()));
    pdfs.truncate(largest.unwrap_or(usize::MAX));
    Ok(pdfs)
}

/// Ingests all PDFs, with the embeddings of `model` if given.
async fn throughput(
    program: &Path,
    folder: &Path,
    pdfs: &Rc<Vec<File>>,
    model: Option<&Peer>,
) -> Result<Vec<Figure>> {
    let mut settings: Settings = vec![("DOCENT_METRICS_ENABLED", "true".to_owned())];
    if let Some(model) = model {
        settings.extend([
            ("DOCENT_EMBEDDING_PROVIDER", "openai".to_owned()),
            ("DOCENT_EMBEDDING_BASE_URL", format!("http://{}/v1", model.address)),
            ("DOCENT_EMBEDDING_MODEL", "bench".to_owned()),
        ]);
    }
    let (docent, token) = service::docent(program, folder, &settings).await?;
    let sampler = Sampler::start(&docent)?;
    let began = Instant::now();
    let mut uploader = Uploader::connect(docent.address, token).await?;
    let mut left = pdfs.iter();
    loop {
        while uploader.outstanding() < MAX_OUTSTANDING
            && let Some(pdf) = left.next()
        {
            uploader.upload(pdf).await?;
        }
        if uploader.outstanding() == 0 {
            break;
        }
        uploader.wait_for_next().await?;
    }
    let wall = began.elapsed();
    let usage = sampler.stop(&docent).await?;
    let totals = uploader.totals();
    let kind = if model.is_some() { "back-end" } else { "built-in" };
    println!("{kind} embeddings");
    println!(
        "  {} of {} documents, {} pages, {} chunks in {:.1} s: {:.0} pages/s, {:.0} chunks/s",
        totals.ingested,
        pdfs.len(),
        totals.pages,
        totals.chunks,
        wall.as_secs_f64(),
        rate(totals.pages, wall),
        rate(totals.chunks, wall),
    );
    usage.print(totals.pages);
    uploader.print_stages().await?;
    let figure = |what: &str, value| Figure::new(format!("ingestion, {kind} embeddings, {what}"), value);
    Ok(vec![
        figure("pages per CPU second", rate(totals.pages, usage.cpu())),
        figure("CPU time relative to extraction", usage.cpu().as_secs_f64() / usage.workers().as_secs_f64()),
        figure("peak memory of the server, MiB", usage.peak_mib()),
    ])
}

fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
}
