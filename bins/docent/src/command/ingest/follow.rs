//! Waiting for ingestions to end.

use super::{
    Accepted, Run,
    outcome::Outcome,
    patience::{Next, Patience},
};
use serde_json::Value;
use std::time::Duration;
use tokio::{sync::mpsc::UnboundedReceiver, time::sleep};

/// How many documents are asked about in one round: those that were taken first are done first.
const WINDOW: usize = 6;
/// The shortest pause between rounds, after one in which something ended.
const SHORTEST: Duration = Duration::from_millis(200);
/// The longest, well within the rate that services allow.
const LONGEST: Duration = Duration::from_secs(3);
/// How often in a row a question may fail: with the waits in between, for some minutes.
const TRIES: u32 = 12;

/// Follows each document until its ingestion is over, and says what came of it.
pub(super) async fn follow(run: &Run<'_>, mut accepted: UnboundedReceiver<Accepted>) {
    let mut waiting: Vec<Accepted> = Vec::new();
    let mut round = SHORTEST;
    loop {
        if waiting.is_empty() {
            match accepted.recv().await {
                Some(next) => waiting.push(next),
                None => return,
            }
        }
        while let Ok(next) = accepted.try_recv() {
            waiting.push(next);
        }
        let before = waiting.len();
        let mut at = 0;
        while at < WINDOW.min(waiting.len()) {
            match ask(run, &waiting[at]).await {
                State::Pending => at += 1,
                State::Over => drop(waiting.remove(at)),
            }
        }
        round = if waiting.len() < before { SHORTEST } else { (round * 3 / 2).min(LONGEST) };
        if !waiting.is_empty() {
            sleep(round).await;
        }
    }
}

/// Whether a document is to be asked about again.
enum State {
    Pending,
    Over,
}

/// Asks what became of a document, and says so when that is known.
async fn ask(run: &Run<'_>, file: &Accepted) -> State {
    let document = &file.document;
    let report = report(run, document["id"].as_str().unwrap_or_default()).await;
    if report.as_ref().is_ok_and(|report| report["status"] == "pending") {
        return State::Pending;
    }
    let waiting = {
        let mut tally = run.tally();
        tally.waiting.retain(|id| *id != document["id"]);
        tally.waiting.len()
    };
    run.shown.ingesting(waiting);
    match &report {
        Ok(report) => run.tell(&file.path, &Outcome::Settled { document, report }),
        Err(error) => {
            let why = format!("what became of it is not known ({error:#})");
            run.tell(&file.path, &Outcome::Accepted { document, why: Some(&why) });
        }
    }
    State::Over
}

async fn report(run: &Run<'_>, id: &str) -> anyhow::Result<Value> {
    let mut patience = Patience::new(TRIES);
    loop {
        let error = match run.remote.get(&["documents", id, "report"]).await {
            Ok(report) => return Ok(report),
            Err(error) => error,
        };
        match patience.after_question(&error) {
            Next::Wait(wait) => {
                run.shown.say(&format!("asking again in {} s ({error:#})", wait.as_secs()));
                sleep(wait).await;
            }
            Next::Renew | Next::GiveUp => return Err(error),
        }
    }
}
