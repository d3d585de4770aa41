//! Uploads documents and follows them to their end.

use super::super::wire::{Client, upload};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::{collections::VecDeque, net::SocketAddr, time::Duration};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A document that is pending for longer is lost.
const PATIENCE: u32 = 30_000;

/// A file to upload.
pub(in super::super) struct Pdf {
    pub(in super::super) name: String,
    pub(in super::super) bytes: Vec<u8>,
}

/// What has come to its end.
#[derive(Clone, Copy, Default)]
pub(in super::super) struct Done {
    pub(in super::super) ingested: u64,
    pub(in super::super) pages: u64,
    pub(in super::super) chunks: u64,
}

/// One connection to the service, and the documents that it has uploaded.
pub(in super::super) struct Follower {
    client: Client,
    token: String,
    pending: VecDeque<String>,
    done: Done,
}

impl Follower {
    pub(in super::super) async fn connect(address: SocketAddr, token: String) -> Result<Self> {
        let client = Client::connect(address).await?;
        Ok(Self { client, token, pending: VecDeque::new(), done: Done::default() })
    }

    /// Uploads a file; gives its document's id.
    pub(in super::super) async fn upload(&mut self, pdf: &Pdf) -> Result<String> {
        let size = self.client.exchange(&upload(&pdf.name, &pdf.bytes, &self.token)).await?;
        let document: Value = serde_json::from_slice(&self.client.read()[size.head..])?;
        let id = document["id"].as_str().context("an id")?.to_owned();
        self.pending.push_back(id.clone());
        Ok(id)
    }

    /// Documents that are still pending, as far as it has looked.
    pub(in super::super) fn outstanding(&self) -> usize {
        self.pending.len()
    }

    pub(in super::super) fn done(&self) -> Done {
        self.done
    }

    /// Waits until a document has come to its end, and takes it into account. They end about in their order.
    pub(in super::super) async fn settle(&mut self) -> Result<()> {
        let Some(id) = self.pending.pop_front() else { return Ok(()) };
        for _ in 0..PATIENCE {
            let report = self.get(&format!("/documents/{id}/report")).await?;
            if report["status"] == "pending" {
                tokio::time::sleep(LOOK_EVERY).await;
                continue;
            }
            self.done.ingested += u64::from(report["status"] == "ingested");
            self.done.pages += report["coverage"]["pages"].as_u64().unwrap_or_default();
            self.done.chunks += report["coverage"]["chunks"].as_u64().unwrap_or_default();
            return Ok(());
        }
        anyhow::bail!("document {id} stays pending")
    }

    async fn get(&mut self, path: &str) -> Result<Value> {
        self.client.json("GET", path, Some(&self.token), "").await
    }

    /// Deletes a document; returns when the job that removes it has ended.
    pub(in super::super) async fn delete(&mut self, id: &str) -> Result<()> {
        let before = self.metric(DELETED).await?;
        self.client.text("DELETE", &format!("/documents/{id}"), Some(&self.token)).await?;
        for _ in 0..PATIENCE {
            if self.metric(DELETED).await? > before {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        anyhow::bail!("document {id} is not removed")
    }

    async fn metric(&mut self, name: &str) -> Result<f64> {
        let metrics = self.client.text("GET", "/metrics", None).await?;
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        ensure!(metrics.contains("docent_"), "the service counts nothing");
        Ok(value.unwrap_or_default())
    }

    /// Prints how long the stages of all ingestions took.
    pub(in super::super) async fn print_stages(&mut self) -> Result<()> {
        print!("  waited for by the jobs, s:");
        for stage in ["extract", "chunk", "embed", "index"] {
            let name = format!("docent_ingestion_stage_duration_seconds_sum{{stage=\"{stage}\"}}");
            print!(" {stage} {:.1}", self.metric(&name).await?);
        }
        println!();
        Ok(())
    }
}

const DELETED: &str = "docent_jobs_ended_total{outcome=\"deleted\",code=\"\"}";
