//! Background ingestion.

use super::check::within;
use super::declare::{Default, both, text, unset};
use super::section::section;
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
        /// Interval of the orphan sweep, which finds and repairs what crashed processes left behind; `0` to disable it.
        /// It runs in one process at a time.
        ingest_sweep_interval: Duration = text("1h");
        /// Address on which `docent worker` serves `/health` and `/metrics`.
        worker_bind_address: Option<SocketAddr> = unset("not served");
    }
}
