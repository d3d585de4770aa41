//! Renders pages in worker processes.

use super::frame::{self, DrawingRequest, Frame, Request, Task};
use super::limits::ExtractionLimits;
use super::workers::{Interrupted, Workers};
use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::fault::Component;
use docent_ports::blob_store::ByteStream;
use docent_ports::page_renderer::{PageImageRequest, PageRenderer, RenderError};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncReadExt, BufReader};

/// Maximum size of a page image.
const MAX_PNG_BYTES: u32 = 64 << 20;

/// Renders pages, each in its own worker process.
#[derive(Debug)]
pub struct WorkerRenderer {
    workers: Workers,
}

impl WorkerRenderer {
    /// Creates a renderer whose workers are started as `command` with `args`, which must run
    /// [`worker_main`](super::worker_main).
    pub fn new(command: PathBuf, args: Vec<OsString>, limits: ExtractionLimits) -> Self {
        Self { workers: Workers::new(Component::Extractor, command, args, limits) }
    }
}

/// The result received from a worker.
enum RenderOutput {
    Png(Vec<u8>),
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
        Some(Frame::NoSuchPage) => Ok(RenderOutput::NoSuchPage),
        Some(Frame::Failed { code, reason }) => {
            let failure = frame::failure(&code, reason).ok_or(io::ErrorKind::InvalidData)?;
            Ok(RenderOutput::Failed(failure))
        }
        None => Err(io::ErrorKind::UnexpectedEof.into()),
        Some(_) => Err(io::ErrorKind::InvalidData.into()),
    }
}

#[async_trait]
impl PageRenderer for WorkerRenderer {
    async fn render(&self, pdf: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError> {
        let request = Request::new(&self.workers.limits, Task::Image(DrawingRequest::from(drawing)));
        let (output, end) = match self.workers.run(&request, pdf, receive).await {
            Ok(result) => result,
            Err(Interrupted::Fault(fault)) => return Err(fault.into()),
            Err(Interrupted::TimedOut) => {
                return Err(RenderError::Document(Failure::of(FailureCode::ExtractionTimeout)));
            }
        };
        match output {
            Ok(RenderOutput::Png(png)) => Ok(png),
            Ok(RenderOutput::NoSuchPage) => Err(RenderError::NoSuchPage),
            Ok(RenderOutput::Failed(failure)) => Err(RenderError::Document(failure)),
            Err(error) => Err(match end.cause(error) {
                Ok(code) => RenderError::Document(Failure::of(code)),
                Err(fault) => fault.into(),
            }),
        }
    }
}
