//! Background ingestion.

use super::{
    declare::{Default, both, section, text, unset},
    value::within,
};
use std::net::SocketAddr;

section! {
    /// How documents are ingested.
    Ingestion "Ingestion" {
        /// Documents that one process ingests at once. With 0 `docent serve` ingests none and leaves them to
        /// `docent worker`.
        ingest_concurrency: usize = both(Default::Computed {
            words: "the number of cores",
            text: |context| context.cores.to_string(),
        }), within(0..=1024);
        /// How often an ingestion is tried before transient faults make it `failed`.
        ingest_attempts: u32 = text("3"), within(1..=100);
        /// Where `docent worker` serves `/health` and `/metrics`.
        worker_bind_address: Option<SocketAddr> = unset("it serves nothing");
    }
}
