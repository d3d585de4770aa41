//! `docent ingest`: files to a running service, several at once.

mod files;
mod follow;
mod outcome;
mod patience;
mod shown;

use super::service::Signals;
use crate::{
    client::{Refusal, Remote},
    fail,
    output::{self, Unwritten},
};
use anyhow::anyhow;
use docent::cli::IngestArgs;
use files::{Found, files};
use futures::{StreamExt, stream};
use outcome::Outcome;
use patience::{Next, Patience, may_have_been_taken};
use reqwest::StatusCode;
use serde_json::Value;
use shown::{Shown, Transfer};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::mpsc::{UnboundedSender, unbounded_channel},
    time::{Instant, sleep},
};

/// Not all files were ingested, or taken when that was not waited for.
const INCOMPLETE: u8 = 1;
/// Nothing was begun.
const NOT_BEGUN: u8 = 2;
/// Stopped by Ctrl-C, as shells tell it.
const STOPPED: u8 = 130;
/// The most tries of an upload.
const TRIES: u32 = 9;
/// How long a login counts as fresh: less than an access token lasts.
const FRESH: Duration = Duration::from_secs(60);

/// A file that the service has taken.
struct Accepted {
    path: PathBuf,
    document: Value,
}

/// A run of the command.
struct Run<'a> {
    args: &'a IngestArgs,
    remote: Remote,
    shown: Shown,
    /// When the service last was known to accept this login.
    checked: tokio::sync::Mutex<Instant>,
    tally: Mutex<Tally>,
}

/// What has come of the files so far.
#[derive(Default)]
struct Tally {
    good: usize,
    bad: usize,
    /// Taken by the service, and waited for.
    waiting: Vec<Value>,
    unwritten: Option<Unwritten>,
}

/// Uploads what is named, and ends as [`IngestArgs`] says.
pub(crate) async fn run(args: IngestArgs) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => return fail(&error, NOT_BEGUN),
    };
    let begun = tokio::select! {
        begun = begin(&args) => begun,
        () = signals.next() => return stopped("nothing was uploaded"),
    };
    match begun {
        Ok((run, found)) => run.carry_out(found, &mut signals).await,
        Err(error) => fail(&error, NOT_BEGUN),
    }
}

/// Looks for the files, and whether the service is there and knows who this is.
async fn begin(args: &IngestArgs) -> anyhow::Result<(Run<'_>, Vec<Found>)> {
    let remote = Remote::open(&args.remote)?;
    match greet(&remote).await {
        Err(error) if !args.wait && is_forbidden(&error) => {}
        Err(error) if is_forbidden(&error) => {
            return Err(
                error.context("this API key may not read what becomes of documents, which --wait is for")
            );
        }
        checked => checked?,
    }
    let named = args.files.clone();
    let found = tokio::task::spawn_blocking(move || files(&named)).await?;
    let checked = tokio::sync::Mutex::new(Instant::now());
    let run = Run { args, remote, shown: Shown::new(), checked, tally: Mutex::default() };
    Ok((run, found))
}

/// Asks whether the service is there, as often as it wants to be asked again.
async fn greet(remote: &Remote) -> anyhow::Result<()> {
    let mut patience = Patience::new(TRIES);
    loop {
        let Err(error) = remote.check().await else { return Ok(()) };
        match patience.after_upload(&error) {
            Next::Wait(wait) => {
                eprintln!("docent: trying again in {} s ({error:#})", wait.as_secs());
                sleep(wait).await;
            }
            Next::Renew | Next::GiveUp => return Err(error),
        }
    }
}

/// Whether it is an API key without the right to read, which may be one to upload with.
fn is_forbidden(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.status == StatusCode::FORBIDDEN)
}

fn stopped(what: &str) -> ExitCode {
    eprintln!("docent: stopped; {what}");
    ExitCode::from(STOPPED)
}

impl Run<'_> {
    async fn carry_out(self, found: Vec<Found>, signals: &mut Signals) -> ExitCode {
        let count = found.len();
        let at_once = usize::from(self.args.concurrency);
        // The channel holds no more than there are files, and ends with the last upload.
        let (accepted, followed) = unbounded_channel();
        let run = &self;
        let uploads = async move {
            let accepted = &accepted;
            stream::iter(found).for_each_concurrent(at_once, |file| run.take(file, accepted)).await;
        };
        let work = async { tokio::join!(uploads, follow::follow(run, followed)) };
        let is_stopped = tokio::select! {
            _ = work => false,
            () = signals.next() => true,
        };
        self.shown.end();
        if is_stopped { self.leave(count) } else { self.conclude(count) }
    }

    /// Uploads a file, and says what came of it.
    async fn take(&self, found: Found, accepted: &UnboundedSender<Accepted>) {
        let Found { path, size } = found;
        let uploaded = match size {
            Ok(size) => self.upload(&path, size).await,
            Err(why) => Err(anyhow!(why)),
        };
        match uploaded {
            Err(error) => {
                let why = &format!("{error:#}");
                let is_open = may_have_been_taken(&error);
                self.tell(&path, &if is_open { Outcome::Unknown { why } } else { Outcome::Refused { why } });
            }
            Ok(document) if self.args.wait => {
                let waiting = {
                    let mut tally = self.tally();
                    tally.waiting.push(document["id"].clone());
                    tally.waiting.len()
                };
                self.shown.ingesting(waiting);
                // The receiver lasts as long as there are uploads.
                let _ = accepted.send(Accepted { path, document });
            }
            Ok(document) => self.tell(&path, &Outcome::Accepted { document: &document, why: None }),
        }
    }

    /// Uploads a file, as often as the service asks to be asked again.
    async fn upload(&self, path: &Path, size: u64) -> anyhow::Result<Value> {
        let transfer = self.shown.uploading(path, size);
        let mut patience = Patience::new(TRIES);
        loop {
            self.check(FRESH).await?;
            let error = match self.remote.upload(path, transfer.position()).await {
                Ok(document) => {
                    transfer.uploaded();
                    return Ok(document);
                }
                Err(error) => error,
            };
            match patience.after_upload(&error) {
                Next::Wait(wait) => pause(&transfer, wait, &error).await,
                Next::Renew => self.check(Duration::ZERO).await?,
                Next::GiveUp => return Err(error),
            }
        }
    }

    /// Sees to it that the login is fresh: one that is refused in the middle of an upload cannot be renewed there.
    async fn check(&self, fresh: Duration) -> anyhow::Result<()> {
        let mut checked = self.checked.lock().await;
        if checked.elapsed() < fresh {
            return Ok(());
        }
        match self.remote.check().await {
            Err(error) if is_forbidden(&error) => {}
            // Whether there is time for a request is a question for the upload.
            Err(error) if Patience::new(TRIES).after_question(&error) != Next::GiveUp => {}
            answered => answered?,
        }
        *checked = Instant::now();
        Ok(())
    }

    /// Gives a result, and counts it.
    fn tell(&self, path: &Path, outcome: &Outcome<'_>) {
        let written = self
            .shown
            .write(|| output::result(self.args.output, || outcome.text(path), || outcome.as_json(path)));
        let mut tally = self.tally();
        if outcome.is_good() {
            tally.good += 1;
        } else {
            tally.bad += 1;
        }
        if let Err(unwritten) = written {
            tally.unwritten.get_or_insert(unwritten);
        }
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn conclude(&self, count: usize) -> ExitCode {
        let mut tally = self.tally();
        let done = if self.args.wait { "ingested" } else { "uploaded" };
        if count > 1 {
            self.shown.say(&format!("{} of {count} files {done}", tally.good));
        }
        match (tally.bad, tally.unwritten.take()) {
            (0, None) => ExitCode::SUCCESS,
            // What nobody reads may be left unwritten, but not what was to be kept.
            (0, Some(unwritten)) => fail(&unwritten.into(), INCOMPLETE),
            _ => ExitCode::from(INCOMPLETE),
        }
    }

    /// Says what the service goes on with.
    fn leave(&self, count: usize) -> ExitCode {
        let tally = self.tally();
        let taken = tally.waiting.len() + tally.good;
        let missing = count.saturating_sub(taken + tally.bad);
        for id in &tally.waiting {
            self.shown.say(&format!("left to the service: {}", id.as_str().unwrap_or_default()));
        }
        stopped(&format!(
            "{taken} of {count} files were taken and stay at the service, {missing} were not uploaded"
        ))
    }
}

/// Waits as long as the service wants.
async fn pause(transfer: &Transfer<'_>, wait: Duration, why: &anyhow::Error) {
    transfer.waiting(wait, why);
    sleep(wait).await;
    transfer.again();
}
