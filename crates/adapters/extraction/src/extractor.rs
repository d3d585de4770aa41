//! Extracts text in worker processes.

use super::frame::{self, Frame, Request, Task};
use super::limits::ExtractionLimits;
use super::sandbox::Sandbox;
use super::workers::{Interrupted, Workers};
use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{ExtractedPage, Extraction, Metadata};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::FileType;
use docent_ports::blob_store::ByteStream;
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use tokio::io::{AsyncRead, BufReader};

/// Extracts text of files, each in its own worker process.
#[derive(Debug)]
pub struct WorkerExtractor {
    workers: Workers,
}

impl WorkerExtractor {
    /// Creates an extractor whose workers are started as `command` with `args`, which must run
    /// [`worker_main`](super::worker_main).
    pub fn new(command: PathBuf, args: Vec<OsString>, limits: ExtractionLimits) -> Self {
        Self { workers: Workers::new(Component::Extractor, command, args, limits) }
    }

    /// Starts a worker that reports its sandbox.
    ///
    /// # Errors
    /// If the worker cannot be started or does not respond.
    pub async fn check_sandbox(&self) -> Result<Sandbox, Fault> {
        let fault = |kind, message| Fault::new(Component::Extractor, kind, message);
        let request = Request::new(&self.workers.limits, Task::SandboxCheck);
        let no_file = Box::pin(futures::stream::empty());
        let receive = async |mut stdout| frame::next::<Frame>(&mut stdout).await;
        match self.workers.run(&request, no_file, receive).await {
            Ok((Ok(Some(Frame::Sandbox(sandbox))), _)) => Ok(sandbox),
            Ok((output, end)) => {
                let error = output.err().unwrap_or(io::ErrorKind::UnexpectedEof.into());
                Err(match end.cause(error) {
                    Ok(_) => fault(FaultKind::Unavailable, "the worker crashed"),
                    Err(fault) => fault,
                })
            }
            Err(Interrupted::TimedOut) => {
                Err(fault(FaultKind::Timeout, "the worker did not respond in time"))
            }
            Err(Interrupted::Fault(fault)) => Err(fault),
        }
    }

    /// Receives the worker's frames.
    async fn receive(&self, stdout: impl AsyncRead + Unpin) -> io::Result<WorkerOutput> {
        let mut stdout = BufReader::new(stdout);
        let mut output = WorkerOutput::default();
        let limits = &self.workers.limits;
        let mut text_bytes = 0;
        while let Some(frame) = frame::next(&mut stdout).await? {
            match frame {
                Frame::Page(page) if !output.complete => {
                    let page = page.extracted()?;
                    text_bytes += page.text.len() as u64;
                    if page.number as usize != output.pages.len() + 1
                        || page.number > limits.pages
                        || text_bytes > limits.text_bytes
                    {
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                    output.pages.push(page);
                }
                Frame::Complete { pages } if pages as usize == output.pages.len() => output.complete = true,
                Frame::Metadata(metadata) if output.complete => output.metadata = metadata.into(),
                Frame::Failed { code, reason } => {
                    let failure = frame::failure(&code, reason).ok_or(io::ErrorKind::InvalidData)?;
                    output.failure = Some(failure);
                }
                Frame::Page(_)
                | Frame::Complete { .. }
                | Frame::Metadata(_)
                | Frame::Image { .. }
                | Frame::Words { .. }
                | Frame::NoSuchPage
                | Frame::Sandbox(_) => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
        Ok(output)
    }
}

#[async_trait]
impl TextExtractor for WorkerExtractor {
    async fn extract(&self, file_type: FileType, bytes: ByteStream) -> Result<Extraction, ExtractionError> {
        let task = Task::Text { file_type: file_type.as_str().to_owned() };
        let request = Request::new(&self.workers.limits, task);
        let result = self.workers.run(&request, bytes, |stdout| self.receive(stdout)).await;
        let (output, end) = match result {
            Ok(result) => result,
            Err(Interrupted::Fault(fault)) => return Err(fault.into()),
            Err(Interrupted::TimedOut) => {
                return Err(ExtractionError::Document(Failure::of_type(
                    FailureCode::ExtractionTimeout,
                    file_type,
                )));
            }
        };
        let error = match output {
            Ok(WorkerOutput { failure: Some(failure), .. }) => {
                return Err(ExtractionError::Document(failure));
            }
            // All pages have arrived; later errors do not matter.
            Ok(WorkerOutput { pages, complete: true, metadata, .. }) => {
                return Ok(Extraction { pages, metadata });
            }
            Ok(_) => io::ErrorKind::UnexpectedEof.into(),
            Err(error) => error,
        };
        Err(match end.cause(error) {
            Ok(code) => ExtractionError::Document(Failure::of_type(code, file_type)),
            Err(fault) => fault.into(),
        })
    }

    fn name(&self, file_type: FileType) -> &'static str {
        macro_rules! version {
            ($name:literal) => {
                concat!("docent-", $name, " ", env!("CARGO_PKG_VERSION"), " (reader 6)")
            };
        }
        match file_type {
            FileType::Pdf => concat!("docent-pdf ", env!("CARGO_PKG_VERSION"), " (hayro 0.9.0, layout 6)"),
            FileType::Docx => version!("docx"),
            FileType::Pptx => version!("pptx"),
            FileType::Xlsx => version!("xlsx"),
            FileType::Odt => version!("odt"),
            FileType::Html => version!("html"),
            FileType::Markdown => version!("markdown"),
            FileType::Text => version!("text"),
            FileType::Csv => version!("csv"),
            FileType::Eml => version!("eml"),
            FileType::Epub => version!("epub"),
            FileType::Ods => version!("ods"),
            FileType::Rtf => version!("rtf"),
            FileType::Msg => version!("msg"),
        }
    }
}

/// The frames received from a worker.
#[derive(Debug, Default)]
struct WorkerOutput {
    pages: Vec<ExtractedPage>,
    complete: bool,
    metadata: Metadata,
    failure: Option<Failure>,
}
