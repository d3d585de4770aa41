//! From upload to `ingested`: rates, what each part of the work takes, and what else is served meanwhile.
//!
//! The service is a process of its own with a fresh data folder, asked over HTTP as people do. Embeddings are the
//! built-in ones, then those of the tests' wire-level back end, a process of its own too, which shares the
//! cores. CPU time is reported beside every rate: what else the machine does falls on the rates alone.

mod follow;
mod scale;
mod serving;
mod synthetic;
mod watch;

use super::{
    peer::Role,
    service::{self, Peer},
    start,
};
use anyhow::{Context, Result, ensure};
pub(super) use follow::Follower;
use follow::Pdf;
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    rc::Rc,
    time::{Duration, Instant},
};
use tokio::task::LocalSet;
use watch::Watch;

/// What is ingested.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// A folder with PDFs.
    folder: PathBuf,
    /// Only so many of them, the largest.
    #[arg(long, value_name = "N")]
    largest: Option<usize>,
    /// Another build of `docent`, such as one from before a change, which is measured in turns with this one.
    #[arg(long, value_name = "PROGRAM")]
    beside: Option<PathBuf>,
    /// How often all are measured.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Ask for `/health/live` and for a document all the while, and tell how soon the answers come.
    #[arg(long)]
    while_serving: bool,
    /// Ingest documents of the project's own text until there are so many chunks, and delete one of them.
    #[arg(long, value_name = "CHUNKS", conflicts_with = "while_serving")]
    scale_to: Option<u64>,
}

/// Settings of the service.
type Settings = Vec<(&'static str, String)>;

/// Uploads that wait at a time; what is uploaded further ahead would only sit in the queue.
const AHEAD: usize = 32;

pub(crate) fn run(root: &Path, load: Load) -> Result<ExitCode> {
    let program = start::build(root)?;
    let folder = std::env::temp_dir().join(format!("docent-bench-ingest-{}", std::process::id()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let measured = LocalSet::new().block_on(&runtime, measure(root, &program, &folder, &load));
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    measured.map(|()| ExitCode::SUCCESS)
}

async fn measure(root: &Path, program: &Path, folder: &Path, load: &Load) -> Result<()> {
    let programs =
        [Some(("docent", program)), load.beside.as_deref().map(|beside| ("docent beside", beside))];
    let mut runs = 0;
    for _ in 0..load.rounds {
        for (name, program) in programs.iter().flatten() {
            runs += 1;
            let folder = folder.join(runs.to_string());
            println!("{name}, load average {}", fs::read_to_string("/proc/loadavg")?.trim());
            if let Some(chunks) = load.scale_to {
                scale::run(root, program, &folder, chunks).await?;
            } else if load.while_serving {
                let pdfs = Rc::new(pdfs(&load.folder, load.largest)?);
                serving::run(program, &folder, pdfs).await?;
            } else {
                let pdfs = Rc::new(pdfs(&load.folder, load.largest)?);
                throughput(program, &folder.join("builtin"), &pdfs, None).await?;
                let model = Peer::in_role(&Role::Llm { tokens: 0, pace: 0 }.arguments())?;
                throughput(program, &folder.join("wire"), &pdfs, Some(&model)).await?;
            }
        }
    }
    Ok(())
}

/// The PDFs of a folder, the largest first.
pub(super) fn pdfs(folder: &Path, largest: Option<usize>) -> Result<Vec<Pdf>> {
    let mut pdfs = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pdf")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pdfs.push(Pdf { name, bytes: fs::read(&path)? });
        }
    }
    ensure!(!pdfs.is_empty(), "no PDFs in {}", folder.display());
    pdfs.sort_by_key(|pdf| (usize::MAX - pdf.bytes.len(), pdf.name.clone()));
    pdfs.truncate(largest.unwrap_or(usize::MAX));
    Ok(pdfs)
}

/// Ingests all PDFs, with the embeddings of `model` if there is one.
async fn throughput(program: &Path, folder: &Path, pdfs: &Rc<Vec<Pdf>>, model: Option<&Peer>) -> Result<()> {
    let mut settings: Settings = vec![("DOCENT_METRICS_ENABLED", "true".to_owned())];
    if let Some(model) = model {
        settings.extend([
            ("DOCENT_EMBEDDING_PROVIDER", "openai".to_owned()),
            ("DOCENT_EMBEDDING_BASE_URL", format!("http://{}/v1", model.address)),
            ("DOCENT_EMBEDDING_MODEL", "bench".to_owned()),
        ]);
    }
    let (docent, token) = service::docent(program, folder, &settings).await?;
    let watch = Watch::start(&docent)?;
    let began = Instant::now();
    let mut follower = Follower::connect(docent.address, token).await?;
    let mut left = pdfs.iter();
    loop {
        while follower.outstanding() < AHEAD
            && let Some(pdf) = left.next()
        {
            follower.upload(pdf).await?;
        }
        if follower.outstanding() == 0 {
            break;
        }
        follower.settle().await?;
    }
    let wall = began.elapsed();
    let seen = watch.stop(&docent).await?;
    let done = follower.done();
    println!("{} embeddings", if model.is_some() { "wire-level" } else { "built-in" });
    println!(
        "  {} of {} documents, {} pages, {} chunks in {:.1} s: {:.0} pages/s, {:.0} chunks/s",
        done.ingested,
        pdfs.len(),
        done.pages,
        done.chunks,
        wall.as_secs_f64(),
        rate(done.pages, wall),
        rate(done.chunks, wall),
    );
    seen.print(done.pages);
    follower.print_stages().await
}

fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64().max(1e-9)
}
