//! The parent's side: starts a worker for each PDF, feeds it, and judges how it ended.

use super::{
    frame::{self, Frame, Request},
    limits::ExtractionLimits,
};
use async_trait::async_trait;
use docent_domain::{
    document::{Failure, FailureCode},
    extraction::{ExtractedPage, Extraction, Metadata},
};
use docent_ports::{
    blob_store::ByteStream,
    error::{Fault, FaultKind, Part},
    text_extractor::{ExtractionError, TextExtractor},
};
use futures::StreamExt;
use std::{
    ffi::OsString,
    io,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::Semaphore,
    time::timeout,
};

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;
/// How Rust's allocator announces that it gives up, before it aborts the process.
const ALLOCATION_FAILED: &str = "memory allocation of ";
/// How much of the worker's standard error is kept for the log.
const LOG_BYTES: usize = 4096;

/// Reads PDFs in worker processes, one for each.
#[derive(Debug)]
pub struct WorkerExtractor {
    command: PathBuf,
    args: Vec<OsString>,
    limits: ExtractionLimits,
    slots: Semaphore,
}

impl WorkerExtractor {
    /// An extractor that starts `command` with `args` as its worker; that process must end up in
    /// [`worker_main`](super::worker_main).
    pub fn new(command: PathBuf, args: Vec<OsString>, limits: ExtractionLimits) -> Self {
        Self { command, args, limits, slots: Semaphore::new(limits.workers.get()) }
    }

    fn spawn(&self) -> Result<Child, Fault> {
        let mut command = Command::new(&self.command);
        command.args(&self.args).env_clear().kill_on_drop(true);
        // A group of its own: Ctrl-C at a terminal, and whoever else signals the whole group, means the service,
        // which ends its work in order.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| fault(FaultKind::Unavailable, "start of the worker").caused_by(error))
    }

    fn request(&self) -> Request {
        let ExtractionLimits { file_bytes, pages, text_bytes, memory_bytes, cpu, .. } = self.limits;
        Request { memory_bytes, cpu_seconds: cpu.as_secs(), file_bytes, pages, text_bytes }
    }

    /// Sends the request and the file.
    async fn feed(&self, mut pdf: ByteStream, stdin: ChildStdin, blocked: &AtomicBool) -> Result<(), Fault> {
        let mut pipe = Pipe { stdin: Some(stdin) };
        let mut request = Vec::new();
        frame::write(&mut request, &self.request())
            .map_err(|error| fault(FaultKind::Internal, "request to the worker").caused_by(error))?;
        pipe.write(&request).await;
        loop {
            blocked.store(true, Ordering::Relaxed);
            let bytes = pdf.next().await;
            blocked.store(false, Ordering::Relaxed);
            match bytes {
                Some(bytes) if pipe.is_open() => pipe.write(&bytes?).await,
                _ => return Ok(()),
            }
        }
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
                Frame::Page(_) | Frame::Complete { .. } | Frame::Metadata(_) => {
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
        }
        Ok(answer)
    }
}

#[async_trait]
impl TextExtractor for WorkerExtractor {
    async fn extract(&self, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        let slot = self.slots.acquire().await;
        let _slot = slot.map_err(|error| fault(FaultKind::Internal, "wait for a worker").caused_by(error))?;
        let mut child = self.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(fault(FaultKind::Internal, "a pipe to the worker is missing").into());
        };
        let blocked = AtomicBool::new(false);
        let talk = async {
            let talk = async { Ok(tokio::join!(self.receive(stdout), read_log(stderr))) };
            let ((), (answer, log)) = tokio::try_join!(self.feed(pdf, stdin, &blocked), talk)?;
            if answer.is_err() {
                // It may still be writing, to nobody.
                let _ = child.start_kill();
            }
            let status = child.wait().await;
            let status =
                status.map_err(|error| fault(FaultKind::Internal, "end of the worker").caused_by(error))?;
            Ok(Ended { answer, status, log })
        };
        let ended = timeout(self.limits.wall, talk).await;
        match ended {
            Ok(Ok(ended)) => ended.judge(),
            Ok(Err(fault)) => {
                reap(child).await;
                Err(ExtractionError::Fault(fault))
            }
            Err(_) => {
                reap(child).await;
                if blocked.load(Ordering::Relaxed) {
                    return Err(Fault::new(Part::BlobStore, FaultKind::Timeout, "bytes of the PDF").into());
                }
                tracing::warn!(wall = ?self.limits.wall, "an extraction worker ran out of wall time");
                Err(ExtractionError::Document(Failure::of(FailureCode::ExtractionTimeout)))
            }
        }
    }

    fn name(&self) -> &'static str {
        concat!("docent-pdf ", env!("CARGO_PKG_VERSION"), " (hayro 0.9.0)")
    }
}

fn fault(kind: FaultKind, message: &'static str) -> Fault {
    Fault::new(Part::Extractor, kind, message)
}

async fn reap(mut child: Child) {
    if let Err(error) = child.kill().await {
        tracing::warn!(%error, "an extraction worker could not be killed");
    }
}

/// The worker's standard input. It may close it early, when it has seen enough to fail.
struct Pipe {
    stdin: Option<ChildStdin>,
}

impl Pipe {
    fn is_open(&self) -> bool {
        self.stdin.is_some()
    }

    async fn write(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin
            && stdin.write_all(bytes).await.is_err()
        {
            self.stdin = None;
        }
    }
}

/// Reads standard error to its end and keeps the beginning.
async fn read_log(mut stderr: impl AsyncRead + Unpin) -> String {
    let mut log = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let room = LOG_BYTES - log.len();
        log.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&log).trim().to_owned()
}

/// What a worker said.
#[derive(Debug, Default)]
struct Answer {
    pages: Vec<ExtractedPage>,
    complete: bool,
    metadata: Metadata,
    failure: Option<Failure>,
}

/// How a worker ended.
struct Ended {
    answer: io::Result<Answer>,
    status: ExitStatus,
    log: String,
}

impl Ended {
    fn judge(self) -> Result<Extraction, ExtractionError> {
        let Self { answer, status, log } = self;
        if !status.success() || !log.is_empty() {
            tracing::warn!(%status, log, "an extraction worker complained");
        }
        let error = match answer {
            Ok(Answer { failure: Some(failure), .. }) => return Err(ExtractionError::Document(failure)),
            // The pages are all there; whatever happened later cannot take them back.
            Ok(Answer { pages, complete: true, metadata, .. }) => return Ok(Extraction { pages, metadata }),
            Ok(_) => io::ErrorKind::UnexpectedEof.into(),
            Err(error) => error,
        };
        let code = match status.signal() {
            // It died because we stopped listening to its nonsense.
            _ if error.kind() == io::ErrorKind::InvalidData => None,
            // Somebody is stopping everything here; the document has done nothing.
            Some(SIGHUP | SIGINT | SIGTERM) => {
                return Err(fault(FaultKind::Unavailable, "the worker was told to stop").into());
            }
            Some(_) if log.contains(ALLOCATION_FAILED) => Some(FailureCode::ExtractionMemory),
            Some(SIGXCPU) => Some(FailureCode::ExtractionTimeout),
            // Nobody else kills workers but a kernel that is short of memory.
            Some(SIGKILL) => Some(FailureCode::ExtractionMemory),
            Some(_) => Some(FailureCode::ExtractionCrashed),
            None => None,
        };
        Err(match code {
            Some(code) => ExtractionError::Document(Failure::of(code)),
            None if status.success() || status.signal().is_some() => {
                fault(FaultKind::Garbage, "answer of the worker").caused_by(error).into()
            }
            None => fault(FaultKind::Unavailable, "the worker did not work").caused_by(log).into(),
        })
    }
}
