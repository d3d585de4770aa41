//! Diagnostics: checks that all components work and that their data is consistent. Used by `docent doctor` and sweeps.
//!
//! Checks run page by page while the service is running. Each finding is checked again before it is reported, because
//! the service may have been changing the data, and once more before it is repaired.

mod components;
mod consistency;
mod finding;
mod repair;

pub(crate) use components::check_one;
pub(crate) use consistency::version_of;
use docent_domain::fault::{Component, Fault};
pub use finding::Finding;
pub(crate) use repair::ingest_again_if_ingested;
pub use repair::{Repair, repair};

use super::progress::{NoProgress, Progress};
use crate::App;
use async_trait::async_trait;

/// Receives the results of checks one by one.
#[async_trait]
pub trait CheckListener: Send {
    /// The component works. `note` has details, such as its model.
    fn healthy(&mut self, component: Component, note: &str);

    /// The component is open in another process, as expected while the service runs.
    fn in_use(&mut self, component: Component);

    /// A problem was found.
    async fn found(&mut self, finding: Finding);
}

/// A check that failed.
#[derive(Debug)]
pub struct SkippedCheck {
    /// What was to be checked.
    pub check: &'static str,
    /// Why it failed.
    pub fault: Fault,
}

/// Checks the installation. Returns the checks that failed.
pub async fn check(
    app: &App,
    progress: &dyn Progress,
    listener: &mut dyn CheckListener,
) -> Vec<SkippedCheck> {
    if !components::check(app, listener).await {
        let fault = Fault::new(
            Component::Database,
            docent_domain::fault::FaultKind::Unavailable,
            "the database cannot be read",
        );
        return vec![SkippedCheck { check: "records, chunks and files", fault }];
    }
    let mut skipped = Vec::new();
    let out = &mut skipped;
    note(out, "generations of the index", consistency::generations(app, listener).await);
    note(out, JOBS, consistency::jobs(app, listener).await);
    note(out, RECORDS, consistency::records_of_chunks(app, progress, listener).await);
    note(out, CHUNKS, consistency::chunks(app, progress, listener).await);
    note(out, "documents without files", consistency::records_of_files(app, progress, listener).await);
    note(out, FILES, consistency::files(app, progress, listener).await);
    skipped
}

/// Runs the checks whose findings a running service can repair: data that interrupted jobs have left behind. Returns
/// the checks that failed.
pub(crate) async fn check_leftovers(app: &App, listener: &mut dyn CheckListener) -> Vec<SkippedCheck> {
    let mut skipped = Vec::new();
    let out = &mut skipped;
    note(out, JOBS, consistency::jobs(app, listener).await);
    note(out, RECORDS, consistency::records_of_chunks(app, &NoProgress, listener).await);
    note(out, CHUNKS, consistency::chunks(app, &NoProgress, listener).await);
    note(out, FILES, consistency::files(app, &NoProgress, listener).await);
    skipped
}

const JOBS: &str = "jobs";
const RECORDS: &str = "documents without chunks";
const CHUNKS: &str = "chunks without documents";
const FILES: &str = "files without documents";

fn note(skipped: &mut Vec<SkippedCheck>, check: &'static str, result: Result<(), Fault>) {
    if let Err(fault) = result {
        skipped.push(SkippedCheck { check, fault });
    }
}
