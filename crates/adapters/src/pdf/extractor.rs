//! Extracts text in worker processes.

use super::{
    frame::{self, Frame, Request},
    limits::ExtractionLimits,
    workers::{Interrupted, Workers},
};
use async_trait::async_trait;
use docent_domain::{
    document::{Failure, FailureCode},
    extraction::{ExtractedPage, Extraction, Metadata},
};
use docent_ports::{
    blob_store::ByteStream,
    text_extractor::{ExtractionError, TextExtractor},
};
use std::{ffi::OsString, io, path::PathBuf};
use tokio::io::{AsyncRead, BufReader};

/// Extracts text of PDFs, each in its own worker process.
#[derive(Debug)]
pub struct WorkerExtractor {
    workers: Workers,
    limits: ExtractionLimits,
}

impl WorkerExtractor {
    /// Creates an extractor whose workers are started as `command` with `args`, which must run
    /// [`worker_main`](super::worker_main).
    pub fn new(command: PathBuf, args: Vec<OsString>, limits: ExtractionLimits) -> Self {
        Self { workers: Workers::new(command, args, limits.wall, limits.workers), limits }
    }

    fn request(&self) -> Request {
        let ExtractionLimits { file_bytes, pages, text_bytes, memory_bytes, cpu, .. } = self.limits;
        Request { memory_bytes, cpu_seconds: cpu.as_secs(), file_bytes, pages, text_bytes, drawing: None }
    }

    /// Takes the frames as they come.
    async fn receive(&self, stdout: impl AsyncRead + Unpin) -> io::Result<Answer> {
        let mut stdout = BufReader::new(stdout);
        let mut answer = Answer::default();
        let mut text_bytes = 0;
        while let Some(frame) = frame::next(&mut stdout).await? {
            match frame {
                Frame::Page(page) if !answer.complete => {
                    let page = ExtractedPage::from(page);
                    text_bytes += page.text.len() as u64;
                    if page.number as usize != answer.pages.len() + 1
                        || page.number > self.limits.pages
                        || text_bytes > self.limits.text_bytes
                    {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    answer.pages.push(page);
                }
                Frame::Complete { pages } if pages as usize == answer.pages.len() => answer.complete = true,
                Frame::Metadata(metadata) if answer.complete => answer.metadata = metadata.into(),
                Frame::Failed { code, reason } => {
                    let failure = frame::failure(&code, reason).ok_or(io::ErrorKind::InvalidData)?;
                    answer.failure = Some(failure);
                }
                Frame::Page(_)
                | Frame::Complete { .. }
                | Frame::Metadata(_)
                | Frame::Image { .. }
                | Frame::NoSuchPage => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        Ok(answer)
    }
}

#[async_trait]
impl TextExtractor for WorkerExtractor {
    async fn extract(&self, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        let request = self.request();
        let ended = self.workers.run(&request, pdf, |stdout| self.receive(stdout)).await;
        let (answer, end) = match ended {
            Ok(ended) => ended,
            Err(Interrupted::Fault(fault)) => return Err(fault.into()),
            Err(Interrupted::TimedOut) => {
                return Err(ExtractionError::Document(Failure::of(FailureCode::ExtractionTimeout)));
            }
        };
        let error = match answer {
            Ok(Answer { failure: Some(failure), .. }) => return Err(ExtractionError::Document(failure)),
            // The pages are all there; whatever happened later cannot take them back.
            Ok(Answer { pages, complete: true, metadata, .. }) => return Ok(Extraction { pages, metadata }),
            Ok(_) => io::ErrorKind::UnexpectedEof.into(),
            Err(error) => error,
        };
        Err(match end.blame(error) {
            Ok(code) => ExtractionError::Document(Failure::of(code)),
            Err(fault) => fault.into(),
        })
    }

    fn name(&self) -> &'static str {
        concat!("docent-pdf ", env!("CARGO_PKG_VERSION"), " (hayro 0.9.0)")
    }
}

/// The frames received from a worker.
#[derive(Debug, Default)]
struct Answer {
    pages: Vec<ExtractedPage>,
    complete: bool,
    metadata: Metadata,
    failure: Option<Failure>,
}
