//! `docent ingest`: uploads files to a running service, several at once.

mod display;
pub(super) mod files;
mod outcome;
mod wait;

use super::service::Signals;
use crate::client::retry::{Decision, RetryPolicy, may_be_uploaded};
use crate::client::source::SourceFile;
use crate::client::{ApiError, ServiceClient};
use crate::fail;
use crate::output::{self, OutputError};
use anyhow::anyhow;
use display::{Transfer, UploadDisplay};
use docent::cli::IngestArgs;
use docent_domain::id::CollectionId;
use files::{Found, find_files};
use futures::{StreamExt, stream};
use outcome::Outcome;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};

/// Exit code: not all files were uploaded, or ingested with `--wait`.
const INCOMPLETE: u8 = 1;
/// Exit code: nothing was started.
const NOT_STARTED: u8 = 2;
/// Exit code: interrupted by Ctrl-C, as in shells.
const INTERRUPTED: u8 = 130;
/// Attempts of an upload.
const MAX_ATTEMPTS: u32 = 9;
/// Maximum age of the last check of the login; less than the lifetime of an access token.
const MAX_CHECK_AGE: Duration = Duration::from_secs(60);

/// An uploaded file and its document.
struct Uploaded {
    path: PathBuf,
    document: Value,
}

/// A run of the command.
struct Run<'a> {
    args: &'a IngestArgs,
    client: ServiceClient,
    collection: Option<CollectionId>,
    display: UploadDisplay,
    /// When the service last accepted this login.
    checked_at: tokio::sync::Mutex<Instant>,
    counts: Mutex<Counts>,
}

/// Outcomes so far.
#[derive(Default)]
struct Counts {
    succeeded: usize,
    failed: usize,
    /// IDs of uploaded documents that are being ingested.
    waiting: Vec<Value>,
    output_error: Option<OutputError>,
}

/// Runs the command; the exit codes are in the help of the command.
pub(crate) async fn run(args: IngestArgs) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return fail(&error, NOT_STARTED),
    };
    let prepared = tokio::select! {
        prepared = prepare(&args) => prepared,
        () = signals.next() => return interrupted("nothing was uploaded"),
    };
    match prepared {
        Ok((run, found)) => run.execute(found, &mut signals).await,
        Err(error) => fail(&error, NOT_STARTED),
    }
}

/// Checks the service and the login, and finds the files.
async fn prepare(args: &IngestArgs) -> anyhow::Result<(Run<'_>, Vec<Found>)> {
    let client = ServiceClient::open(&args.client.remote)?;
    match check_service(&client).await {
        // A key with the scope `ingest` alone can upload.
        Err(error) if !args.wait && ApiError::is_forbidden(&error) => {}
        Err(error) if ApiError::is_forbidden(&error) => {
            return Err(error.context("--wait needs an API key with the scope `read`"));
        }
        checked => checked?,
    }
    let collection = match &args.collection {
        Some(collection) => Some(client.collection_id(collection).await?),
        None => None,
    };
    let (paths, types) = (args.files.clone(), args.types);
    let accepted = client.accepted_types().await.unwrap_or(types);
    let found = tokio::task::spawn_blocking(move || {
        let files = find_files(&paths, types);
        files.report_links();
        files.found.into_iter().map(|file| file.check_type(accepted)).collect::<Vec<_>>()
    });
    let found = found.await?;
    let checked_at = tokio::sync::Mutex::new(Instant::now());
    let display = UploadDisplay::new();
    let run = Run { args, client, collection, display, checked_at, counts: Mutex::default() };
    Ok((run, found))
}

/// Checks that the service accepts requests; retries while it asks to wait.
async fn check_service(client: &ServiceClient) -> anyhow::Result<()> {
    let mut retries = RetryPolicy::new(MAX_ATTEMPTS);
    loop {
        let Err(error) = client.check().await else { return Ok(()) };
        match retries.after_upload(&error) {
            Decision::Wait(wait) => {
                eprintln!("docent: retrying in {} s ({error:#})", wait.as_secs());
                sleep(wait).await;
            }
            Decision::Refresh | Decision::Fail => return Err(error),
        }
    }
}

fn interrupted(state: &str) -> ExitCode {
    eprintln!("docent: interrupted; {state}");
    ExitCode::from(INTERRUPTED)
}

impl Run<'_> {
    async fn execute(self, found: Vec<Found>, signals: &mut Signals) -> ExitCode {
        let count = found.len();
        let is_any_uploaded = found.iter().any(|file| file.size.is_ok());
        let concurrency = usize::from(self.args.concurrency);
        // Bounded by the number of files; closed after the last upload.
        let (sender, receiver) = unbounded_channel();
        let run = &self;
        let uploads = async move {
            let sender = &sender;
            stream::iter(found).for_each_concurrent(concurrency, |file| run.process(file, sender)).await;
        };
        let work = async { tokio::join!(uploads, wait::wait_for_ingestion(run, receiver)) };
        let is_interrupted = tokio::select! {
            _ = work => false,
            () = signals.next() => true,
        };
        self.display.finish();
        match is_interrupted {
            true => self.print_interrupted(count),
            false if is_any_uploaded => self.print_summary(count),
            false => {
                self.print_summary(count);
                ExitCode::from(NOT_STARTED)
            }
        }
    }

    /// Uploads a file, and reports its outcome unless it is waited for.
    async fn process(&self, found: Found, sender: &UnboundedSender<Uploaded>) {
        let Found { source, size } = found;
        let uploaded = match size {
            Ok(size) => self.upload(&source, size).await,
            Err(why) => Err(anyhow!(why)),
        };
        let path = source.path().to_owned();
        match uploaded {
            Err(error) => {
                let why = &format!("{error:#}");
                let outcome = if may_be_uploaded(&error) {
                    Outcome::Unknown { why }
                } else {
                    Outcome::Rejected { why }
                };
                self.report(&path, &outcome);
            }
            Ok(document) if self.args.wait => {
                let waiting = {
                    let mut counts = self.counts();
                    counts.waiting.push(document["id"].clone());
                    counts.waiting.len()
                };
                self.display.set_ingesting(waiting);
                // The receiver outlives all uploads.
                let _ = sender.send(Uploaded { path, document });
            }
            Ok(document) => self.report(&path, &Outcome::Uploaded { document: &document, why: None }),
        }
    }

    /// Uploads a file; retries while the service asks to wait.
    async fn upload(&self, source: &SourceFile, size: u64) -> anyhow::Result<Value> {
        let transfer = self.display.start_upload(source.path(), size);
        let mut retries = RetryPolicy::new(MAX_ATTEMPTS);
        loop {
            self.check(MAX_CHECK_AGE).await?;
            let error = match self.client.upload(source, self.collection, transfer.progress_callback()).await
            {
                Ok(document) => {
                    transfer.set_uploaded();
                    return Ok(document);
                }
                Err(error) => error,
            };
            match retries.after_upload(&error) {
                Decision::Wait(wait) => pause(&transfer, wait, &error).await,
                Decision::Refresh => self.check(Duration::ZERO).await?,
                Decision::Fail => return Err(error),
            }
        }
    }

    /// Checks the login if the last check is older than `max_age`: during an upload it cannot be refreshed.
    async fn check(&self, max_age: Duration) -> anyhow::Result<()> {
        let mut checked_at = self.checked_at.lock().await;
        if checked_at.elapsed() < max_age {
            return Ok(());
        }
        match self.client.check().await {
            Err(error) if ApiError::is_forbidden(&error) => {}
            // Temporary errors are left to the upload and its retries.
            Err(error) if RetryPolicy::new(MAX_ATTEMPTS).after_read(&error) != Decision::Fail => {}
            result => result?,
        }
        *checked_at = Instant::now();
        Ok(())
    }

    /// Prints and counts an outcome.
    fn report(&self, path: &Path, outcome: &Outcome<'_>) {
        let written = self.display.write(|| {
            output::print(self.args.client.output, || outcome.text(path), || outcome.as_json(path))
        });
        let mut counts = self.counts();
        if outcome.is_success() {
            counts.succeeded += 1;
        } else {
            counts.failed += 1;
        }
        if let Err(error) = written {
            counts.output_error.get_or_insert(error);
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn print_summary(&self, count: usize) -> ExitCode {
        let mut counts = self.counts();
        let done = if self.args.wait { "ingested" } else { "uploaded" };
        if count > 1 {
            self.display.print_message(&format!("{} of {count} files {done}", counts.succeeded));
        }
        match (counts.failed, counts.output_error.take()) {
            (0, None) => ExitCode::SUCCESS,
            // A closed pipe is not a failure, other output errors are.
            (0, Some(error)) => fail(&error.into(), INCOMPLETE),
            _ => ExitCode::from(INCOMPLETE),
        }
    }

    /// Prints what was uploaded before the interruption.
    fn print_interrupted(&self, count: usize) -> ExitCode {
        let counts = self.counts();
        let uploaded = counts.waiting.len() + counts.succeeded;
        let missing = count.saturating_sub(uploaded + counts.failed);
        for id in &counts.waiting {
            self.display.print_message(&format!("still being ingested: {}", id.as_str().unwrap_or_default()));
        }
        interrupted(&format!(
            "{uploaded} of {count} files were uploaded and stay on the service, {missing} were not uploaded"
        ))
    }
}

/// Waits before the next attempt.
async fn pause(transfer: &Transfer<'_>, wait: Duration, why: &anyhow::Error) {
    transfer.set_waiting(wait, why);
    sleep(wait).await;
    transfer.restart();
}
