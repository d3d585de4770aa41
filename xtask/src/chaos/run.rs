//! One run: what is planned happens, everything settles, and a verdict is given.

use super::{
    Chaos, Profile,
    client::{Answer, Client, Request},
    installation::Installation,
    plan::{Chance, Event, Measure, Paper, Plan},
    verdict::{self, Outcome},
};
use anyhow::{Context, Result, bail, ensure};
use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::{runtime::Builder, sync::Semaphore, task::JoinSet};

/// The longest pause between two events.
const PACE: u64 = 400;
/// The longest time that a store or a process is away, in milliseconds.
const AWAY: u64 = 1500;
/// Uploads at once.
const UPLOADS: usize = 4;
/// How long a request is tried again before that counts as an outage.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs it on the profiles asked for.
pub(super) fn run(root: &Path, chaos: Chaos) -> Result<ExitCode> {
    let program = match &chaos.program {
        Some(program) => program.canonicalize().with_context(|| program.display().to_string())?,
        None => build(root)?,
    };
    let seed = chaos.seed.unwrap_or_else(Chance::seed);
    let profiles: &[bool] = match chaos.profile {
        Profile::Sqlite => &[false],
        Profile::Servers => &[true],
        Profile::Both => &[false, true],
    };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut is_good = true;
    for has_servers in profiles {
        let folder = tempfile::Builder::new().prefix("docent-chaos-").tempdir()?;
        let measure = Measure {
            documents: chaos.documents,
            deletes: chaos.deletes.unwrap_or(chaos.documents / 10),
            retries: chaos.retries.unwrap_or(chaos.documents / 20),
            has_servers: *has_servers,
        };
        let name =
            if *has_servers { "PostgreSQL, Redis, Qdrant's protocol" } else { "SQLite, embedded index" };
        println!("== {name}, seed {seed}");
        let result = runtime.block_on(one(&program, folder.path(), seed, measure));
        let problems = match result {
            Ok(outcome) => {
                outcome.print();
                outcome.problems
            }
            Err(error) => vec![format!("{error:#}")],
        };
        for problem in &problems {
            println!("WRONG: {problem}");
        }
        is_good &= problems.is_empty();
        if chaos.keep || !problems.is_empty() {
            println!("logs and data are in {}", folder.keep().display());
        }
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(root: &Path) -> Result<PathBuf> {
    let arguments =
        ["build", "--quiet", "--package", "docent", "--message-format", "json-render-diagnostics"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout)?;
    let made = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let program = made.filter_map(|message| Some(message["executable"].as_str()?.to_owned())).next_back();
    Ok(program.context("cargo says nothing of a program")?.into())
}

async fn one(program: &Path, folder: &Path, seed: u64, measure: Measure) -> Result<Outcome> {
    let began = Instant::now();
    let mut chance = Chance::seeded(seed);
    let Plan { papers, events } = Plan::new(&mut chance, measure);
    let mut installation = Installation::start(program, folder, measure.has_servers).await?;
    let known = Known::new(papers.len());
    let papers = Arc::new(papers);
    strike(&mut installation, &papers, &known, events, &mut chance).await?;
    settle(&installation).await?;
    age_files(&installation.blobs())?;
    sweep(&installation).await?;
    let slots = known.slots();
    let mut outcome = verdict::look(&installation, &papers, &slots).await?;
    installation.stop().await?;
    outcome.problems.extend(installation.doctor()?);
    outcome.seconds = began.elapsed().as_secs();
    Ok(outcome)
}

/// What the clients know of each paper.
#[derive(Clone, Default)]
pub(super) struct Slot {
    /// Its document, once it was accepted.
    pub(super) document: Option<String>,
    /// Whether its deletion was asked for, and whether that was accepted.
    pub(super) deletion: Option<bool>,
    /// How often a retry of it was accepted.
    pub(super) retries: u32,
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

/// Lets everything happen that is planned, and waits until all requests have been answered.
async fn strike(
    installation: &mut Installation,
    papers: &Arc<Vec<Paper>>,
    known: &Known,
    events: Vec<Event>,
    chance: &mut Chance,
) -> Result<()> {
    let mut requests = JoinSet::new();
    let turns = Arc::new(Semaphore::new(UPLOADS));
    for event in events {
        tokio::time::sleep(Duration::from_millis(chance.below(PACE))).await;
        let (client, known) = (installation.client.clone(), known.clone());
        let away = Duration::from_millis(chance.below(AWAY));
        match event {
            Event::Upload(n) => {
                let (papers, turns) = (Arc::clone(papers), Arc::clone(&turns));
                requests.spawn(async move {
                    let _turn = turns.acquire().await?;
                    upload(&client, &known, n, &papers[n].bytes).await
                });
            }
            Event::Delete(n) => {
                requests.spawn(async move { delete(&client, &known, n).await });
            }
            Event::Retry => {
                requests.spawn(async move { retry(&client, &known).await });
            }
            Event::KillServer => {
                installation.server.kill()?;
                tokio::time::sleep(away / 3).await;
                installation.server.start()?;
            }
            Event::KillWorker => {
                if let Some(worker) = &mut installation.worker {
                    worker.kill()?;
                    tokio::time::sleep(away / 3).await;
                    worker.start()?;
                }
            }
            Event::Stop(store) => installation.restart(store, away).await?,
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

/// Asks again and again until there is an answer that is worth something; says whether an earlier try got none.
async fn ask(client: &Client, request: &Request<'_>) -> Result<(Answer, bool)> {
    let (began, mut is_repeated) = (Instant::now(), false);
    loop {
        let last = match client.send(request).await {
            Ok(answer) if !answer.is_transient() => return Ok((answer, is_repeated)),
            Ok(answer) => String::from_utf8_lossy(&answer.body).into_owned(),
            Err(error) => format!("{error:#}"),
        };
        ensure!(began.elapsed() < PATIENCE, "a request is not answered: {last}");
        is_repeated = true;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn upload(client: &Client, known: &Known, n: usize, bytes: &[u8]) -> Result<()> {
    let name = format!("paper-{n}.pdf");
    let (answer, _) = ask(client, &Request::Upload { name: &name, pdf: bytes }).await?;
    ensure!(answer.status == 202, "an upload was answered with {}", answer.status);
    let id = answer.json()?["id"].as_str().context("an accepted document has an id")?.to_owned();
    known.change(|slots| slots[n].document = Some(id));
    Ok(())
}

async fn delete(client: &Client, known: &Known, n: usize) -> Result<()> {
    known.change(|slots| slots[n].deletion = Some(false));
    let began = Instant::now();
    let id = loop {
        if let Some(id) = known.change(|slots| slots[n].document.clone()) {
            break id;
        }
        ensure!(began.elapsed() < PATIENCE, "an upload that is to be deleted is never accepted");
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let path = format!("/documents/{id}");
    let (answer, is_repeated) = ask(client, &Request::Delete(&path)).await?;
    match answer.status {
        204 => {}
        // The answer to an earlier try got lost.
        404 if is_repeated => {}
        status => bail!("a deletion was answered with {status}"),
    }
    // Gone at once, whatever is away.
    let (answer, _) = ask(client, &Request::Get(&path)).await?;
    ensure!(answer.status == 404, "a deleted document was shown: {}", answer.status);
    known.change(|slots| slots[n].deletion = Some(true));
    Ok(())
}

/// Has one of the failed documents tried again, as soon as there is one.
async fn retry(client: &Client, known: &Known) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let (answer, _) = ask(client, &Request::Get("/documents?status=failed&limit=1000")).await?;
        let failed = answer.json()?;
        let failed = failed.as_array().context("a list")?.iter().filter_map(|one| one["id"].as_str());
        // One that was not tried again yet, if there is any.
        let mut candidates = known.change(|slots| {
            let place = |id: &str| slots.iter().position(|slot| slot.document.as_deref() == Some(id));
            let mut found: Vec<_> = failed.filter_map(|id| Some((place(id)?, id.to_owned()))).collect();
            found.retain(|(n, _)| slots[*n].deletion.is_none());
            found.sort_by_key(|(n, _)| slots[*n].retries);
            found
        });
        candidates.truncate(1);
        for (n, id) in candidates {
            let path = format!("/documents/{id}/retry");
            let (answer, _) = ask(client, &Request::Post(&path, &serde_json::Value::Null)).await?;
            match answer.status {
                200..=299 => {
                    known.change(|slots| slots[n].retries += 1);
                    return Ok(());
                }
                // It is not failed any more, or was deleted meanwhile.
                404 | 409 => {}
                status => bail!("a retry was answered with {status}"),
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("there is no failed document to try again")
}

/// Waits until no job is left.
async fn settle(installation: &Installation) -> Result<()> {
    /// Leases have to run out, and pauses between tries to pass.
    const SETTLED: Duration = Duration::from_secs(240);
    let began = Instant::now();
    loop {
        let queued = installation.own_metric(r#"docent_jobs{state="queued"}"#).await;
        let leased = installation.own_metric(r#"docent_jobs{state="leased"}"#).await;
        if let (Ok(0.0), Ok(0.0)) = (&queued, &leased) {
            return Ok(());
        }
        ensure!(began.elapsed() < SETTLED, "jobs are left: {queued:?} queued, {leased:?} leased");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Makes the files so old that they can be of no upload under way.
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

/// Waits until everything was swept once, from now on.
async fn sweep(installation: &Installation) -> Result<()> {
    const SWEPT: Duration = Duration::from_secs(120);
    let (began, series) = (Instant::now(), r#"docent_sweeps_total{outcome="complete"}"#);
    let before = installation.metric(series).await?;
    // The first one to end may have begun before.
    while installation.metric(series).await? < before + 2.0 {
        ensure!(began.elapsed() < SWEPT, "no process sweeps");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}
