//! Executes a plan, waits until all jobs are done, and checks the result.

use super::client::{Answer, Client, Request};
use super::installation::Installation;
use super::plan::{Event, Paper, Plan, Scale, random_seed};
use super::verdict::{self, Outcome, Slot};
use super::{Chaos, Profile};
use crate::random::Random;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Longest pause between two events, in milliseconds.
const MAX_PAUSE: u64 = 400;
/// Longest downtime of a store or process, in milliseconds.
const MAX_DOWNTIME: u64 = 1500;
/// Concurrent uploads.
const UPLOADS: usize = 4;
/// How long a request is retried before the run fails.
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);

/// Runs the selected profiles.
pub(super) fn run(root: &Path, chaos: Chaos) -> Result<ExitCode> {
    let program = match &chaos.program {
        Some(program) => program.canonicalize().with_context(|| program.display().to_string())?,
        None => crate::cargo::build(root, &["--package", "docent", "--quiet"])?,
    };
    let seed = chaos.seed.unwrap_or_else(random_seed);
    let profiles: &[bool] = match chaos.profile {
        Profile::Sqlite => &[false],
        Profile::Servers => &[true],
        Profile::Both => &[false, true],
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut all_passed = true;
    for has_servers in profiles {
        let folder = tempfile::Builder::new().prefix("docent-chaos-").tempdir()?;
        let scale = Scale {
            documents: chaos.documents,
            deletes: chaos.deletes.unwrap_or(chaos.documents / 10),
            retries: chaos.retries.unwrap_or(chaos.documents / 20),
            has_servers: *has_servers,
        };
        let name = if *has_servers { "PostgreSQL, Redis, Qdrant fake" } else { "SQLite, embedded index" };
        println!("== {name}, seed {seed}");
        let result = runtime.block_on(run_profile(&program, folder.path(), seed, scale));
        let problems = match result {
            Ok(outcome) => {
                outcome.print();
                outcome.problems
            }
            Err(error) => vec![format!("{error:#}")],
        };
        for problem in &problems {
            println!("PROBLEM: {problem}");
        }
        all_passed &= problems.is_empty();
        if chaos.keep || !problems.is_empty() {
            println!("logs and data are in {}", folder.keep().display());
        }
    }
    Ok(if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_profile(program: &Path, folder: &Path, seed: u64, scale: Scale) -> Result<Outcome> {
    let began = Instant::now();
    let mut random = Random(seed);
    let Plan { papers, events } = Plan::new(&mut random, scale);
    let mut installation = Installation::start(program, folder, scale.has_servers).await?;
    let known = Known::new(papers.len());
    let papers = Arc::new(papers);
    execute(&mut installation, &papers, &known, events, &mut random).await?;
    wait_for_jobs(&installation).await?;
    age_files(&installation.blobs())?;
    wait_for_sweep(&installation).await?;
    let slots = known.slots();
    let mut outcome = verdict::check(&installation, &papers, &slots).await?;
    installation.stop().await?;
    outcome.problems.extend(installation.doctor()?);
    outcome.seconds = began.elapsed().as_secs();
    Ok(outcome)
}

#[derive(Clone)]
struct Known(Arc<Mutex<Vec<Slot>>>);

impl Known {
    fn new(papers: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![Slot::default(); papers])))
    }

    fn slots(&self) -> Vec<Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Slot>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Executes the events and waits until all requests are answered.
async fn execute(
    installation: &mut Installation,
    papers: &Arc<Vec<Paper>>,
    known: &Known,
    events: Vec<Event>,
    random: &mut Random,
) -> Result<()> {
    let mut requests = JoinSet::new();
    let uploads = Arc::new(Semaphore::new(UPLOADS));
    for event in events {
        tokio::time::sleep(Duration::from_millis(random.below(MAX_PAUSE))).await;
        let (client, known) = (installation.client.clone(), known.clone());
        let downtime = Duration::from_millis(random.below(MAX_DOWNTIME));
        match event {
            Event::Upload(n) => {
                let (papers, uploads) = (Arc::clone(papers), Arc::clone(&uploads));
                requests.spawn(async move {
                    let _permit = uploads.acquire().await?;
                    upload(&client, &known, n, &papers[n].bytes).await
                });
            }
            Event::Delete(n) => {
                requests.spawn(async move { delete(&client, &known, n).await });
            }
            Event::Replace(n) => {
                let papers = Arc::clone(papers);
                requests.spawn(async move { replace(&client, &known, n, &papers[n].next.0).await });
            }
            Event::Retry => {
                requests.spawn(async move { retry(&client, &known).await });
            }
            Event::KillServer => {
                installation.server.kill()?;
                tokio::time::sleep(downtime / 3).await;
                installation.server.start()?;
            }
            Event::KillWorker => {
                if let Some(worker) = &mut installation.worker {
                    worker.kill()?;
                    tokio::time::sleep(downtime / 3).await;
                    worker.start()?;
                }
            }
            Event::Stop(store) => installation.restart(store, downtime).await?,
        }
        while let Some(ended) = requests.try_join_next() {
            ended??;
        }
    }
    while let Some(ended) = requests.join_next().await {
        ended??;
    }
    Ok(())
}

/// Repeats a request until it is answered without a transient failure; returns whether it was repeated.
async fn send_with_retries(client: &Client, request: &Request<'_>) -> Result<(Answer, bool)> {
    let (began, mut is_repeated) = (Instant::now(), false);
    loop {
        let last = match client.send(request).await {
            Ok(answer) if !answer.is_transient() => return Ok((answer, is_repeated)),
            Ok(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
            Err(error) => format!("{error:#}"),
        };
        ensure!(began.elapsed() < RETRY_TIMEOUT, "a request was not answered: {last}");
        is_repeated = true;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn upload(client: &Client, known: &Known, n: usize, bytes: &[u8]) -> Result<()> {
    let name = format!("paper-{n}.pdf");
    let (answer, _) = send_with_retries(client, &Request::File { of: None, name: &name, pdf: bytes }).await?;
    ensure!(answer.status == 202, "an upload was answered with {}", answer.status);
    let id = answer.json()?["id"].as_str().context("an accepted document has no ID")?.to_owned();
    known.change(|slots| slots[n].document = Some(id));
    Ok(())
}

/// Waits until a paper is accepted, and returns the path of its document.
async fn document(known: &Known, n: usize) -> Result<String> {
    let began = Instant::now();
    loop {
        if let Some(id) = known.change(|slots| slots[n].document.clone()) {
            return Ok(format!("/documents/{id}"));
        }
        ensure!(began.elapsed() < RETRY_TIMEOUT, "an upload to be changed was not accepted");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn replace(client: &Client, known: &Known, n: usize, bytes: &[u8]) -> Result<()> {
    let path = document(known, n).await?;
    let name = format!("paper-{n}.pdf");
    let request = Request::File { of: Some(&path), name: &name, pdf: bytes };
    let (answer, _) = send_with_retries(client, &request).await?;
    ensure!(answer.status == 202, "a replacement was answered with {}", answer.status);
    known.change(|slots| slots[n].is_replaced = true);
    Ok(())
}

async fn delete(client: &Client, known: &Known, n: usize) -> Result<()> {
    known.change(|slots| slots[n].deletion = Some(false));
    let path = document(known, n).await?;
    let (answer, is_repeated) = send_with_retries(client, &Request::Delete(&path)).await?;
    match answer.status {
        204 => {}
        // The response to an earlier attempt was lost.
        404 if is_repeated => {}
        status => bail!("a deletion was answered with {status}"),
    }
    // The deletion is visible immediately, whatever is down.
    let (answer, _) = send_with_retries(client, &Request::Get(&path)).await?;
    ensure!(answer.status == 404, "a deleted document was returned: {}", answer.status);
    known.change(|slots| slots[n].deletion = Some(true));
    Ok(())
}

/// Retries a failed document, as soon as there is one.
async fn retry(client: &Client, known: &Known) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < RETRY_TIMEOUT {
        let (answer, _) =
            send_with_retries(client, &Request::Get("/documents?status=failed&limit=1000")).await?;
        let failed = answer.json()?;
        let failed = failed.as_array().context("a list")?.iter().filter_map(|one| one["id"].as_str());
        // The one with the fewest retries.
        let mut candidates = known.change(|slots| {
            let index = |id: &str| slots.iter().position(|slot| slot.document.as_deref() == Some(id));
            let mut found: Vec<_> = failed.filter_map(|id| Some((index(id)?, id.to_owned()))).collect();
            found.retain(|(n, _)| slots[*n].deletion.is_none());
            found.sort_by_key(|(n, _)| slots[*n].retries);
            found
        });
        candidates.truncate(1);
        for (n, id) in candidates {
            let path = format!("/documents/{id}/retry");
            let (answer, _) =
                send_with_retries(client, &Request::Post(&path, &serde_json::Value::Null)).await?;
            match answer.status {
                200..=299 => {
                    known.change(|slots| slots[n].retries += 1);
                    return Ok(());
                }
                // It is not failed any more, or was deleted.
                404 | 409 => {}
                status => bail!("a retry was answered with {status}"),
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("there is no failed document to retry")
}

/// Waits until no jobs are left.
async fn wait_for_jobs(installation: &Installation) -> Result<()> {
    /// Includes the expiry of leases and the backoff between attempts.
    const JOBS_TIMEOUT: Duration = Duration::from_secs(240);
    let began = Instant::now();
    loop {
        let queued = installation.server_metric(r#"docent_jobs{state="queued"}"#).await;
        let leased = installation.server_metric(r#"docent_jobs{state="leased"}"#).await;
        if let (Ok(0.0), Ok(0.0)) = (&queued, &leased) {
            return Ok(());
        }
        ensure!(began.elapsed() < JOBS_TIMEOUT, "jobs are left: {queued:?} queued, {leased:?} leased");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Sets old modification times, so that no file can belong to a running upload.
fn age_files(folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            age_files(&path)?;
        } else {
            std::fs::File::options().write(true).open(&path)?.set_modified(std::time::UNIX_EPOCH)?;
        }
    }
    Ok(())
}

/// Waits until a sweep that starts after this call is complete.
async fn wait_for_sweep(installation: &Installation) -> Result<()> {
    const SWEEP_TIMEOUT: Duration = Duration::from_secs(120);
    let (began, series) = (Instant::now(), r#"docent_sweeps_total{outcome="complete"}"#);
    let before = installation.metric(series).await?;
    // The first sweep to end may have started before.
    while installation.metric(series).await? < before + 2.0 {
        ensure!(began.elapsed() < SWEEP_TIMEOUT, "no sweep completed");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
