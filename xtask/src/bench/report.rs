//! The figures that are followed over time, in one table.

use super::figures::Figure;
use super::{Programs, http, ingest, sse, start};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Options of the report.
#[derive(Clone, clap::Args)]
pub(crate) struct Load {
    /// Directory with PDFs to ingest.
    folder: PathBuf,
    /// Use only the N largest PDFs.
    #[arg(long, value_name = "N")]
    largest: Option<usize>,
}

const STARTS: usize = 5;

pub(crate) fn run(programs: Programs, load: Load) -> Result<ExitCode> {
    sse::raise_limit(OVERLAPPING.streams)?;
    super::in_folder(programs, async |program, folder| measure(program, folder, &load).await)
}

/// Streams that overlap, as those of a model that answers at reading speed.
const OVERLAPPING: sse::Load = sse::Load { streams: 1_000, tokens: 200, rate: 50, pace: None };
/// Streams without pauses: what a token costs at most speed.
const FAST: sse::Load = sse::Load { streams: 50, tokens: 2_000, rate: 50, pace: Some(0) };

async fn measure(program: &Path, folder: &Path, load: &Load) -> Result<Vec<Figure>> {
    let (start, idle) = start::medians(program, STARTS)?;
    let mut figures = vec![
        Figure::new("start to the first answer, ms", start),
        Figure::new("resident when idle, MiB", idle),
    ];
    let part = |name: &str| {
        let folder = folder.join(name);
        std::fs::create_dir(&folder).map(|()| folder)
    };
    let requests = http::Load { beside: None, connections: 32, rounds: 3, seconds: 3 };
    figures.extend(http::measure(program, &part("http")?, &requests).await?);
    figures.extend(sse::measure(program, &part("overlapping")?, OVERLAPPING).await?);
    figures.extend(sse::measure(program, &part("fast")?, FAST).await?);
    let pdfs = ingest::Load::of(load.folder.clone(), load.largest);
    figures.extend(ingest::measure(program, &part("ingest")?, &pdfs).await?);
    Ok(figures)
}
