//! Waits until uploaded documents are ingested or failed.

use super::outcome::Outcome;
use super::{Run, Uploaded};
use crate::client::retry::{Decision, RetryPolicy};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::sleep;

/// Documents polled per round; those uploaded first finish first.
const WINDOW: usize = 6;
/// Shortest pause between rounds, after one in which a document finished.
const MIN_PAUSE: Duration = Duration::from_millis(200);
/// Longest pause; well within the rate limit.
const MAX_PAUSE: Duration = Duration::from_secs(3);
/// Attempts to read a report; with the pauses in between, some minutes.
const MAX_ATTEMPTS: u32 = 12;

/// Polls each document until its ingestion has ended, and prints the outcome.
pub(super) async fn wait_for_ingestion(run: &Run<'_>, mut uploaded: UnboundedReceiver<Uploaded>) {
    let mut waiting: Vec<Uploaded> = Vec::new();
    let mut pause = MIN_PAUSE;
    loop {
        if waiting.is_empty() {
            match uploaded.recv().await {
                Some(next) => waiting.push(next),
                None => return,
            }
        }
        while let Ok(next) = uploaded.try_recv() {
            waiting.push(next);
        }
        let before = waiting.len();
        let mut at = 0;
        while at < WINDOW.min(waiting.len()) {
            if has_ended(run, &waiting[at]).await {
                waiting.remove(at);
            } else {
                at += 1;
            }
        }
        pause = if waiting.len() < before { MIN_PAUSE } else { (pause * 3 / 2).min(MAX_PAUSE) };
        if !waiting.is_empty() {
            sleep(pause).await;
        }
    }
}

/// Whether the ingestion of a document has ended; prints its outcome in that case.
async fn has_ended(run: &Run<'_>, file: &Uploaded) -> bool {
    let document = &file.document;
    let report = read_report(run, document["id"].as_str().unwrap_or_default()).await;
    if report.as_ref().is_ok_and(|report| report["status"] == "pending") {
        return false;
    }
    let waiting = {
        let mut counts = run.counts();
        counts.waiting.retain(|id| *id != document["id"]);
        counts.waiting.len()
    };
    run.display.set_ingesting(waiting);
    match &report {
        Ok(report) => run.report(&file.path, &Outcome::Finished { document, report }),
        Err(error) => {
            let why = format!("its status is unknown ({error:#})");
            run.report(&file.path, &Outcome::Uploaded { document, why: Some(&why) });
        }
    }
    true
}

async fn read_report(run: &Run<'_>, id: &str) -> anyhow::Result<Value> {
    let mut retries = RetryPolicy::new(MAX_ATTEMPTS);
    loop {
        let error = match run.client.get(&["documents", id, "report"]).await {
            Ok(report) => return Ok(report),
            Err(error) => error,
        };
        match retries.after_read(&error) {
            Decision::Wait(wait) => {
                run.display.print_message(&format!("retrying in {} s ({error:#})", wait.as_secs()));
                sleep(wait).await;
            }
            Decision::Refresh | Decision::Fail => return Err(error),
        }
    }
}
