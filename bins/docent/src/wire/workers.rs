//! The processes that read and draw files.

use anyhow::Context;
use docent::config::Settings;
use docent_extraction::sandbox::Sandbox;
use docent_extraction::{ExtractionLimits, WorkerExtractor, WorkerRenderer};
use docent_ports::page_renderer::PageRenderer;
use docent_ports::text_extractor::TextExtractor;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

/// Limits of rendering a page, which a client waits for.
const RENDER_CPU: Duration = Duration::from_secs(10);
const RENDER_WALL: Duration = Duration::from_secs(30);

pub(super) fn renderer() -> anyhow::Result<Arc<dyn PageRenderer>> {
    let (cpu, wall, scanning) = (RENDER_CPU, RENDER_WALL, ExtractionLimits::default());
    let viewing = ExtractionLimits { cpu, wall, workers: concurrent_drawings(), ..scanning };
    Ok(Arc::new(WorkerRenderer::new(this_program()?, worker_args(), viewing, scanning)))
}

/// Number of pages that are drawn for readers at the same time: one per core, and at least two, so that no account has all.
pub(super) fn concurrent_drawings() -> NonZeroUsize {
    let cores = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    cores.max(NonZeroUsize::MIN.saturating_add(1))
}

/// The path of this program, which also runs as the PDF worker.
pub(super) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("finding the path of this program, which PDF workers run")
}

/// The arguments of a PDF worker.
pub(super) fn worker_args() -> Vec<OsString> {
    vec![OsString::from("extract-worker")]
}

pub(super) fn extractor(settings: &Settings) -> anyhow::Result<Arc<dyn TextExtractor>> {
    Ok(Arc::new(worker_extractor(settings)?))
}

/// Returns the sandbox of PDF workers, as reported by a worker.
///
/// # Errors
/// If a worker cannot be started.
pub(crate) fn check_sandbox(settings: &Settings) -> impl Future<Output = anyhow::Result<Sandbox>> + use<> {
    let extractor = worker_extractor(settings);
    async move { Ok(extractor?.check_sandbox().await?) }
}

fn worker_extractor(settings: &Settings) -> anyhow::Result<WorkerExtractor> {
    let workers = NonZeroUsize::new(settings.ingestion.ingest_concurrency).unwrap_or(NonZeroUsize::MIN);
    let limits = ExtractionLimits { workers, ..ExtractionLimits::default() };
    Ok(WorkerExtractor::new(this_program()?, worker_args(), limits))
}
