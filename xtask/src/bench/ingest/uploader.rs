//! Uploads documents and waits until they are ingested.

use super::super::wire::{Client, upload};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of polls per document.
const MAX_POLLS: u32 = 30_000;

/// A file to upload.
pub(in super::super) struct File {
    pub(in super::super) name: String,
    pub(in super::super) bytes: Vec<u8>,
}

/// Totals of finished documents.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Totals {
    pub(in super::super) ingested: u64,
    pub(in super::super) pages: u64,
    pub(in super::super) chunks: u64,
}

/// A connection to the service, and the documents uploaded over it.
pub(in super::super) struct Uploader {
    client: Client,
    token: String,
    pending: VecDeque<String>,
    totals: Totals,
}

impl Uploader {
    pub(in super::super) async fn connect(address: SocketAddr, token: String) -> Result<Self> {
        let client = Client::connect(address).await?;
        Ok(Self { client, token, pending: VecDeque::new(), totals: Totals::default() })
    }

    /// Uploads a file; returns the ID of the document.
    pub(in super::super) async fn upload(&mut self, file: &File) -> Result<String> {
        let size = self.client.exchange(&upload(&file.name, &file.bytes, &self.token)).await?;
        let document: Value = serde_json::from_slice(&self.client.received()[size.head..])?;
        let id = document["id"].as_str().context("a response without ID")?.to_owned();
        self.pending.push_back(id.clone());
        Ok(id)
    }

    /// Number of documents not known to be finished.
    pub(in super::super) fn outstanding(&self) -> usize {
        self.pending.len()
    }

    pub(in super::super) fn totals(&self) -> Totals {
        self.totals
    }

    /// Waits until the oldest outstanding document is finished. Documents finish roughly in order.
    pub(in super::super) async fn wait_for_next(&mut self) -> Result<()> {
        let Some(id) = self.pending.pop_front() else { return Ok(()) };
        for _ in 0..MAX_POLLS {
            let report = self.get(&format!("/documents/{id}/report")).await?;
            if report["status"] == "pending" {
                tokio::time::sleep(POLL_INTERVAL).await;
                continue;
            }
            self.totals.ingested += u64::from(report["status"] == "ingested");
            self.totals.pages += report["coverage"]["pages"].as_u64().unwrap_or_default();
            self.totals.chunks += report["coverage"]["chunks"].as_u64().unwrap_or_default();
            return Ok(());
        }
        anyhow::bail!("document {id} is still pending")
    }

    async fn get(&mut self, path: &str) -> Result<Value> {
        self.client.json("GET", path, Some(&self.token), "").await
    }

    /// Deletes a document and waits until its removal job has ended.
    pub(in super::super) async fn delete(&mut self, id: &str) -> Result<()> {
        let before = self.metric(DELETED).await?;
        self.client.text("DELETE", &format!("/documents/{id}"), Some(&self.token)).await?;
        for _ in 0..MAX_POLLS {
            if self.metric(DELETED).await? > before {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        anyhow::bail!("document {id} was not removed in time")
    }

    async fn metric(&mut self, name: &str) -> Result<f64> {
        let metrics = self.client.text("GET", "/metrics", None).await?;
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        ensure!(metrics.contains("docent_"), "the service has no metrics");
        Ok(value.unwrap_or_default())
    }

    /// Prints the total time of each ingestion stage.
    pub(in super::super) async fn print_stages(&mut self) -> Result<()> {
        print!("  time of stages, s:");
        for stage in ["extract", "chunk", "embed", "index"] {
            let name = format!("docent_ingestion_stage_duration_seconds_sum{{stage=\"{stage}\"}}");
            print!(" {stage} {:.1}", self.metric(&name).await?);
        }
        println!();
        Ok(())
    }
}

const DELETED: &str = "docent_jobs_ended_total{outcome=\"deleted\",code=\"\"}";
