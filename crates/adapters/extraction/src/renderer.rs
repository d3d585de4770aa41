//! Renders pages in worker processes.

use super::frame::{self, DrawingRequest, Frame, Request, Task, WordFrame};
use super::limits::ExtractionLimits;
use super::workers::{Interrupted, Workers};
use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::page_words::{PageLines, PageWord};
use docent_ports::blob_store::ByteStream;
use docent_ports::page_renderer::{ImageSize, PageImageRequest, PageRenderer, RenderError};
use std::ffi::OsString;
use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncReadExt, BufReader};

/// Maximum size of a page image.
const MAX_PNG_BYTES: u32 = 64 << 20;

/// Renders pages, each in its own worker process.
#[derive(Debug)]
pub struct WorkerRenderer {
    /// For images that a client waits for.
    viewing: Workers,
    /// For images on which text is recognised. They have places of their own, so that they do not delay clients.
    scanning: Workers,
}

impl WorkerRenderer {
    /// Creates a renderer whose workers are started as `command` with `args`, which must run
    /// [`worker_main`](super::worker_main). `viewing` limits images that a client waits for, `scanning` those on which text is
    /// recognised.
    pub fn new(
        command: PathBuf,
        args: Vec<OsString>,
        viewing: ExtractionLimits,
        scanning: ExtractionLimits,
    ) -> Self {
        let workers = |limits| Workers::new(Component::Extractor, command.clone(), args.clone(), limits);
        Self { viewing: workers(viewing), scanning: workers(scanning) }
    }
}

/// The result received from a worker.
enum RenderOutput {
    Png(Vec<u8>),
    Words(PageLines),
    NoSuchPage,
    Failed(Failure),
}

async fn receive(stdout: impl AsyncRead + Unpin) -> io::Result<RenderOutput> {
    let mut stdout = BufReader::new(stdout);
    match frame::next(&mut stdout).await? {
        Some(Frame::Image { bytes }) if bytes <= MAX_PNG_BYTES => {
            let mut png = vec![0; bytes as usize];
            stdout.read_exact(&mut png).await?;
            Ok(RenderOutput::Png(png))
        }
        Some(Frame::Words { lines }) => {
            let words = |line: Vec<WordFrame>| line.into_iter().map(PageWord::from).collect();
            Ok(RenderOutput::Words(lines.into_iter().map(words).collect()))
        }
        Some(Frame::NoSuchPage) => Ok(RenderOutput::NoSuchPage),
        Some(Frame::Failed { code, reason }) => {
            let failure = frame::failure(&code, reason).ok_or(io::ErrorKind::InvalidData)?;
            Ok(RenderOutput::Failed(failure))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The fault of a worker that sent the result of another task.
fn unexpected() -> RenderError {
    Fault::new(Component::Extractor, FaultKind::InvalidResponse, "the worker sent another result").into()
}

async fn run(workers: &Workers, task: Task, pdf: ByteStream) -> Result<RenderOutput, RenderError> {
    let request = Request::new(&workers.limits, task);
    let (output, end) = match workers.run(&request, pdf, receive).await {
        Ok(result) => result,
        Err(Interrupted::Fault(fault)) => return Err(fault.into()),
        Err(Interrupted::TimedOut) => {
            return Err(RenderError::Document(Failure::of(FailureCode::ExtractionTimeout)));
        }
    };
    match output {
        Ok(RenderOutput::NoSuchPage) => Err(RenderError::NoSuchPage),
        Ok(RenderOutput::Failed(failure)) => Err(RenderError::Document(failure)),
        Ok(output) => Ok(output),
        Err(error) => Err(match end.cause(error) {
            Ok(code) => RenderError::Document(Failure::of(code)),
            Err(fault) => fault.into(),
        }),
    }
}

#[async_trait]
impl PageRenderer for WorkerRenderer {
    async fn render(&self, pdf: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError> {
        let workers = match drawing.size {
            ImageSize::Width(_) => &self.viewing,
            ImageSize::Scan { .. } | ImageSize::Description { .. } => &self.scanning,
        };
        match run(workers, Task::Image(DrawingRequest::from(drawing)), pdf).await? {
            RenderOutput::Png(png) => Ok(png),
            _ => Err(unexpected()),
        }
    }

    async fn words(&self, pdf: ByteStream, page: NonZeroU32) -> Result<PageLines, RenderError> {
        match run(&self.viewing, Task::Words { page: page.get() }, pdf).await? {
            RenderOutput::Words(lines) => Ok(lines),
            _ => Err(unexpected()),
        }
    }
}
