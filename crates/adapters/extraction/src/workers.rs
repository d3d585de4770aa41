//! Starts worker processes, sends them their input and classifies how they ended.

use super::frame::{self, Request, Task};
use super::limits::ExtractionLimits;
use docent_domain::document::FailureCode;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_ports::blob_store::ByteStream;
use futures::StreamExt;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::time::timeout;

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;
const SIGXCPU: i32 = 24;
/// Messages of the allocators of Rust and C++ before they abort the process.
const ALLOCATION_FAILED: [&str; 2] = ["memory allocation of ", "std::bad_alloc"];
/// How much of the worker's standard error is logged.
const LOG_BYTES: usize = 4096;

/// Runs a limited number of worker processes at a time.
#[derive(Debug)]
pub(super) struct Workers {
    /// The component that the workers are, in faults.
    component: Component,
    command: PathBuf,
    args: Vec<OsString>,
    pub(super) limits: ExtractionLimits,
    slots: Semaphore,
}

/// Why a worker was stopped.
pub(super) enum Interrupted {
    /// It exceeded the time limit.
    TimedOut,
    /// It could not be started or communicated with, or the file could not be read.
    Fault(Fault),
}

impl From<Fault> for Interrupted {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// How a worker ended.
pub(super) struct End {
    component: Component,
    status: ExitStatus,
    log: String,
}

impl Workers {
    pub(super) fn new(
        component: Component,
        command: PathBuf,
        args: Vec<OsString>,
        limits: ExtractionLimits,
    ) -> Self {
        Self { component, command, args, limits, slots: Semaphore::new(limits.workers.get()) }
    }

    fn fault(&self, kind: FaultKind, message: &'static str) -> Fault {
        Fault::new(self.component, kind, message)
    }

    /// Runs a worker on a file. Returns the result of `receive` on its output, and how it ended.
    pub(super) async fn run<T, F>(
        &self,
        request: &Request,
        pdf: ByteStream,
        receive: impl FnOnce(ChildStdout) -> F + Send,
    ) -> Result<(io::Result<T>, End), Interrupted>
    where
        F: Future<Output = io::Result<T>> + Send,
        T: Send,
    {
        let slot = self.slots.acquire().await;
        let _slot = slot
            .map_err(|error| self.fault(FaultKind::Internal, "cannot wait for a worker").caused_by(error))?;
        let mut worker = self.spawn()?;
        let child = &mut worker.process;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(self.fault(FaultKind::Internal, "the worker has no pipes").into());
        };
        let blocked = AtomicBool::new(false);
        let failed = |error: io::Error| {
            self.fault(FaultKind::Internal, "cannot wait for the worker's exit").caused_by(error)
        };
        let exchange = async {
            let exchange = async {
                let (answer, log) = tokio::join!(receive(stdout), read_log(stderr));
                if answer.is_err() {
                    // The worker may still be writing output that is no longer read.
                    worker.kill();
                }
                Ok((answer, log))
            };
            let exit = async {
                worker.exit().await.map_err(failed)?;
                // Children of a program could keep the pipes open, and run on.
                worker.kill();
                Ok(())
            };
            let ((), (answer, log), ()) =
                tokio::try_join!(feed(request, pdf, stdin, &blocked), exchange, exit)?;
            Ok((answer, log))
        };
        let result = timeout(self.limits.wall, exchange).await;
        match result {
            Ok(Ok((answer, log))) => {
                let status = worker.process.wait().await.map_err(failed)?;
                let end = End { component: self.component, status, log };
                // Programs write notes to standard error.
                let is_program = matches!(request.task, Task::Program(_));
                if !end.status.success() || !(is_program || end.log.is_empty()) {
                    tracing::warn!(status = %end.status, log = end.log, "a worker failed or wrote to standard error");
                }
                Ok((answer, end))
            }
            Ok(Err(fault)) => {
                worker.stop().await;
                Err(Interrupted::Fault(fault))
            }
            Err(_) => {
                worker.stop().await;
                if blocked.load(Ordering::Relaxed) {
                    return Err(Fault::new(
                        Component::BlobStore,
                        FaultKind::Timeout,
                        "the PDF's bytes did not arrive in time",
                    )
                    .into());
                }
                tracing::warn!(wall = ?self.limits.wall, "a worker exceeded its time limit");
                Err(Interrupted::TimedOut)
            }
        }
    }

    fn spawn(&self) -> Result<Worker, Fault> {
        let mut command = Command::new(&self.command);
        command.args(&self.args).env_clear().kill_on_drop(true);
        // A process group of its own: signals to the service's group, such as Ctrl-C, must not reach workers before the
        // service shuts down in order, and the group is how children of a program are stopped.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = command.spawn().map_err(|error| {
            self.fault(FaultKind::Unavailable, "cannot start the worker").caused_by(error)
        })?;
        Ok(Worker { process })
    }
}

/// A worker process with the processes that it has started, which all end when this is dropped.
struct Worker {
    process: Child,
}

impl Worker {
    /// The process and its group have this number until the process is waited for.
    fn group(&self) -> Option<Pid> {
        self.process.id().and_then(|id| Pid::from_raw(id.cast_signed()))
    }

    /// Kills the process and those that it has started.
    fn kill(&self) {
        if let Some(group) = self.group()
            && let Err(error) = kill_process_group(group, Signal::KILL)
            && error != Errno::SRCH
        {
            tracing::warn!(%error, "cannot kill a worker");
        }
    }

    /// Returns once the process has exited. It is not waited for, so that [`Self::kill`] cannot reach another process with
    /// its number.
    async fn exit(&self) -> io::Result<()> {
        let Some(process) = self.group() else { return Ok(()) };
        // Before the first look, so that no exit after it is missed.
        let mut exits = signal(SignalKind::child())?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(process), options)?.is_none() {
            exits.recv().await;
        }
        Ok(())
    }

    async fn stop(mut self) {
        self.kill();
        if let Err(error) = self.process.wait().await {
            tracing::warn!(%error, "cannot wait for a worker");
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

impl End {
    /// The exit code; `None` if a signal ended the worker.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The beginning of its standard error.
    pub(super) fn log(&self) -> &str {
        &self.log
    }

    fn fault(&self, kind: FaultKind, message: &'static str) -> Fault {
        Fault::new(self.component, kind, message)
    }

    /// Classifies output that ended with `error`: a failure of the document, or a fault of the worker.
    pub(super) fn cause(&self, error: io::Error) -> Result<FailureCode, Fault> {
        let code = match self.status.signal() {
            // It was killed because its output was invalid.
            _ if error.kind() == io::ErrorKind::InvalidData => None,
            // The system is shutting down; the document is not the cause.
            Some(SIGHUP | SIGINT | SIGTERM) => {
                return Err(self.fault(FaultKind::Unavailable, "the worker received a signal to stop"));
            }
            Some(_) if ALLOCATION_FAILED.iter().any(|message| self.log.contains(message)) => {
                Some(FailureCode::ExtractionMemory)
            }
            Some(SIGXCPU) => Some(FailureCode::ExtractionTimeout),
            // The kernel kills workers when memory is short.
            Some(SIGKILL) => Some(FailureCode::ExtractionMemory),
            Some(_) => Some(FailureCode::ExtractionCrashed),
            None => None,
        };
        match code {
            Some(code) => Ok(code),
            None if self.status.success() || self.status.signal().is_some() => {
                Err(self.fault(FaultKind::InvalidResponse, "the worker's output is invalid").caused_by(error))
            }
            None => Err(self.fault(FaultKind::Unavailable, "the worker failed").caused_by(self.log.as_str())),
        }
    }
}

/// Sends the request and the file; `blocked` is true while waiting for bytes of the file.
async fn feed(
    request: &Request,
    mut pdf: ByteStream,
    stdin: ChildStdin,
    blocked: &AtomicBool,
) -> Result<(), Fault> {
    let mut pipe = Pipe { stdin: Some(stdin) };
    let mut bytes = Vec::new();
    frame::write(&mut bytes, request).map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "cannot serialize the worker's request")
            .caused_by(error)
    })?;
    pipe.write(&bytes).await;
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

/// The worker's standard input, which the worker may close early.
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

/// Reads standard error to its end and returns the beginning.
async fn read_log(mut stderr: impl AsyncRead + Unpin) -> String {
    let mut log = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let room = LOG_BYTES - log.len();
        log.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&log).trim().to_owned()
}
