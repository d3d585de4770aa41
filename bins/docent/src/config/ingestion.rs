//! Background ingestion.

use super::{
    declare::{Default, both, section, text},
    value::within,
};

section! {
    /// How documents are ingested.
    Ingestion "Ingestion" {
        /// Documents that are ingested at once.
        ingest_concurrency: usize = both(Default::Computed {
            words: "the number of cores",
            text: |context| context.cores.to_string(),
        }), within(1..=1024);
        /// How often an ingestion is tried before transient faults make it `failed`.
        ingest_attempts: u32 = text("3"), within(1..=100);
    }
}
