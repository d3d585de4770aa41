//! Background ingestion.

use super::{
    declare::{Default, both, section, text, unset},
    value::within,
};
use std::{net::SocketAddr, time::Duration};

section! {
    /// How documents are ingested.
    Ingestion "Ingestion" {
        /// Documents that one process reads and cuts into chunks at once; as many more may wait for embeddings or
        /// for the vector store. `docent serve --no-jobs` ingests none.
        ingest_concurrency: usize = both(Default::Computed {
            words: "the number of cores",
            text: |context| context.cores.to_string(),
        }), within(1..=1024);
        /// The most pages of a document; one with more fails.
        ingest_max_pages: u32 = text("10000"), within(1..=100_000);
        /// The most characters of a document's text; one with more fails.
        ingest_max_characters: u64 = text("20000000"), within(1..=64_000_000);
        /// The most chunks that a document may fall into; one with more fails.
        ingest_max_chunks: u32 = text("20000"), within(1..=1_000_000);
        /// How often an ingestion is tried before transient faults make it `failed`.
        ingest_attempts: u32 = text("3"), within(1..=100);
        /// The time from one sweep to the next, `0` for never: one process at a time looks for what others that died
        /// have left behind, and mends it.
        ingest_sweep_interval: Duration = text("1h");
        /// Where `docent worker` serves `/health` and `/metrics`.
        worker_bind_address: Option<SocketAddr> = unset("it serves nothing");
    }
}
