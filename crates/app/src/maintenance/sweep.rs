//! Sweeps: repairs what interrupted jobs have left behind, while the service runs.
//!
//! A sweep repairs the diagnostic findings that need no decision by an operator. The others are left to `docent doctor`.

use super::diagnostics::{CheckListener, Finding, Repair, SkippedCheck, check_leftovers, repair};
use crate::App;
use async_trait::async_trait;
use docent_domain::fault::Component;
use docent_domain::metrics::SweepFinding;

/// The result of a sweep.
#[derive(Debug, Default)]
pub struct SweepReport {
    /// Pending documents whose missing job was queued.
    pub not_queued: u64,
    /// Deleted documents whose missing job was queued.
    pub not_removed: u64,
    /// Documents that were queued again because chunks were missing.
    pub wrong_chunks: u64,
    /// Deleted or failed documents whose chunks were removed.
    pub orphan_chunks: u64,
    /// Files without a document that were deleted.
    pub orphan_files: u64,
    /// Findings whose repair failed.
    pub failed: u64,
    /// Checks that failed.
    pub skipped: Vec<SkippedCheck>,
}

impl SweepReport {
    /// Whether all checks succeeded and all findings were repaired.
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.skipped.is_empty()
    }

    /// The number of repairs.
    pub fn repaired(&self) -> u64 {
        self.not_queued + self.not_removed + self.wrong_chunks + self.orphan_chunks + self.orphan_files
    }
}

/// Sweeps once, page by page, and repairs each finding immediately. Safe to run concurrently and to interrupt.
pub async fn sweep(app: &App) -> SweepReport {
    let started = app.now();
    let mut sweeper = Sweeper { app, report: SweepReport::default() };
    let skipped = check_leftovers(app, &mut sweeper).await;
    for SkippedCheck { check, fault } in &skipped {
        app.note(fault);
        tracing::warn!(check, fault = %fault.report(), "a check of a sweep failed");
    }
    let report = SweepReport { skipped, ..sweeper.report };
    app.recorder.swept(report.is_complete(), app.since(started));
    log(&report);
    report
}

fn log(report: &SweepReport) {
    let SweepReport { not_queued, not_removed, wrong_chunks, orphan_chunks, orphan_files, failed, skipped } =
        report;
    let skipped = skipped.len();
    if report.repaired() == 0 && report.is_complete() {
        tracing::debug!("sweep finished without findings");
    } else {
        tracing::info!(
            not_queued,
            not_removed,
            wrong_chunks,
            orphan_chunks,
            orphan_files,
            failed,
            skipped,
            "sweep finished"
        );
    }
}

struct Sweeper<'a> {
    app: &'a App,
    report: SweepReport,
}

impl Sweeper<'_> {
    /// The kind and counter of a finding that a sweep repairs; none for one that needs an operator.
    fn repairable(&mut self, finding: &Finding) -> Option<(SweepFinding, &mut u64)> {
        match finding {
            Finding::NotQueued(_) => Some((SweepFinding::NotQueued, &mut self.report.not_queued)),
            Finding::NotRemoved(_) => Some((SweepFinding::NotRemoved, &mut self.report.not_removed)),
            Finding::WrongChunks { .. } => Some((SweepFinding::WrongChunks, &mut self.report.wrong_chunks)),
            Finding::OrphanChunks { .. } => {
                Some((SweepFinding::OrphanChunks, &mut self.report.orphan_chunks))
            }
            Finding::OrphanFile { .. } => Some((SweepFinding::OrphanFile, &mut self.report.orphan_files)),
            Finding::ComponentDown(..)
            | Finding::Schema(_)
            | Finding::DimensionMismatch { .. }
            | Finding::ModelMismatch { .. }
            | Finding::UnfinishedBuild(_)
            | Finding::RetiredIndex(_)
            | Finding::ExpiredLease { .. }
            | Finding::MostlyUnknown { .. }
            | Finding::ForeignFile(_)
            | Finding::FileMissing(_)
            | Finding::FileSize { .. } => None,
        }
    }
}

#[async_trait]
impl CheckListener for Sweeper<'_> {
    fn healthy(&mut self, _component: Component, _note: &str) {}

    fn in_use(&mut self, _component: Component) {}

    async fn found(&mut self, finding: Finding) {
        let app = self.app;
        if matches!(finding, Finding::MostlyUnknown { .. }) {
            tracing::error!(
                code = finding.code(),
                id = finding.id(),
                "a sweep deletes nothing: {}",
                finding.description()
            );
        }
        let Some((kind, count)) = self.repairable(&finding) else { return };
        let (code, id) = (finding.code(), finding.id());
        match repair(app, &finding).await {
            Ok(Repair::Done(action)) => {
                *count += 1;
                app.recorder.repaired(kind);
                tracing::info!(code, id, action, "a sweep repaired a finding");
            }
            Ok(Repair::Resolved | Repair::NotSupported) => {}
            Err(error) => {
                self.report.failed += 1;
                if let crate::Error::Fault(fault) = &error {
                    app.note(fault);
                }
                tracing::warn!(code, id, error = %docent_domain::fault::report(&error), "a sweep could not repair a finding");
            }
        }
    }
}
