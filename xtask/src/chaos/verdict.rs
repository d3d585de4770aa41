//! Checks the state of all documents after a run.

use super::installation::Installation;
use super::plan::{Paper, Store};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What the clients know about a paper.
#[derive(Clone, Default)]
pub(super) struct Slot {
    /// ID of its document, once the upload was accepted.
    pub(super) document: Option<String>,
    /// `Some` if its deletion was requested; `true` once it was accepted.
    pub(super) deletion: Option<bool>,
    /// Whether the replacement of its file was accepted.
    pub(super) is_replaced: bool,
    /// Number of accepted retries.
    pub(super) retries: u32,
}

/// Statistics and problems of a run.
#[derive(Default)]
pub(super) struct Outcome {
    rows: Vec<(String, u64)>,
    pub(super) problems: Vec<String>,
    pub(super) seconds: u64,
}

impl Outcome {
    pub(super) fn print(&self) {
        let seconds = [("seconds".to_owned(), self.seconds)];
        for (name, number) in self.rows.iter().chain(&seconds) {
            println!("{name:<44}{number:>8}");
        }
    }
}

/// Checks everything through the API, once all jobs are done.
pub(super) async fn check(installation: &Installation, papers: &[Paper], slots: &[Slot]) -> Result<Outcome> {
    let documents = documents(installation).await?;
    let mut outcome = Outcome::default();
    check_states(&mut outcome, papers, slots, &documents);
    let chunks = check_chunks(installation, &mut outcome, &documents).await?;
    check_searches(installation, &mut outcome, papers, slots, &documents).await?;
    let count = |status: &str| documents.values().filter(|state| *state == status).count() as u64;
    let accepted: BTreeSet<&String> = slots.iter().filter_map(|slot| slot.document.as_ref()).collect();
    let unanswered = documents.keys().filter(|id| !accepted.contains(id)).count() as u64;
    let runs = job_runs(installation)?;
    let mut rows = vec![
        ("uploads accepted".to_owned(), accepted.len() as u64),
        ("uploads with a lost response".to_owned(), unanswered),
        ("kills of the server".to_owned(), installation.server.kills.into()),
    ];
    if let Some(worker) = &installation.worker {
        rows.push(("kills of the worker".to_owned(), worker.kills.into()));
    }
    for (store, restarts) in &installation.restarts {
        let name = match store {
            Store::Postgres => "PostgreSQL",
            Store::Redis => "Redis",
            Store::Qdrant => "the vector store",
        };
        rows.push((format!("restarts of {name}"), (*restarts).into()));
    }
    rows.extend([
        ("ingested".to_owned(), count("ingested")),
        ("failed".to_owned(), count("failed")),
        ("deleted".to_owned(), slots.iter().filter(|slot| slot.deletion == Some(true)).count() as u64),
        ("replaced".to_owned(), slots.iter().filter(|slot| slot.is_replaced).count() as u64),
        ("retried".to_owned(), slots.iter().map(|slot| u64::from(slot.retries)).sum()),
        ("chunks".to_owned(), chunks),
        ("jobs run".to_owned(), runs.len() as u64),
        ("jobs run more than once".to_owned(), runs.values().filter(|times| **times > 1).count() as u64),
    ]);
    for leftover in ["orphan_chunks", "orphan_file", "not_queued", "not_removed"] {
        let series = format!(r#"docent_sweep_mended_total{{leftover="{leftover}"}}"#);
        rows.push((
            format!("repaired by the last sweeps: {leftover}"),
            installation.metric(&series).await? as u64,
        ));
    }
    outcome.rows = rows;
    Ok(outcome)
}

/// Statuses of all documents by ID.
async fn documents(installation: &Installation) -> Result<BTreeMap<String, String>> {
    let answer = installation.client.get("/documents").await?;
    ensure!(answer.status == 200, "the list of documents: {}", answer.status);
    let text = |one: &Value, name: &str| one[name].as_str().map(str::to_owned);
    let documents = answer.json()?;
    let documents = documents.as_array().context("a list")?.iter();
    documents
        .map(|one| text(one, "id").zip(text(one, "status")).context("a document without ID or status"))
        .collect()
}

/// Checks that every accepted upload is ingested, failed or deleted.
fn check_states(
    outcome: &mut Outcome,
    papers: &[Paper],
    slots: &[Slot],
    documents: &BTreeMap<String, String>,
) {
    let mut report = |problem: String| outcome.problems.push(problem);
    for (id, state) in documents {
        if state != "ingested" && state != "failed" {
            report(format!("document {id} is still {state}"));
        }
    }
    for (n, (paper, slot)) in papers.iter().zip(slots).enumerate() {
        let Some(id) = &slot.document else {
            report(format!("paper {n} was never accepted"));
            continue;
        };
        match (documents.get(id).map(String::as_str), slot.deletion) {
            (Some(_), Some(true)) => report(format!("document {id} was deleted but exists")),
            (None, None | Some(false)) => report(format!("document {id} was accepted but is lost")),
            (Some("ingested"), None) if paper.word.is_none() => {
                report(format!("document {id} is ingested, although its file is invalid"));
            }
            _ => {}
        }
    }
}

/// Compares the reports with the vector store, if it can be read; otherwise `docent doctor` compares them.
async fn check_chunks(
    installation: &Installation,
    outcome: &mut Outcome,
    documents: &BTreeMap<String, String>,
) -> Result<u64> {
    let mut reported = BTreeMap::new();
    for (id, _) in documents.iter().filter(|(_, state)| *state == "ingested") {
        let report = installation.client.get(&format!("/documents/{id}/report")).await?.json()?;
        let chunks = report["coverage"]["chunks"].as_u64().context("an ingested document has no chunks")?;
        reported.insert(id.clone(), chunks);
    }
    if let Some(stored) = installation.chunks() {
        for id in reported.keys().chain(stored.keys()).collect::<BTreeSet<_>>() {
            let (reported, stored) = (reported.get(id).unwrap_or(&0), stored.get(id).unwrap_or(&0));
            if reported != stored {
                let state = documents.get(id).map_or("unknown", String::as_str);
                let problem =
                    format!("document {id} ({state}) should have {reported} chunks and has {stored}");
                outcome.problems.push(problem);
            }
        }
    }
    Ok(reported.values().sum())
}

/// Checks that exactly the ingested documents are found by the words of their versions, and by no word of another version.
async fn check_searches(
    installation: &Installation,
    outcome: &mut Outcome,
    papers: &[Paper],
    slots: &[Slot],
    documents: &BTreeMap<String, String>,
) -> Result<()> {
    for (paper, slot) in papers.iter().zip(slots) {
        let (Some(word), Some(id)) = (&paper.word, &slot.document) else { continue };
        let is_ingested = documents.get(id).is_some_and(|state| state == "ingested");
        let is_next = slot.is_replaced && is_ingested && !has_replacement(installation, id).await?;
        let next = slot.is_replaced.then_some((&paper.next.1, is_next));
        for (word, is_current) in [Some((word, !is_next)), next].into_iter().flatten() {
            let is_found = is_found(installation, word, id).await?;
            if is_found != (is_ingested && is_current) {
                let state = documents.get(id).map_or("deleted", String::as_str);
                let found = if is_found { "found" } else { "not found" };
                let of = if is_current { "its current" } else { "another" };
                outcome
                    .problems
                    .push(format!("document {id} is {state} and {found} by the word of {of} version"));
            }
        }
    }
    Ok(())
}

/// Whether the replacement of a document's file has failed, so that its earlier version is searched.
async fn has_replacement(installation: &Installation, id: &str) -> Result<bool> {
    let report = installation.client.get(&format!("/documents/{id}/report")).await?.json()?;
    Ok(!report["replacement"].is_null())
}

/// Whether a document is found by a word: in a search over all documents or, since searches omit copies, in a search over
/// this document.
async fn is_found(installation: &Installation, word: &str, id: &str) -> Result<bool> {
    for query in [json!({ "query": word, "limit": 50 }), json!({ "query": word, "document_ids": [id] })] {
        let answer = installation.client.post("/search", &query).await?;
        ensure!(answer.status == 200, "a search was answered with {}", answer.status);
        let answer: Value = serde_json::from_slice(&answer.body)?;
        let results = answer["results"].as_array().context("results")?;
        if results.iter().any(|result| result["document_id"] == id) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Counts how often each job was started, from the logs of all processes.
fn job_runs(installation: &Installation) -> Result<HashMap<String, u32>> {
    let mut runs = HashMap::new();
    for process in [Some(&installation.server), installation.worker.as_ref()].into_iter().flatten() {
        let log = std::fs::read(&process.log)?;
        // A kill may have truncated a line.
        for line in String::from_utf8_lossy(&log).lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            if line["message"] == "job started"
                && let Some(job) = line["span"]["job"].as_str()
            {
                *runs.entry(job.to_owned()).or_insert(0) += 1;
            }
        }
    }
    // Otherwise the log messages were renamed.
    ensure!(!runs.is_empty(), "the logs name no started job");
    Ok(runs)
}
