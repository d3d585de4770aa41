//! Uploads and their ingestion.

use super::check::within;
use super::declare::{Default, both, text, variable};
use super::problem::Warning;
use super::section::section;
use super::unit::{ByteSize, check_not_zero};
use super::value::Value;
use docent_domain::file_type::{FileType, FileTypes};
use docent_extraction::ExtractionLimits;
use std::time::Duration;

section! {
    /// Uploads and their ingestion.
    Ingestion "Accept and ingest documents" {
        /// Types of files that can be uploaded. With PDF alone, an upload must be sent as `application/pdf`; otherwise its content decides.
        upload_types: FileTypes = text("pdf");
        /// Maximum size of an upload; larger ones get 413. Files over 256 MiB get it in any case, because they cannot be read.
        max_upload_bytes: ByteSize = text("50MiB"), check_not_zero;
        /// Documents that one process extracts and splits into chunks at the same time; three times as many more may wait
        /// for embeddings or the vector store. `docent serve --no-jobs` ingests none.
        ingest_concurrency: usize = both(Default::Computed {
            words: "the number of cores",
            text: |context| context.cores.to_string(),
        }), within(1..=1024);
        /// Interval of the orphan sweep, which finds and repairs what crashed processes left behind; `0` to disable it.
        /// It runs in one process at a time.
        ingest_sweep_interval: Duration = text("1h");
    }
}

/// Returns a warning if larger uploads are permitted than can be read.
pub(super) fn size_warning(ingestion: &Ingestion) -> Option<Warning> {
    let readable = ByteSize(ExtractionLimits::default().file_bytes);
    (ingestion.max_upload_bytes > readable).then(|| Warning {
        variable: variable("max_upload_bytes"),
        wrong: format!(
            "is more than files that can be read, so that uploads over {} get 413",
            readable.show()
        ),
        advice: format!("set it to at most {}", readable.show()),
    })
}

impl Value for FileTypes {
    const KIND: &'static str = "list";

    fn accepted() -> String {
        let names: Vec<&str> = FileType::ALL.iter().map(|of| of.as_str()).collect();
        format!("all, or names separated by commas: {}", names.join(", "))
    }

    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|name| format!("names an unknown type `{name}`"))
    }

    fn show(&self) -> String {
        if *self == Self::all() {
            return "all".to_owned();
        }
        self.iter().map(FileType::as_str).collect::<Vec<_>>().join(",")
    }
}
