//! Background ingestion.

use super::check::within;
use super::declare::{Default, both, text, unset};
use super::section::section;
use super::selector::PassageContext;
use std::net::SocketAddr;
use std::time::Duration;

section! {
    /// Background ingestion.
    Ingestion "Ingestion" {
        /// Documents that one process extracts and splits into chunks at the same time; three times as many more may wait
        /// for embeddings or the vector store. `docent serve --no-jobs` ingests none.
        ingest_concurrency: usize = both(Default::Computed {
            words: "the number of cores",
            text: |context| context.cores.to_string(),
        }), within(1..=1024);
        /// Maximum number of pages of a document; documents with more fail.
        ingest_max_pages: u32 = text("10000"), within(1..=100_000);
        /// Maximum number of chunks of a document; documents with more fail.
        ingest_max_chunks: u32 = text("20000"), within(1..=1_000_000);
        /// Line of context that is embedded and indexed with each passage, but not shown: `none`, or `model` to have it
        /// written by the chat model, about one call per 8 passages. Applies to documents that are ingested from then on;
        /// `docent reindex` applies it to the others.
        passage_context: PassageContext = text("none");
        /// Attempts to ingest a document before temporary faults make it `failed`.
        ingest_attempts: u32 = text("3"), within(1..=100);
        /// Interval of the orphan sweep, which finds and repairs what crashed processes left behind; `0` to disable it.
        /// It runs in one process at a time.
        ingest_sweep_interval: Duration = text("1h");
        /// Address on which `docent worker` serves `/health` and `/metrics`.
        worker_bind_address: Option<SocketAddr> = unset("not served");
    }
}
