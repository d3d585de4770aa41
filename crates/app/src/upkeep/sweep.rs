//! Sweeping up what runners have left behind that died, were late or could not reach a store, beside a running
//! service.
//!
//! It is the part of the doctor's work that needs nobody's judgement. What only an operator can decide, such as
//! what to do about an ingested document without its chunks, is left to the doctor.

use super::doctor::{Finding, LeftOut, Listener, Mended, look_for_leftovers, mend};
use crate::{App, recorder::SweepFinding};
use async_trait::async_trait;
use docent_ports::error::Component;

/// What a sweep did.
#[derive(Debug, Default)]
pub struct Swept {
    /// Pending documents that got the job they lacked.
    pub not_queued: u64,
    /// Deleted documents that got the job they lacked.
    pub not_removed: u64,
    /// Documents, deleted or failed, whose chunks were removed.
    pub orphan_chunks: u64,
    /// Files without a document that were removed.
    pub orphan_files: u64,
    /// What was found and could not be mended.
    pub failed: u64,
    /// What could not be looked at.
    pub left_out: Vec<LeftOut>,
}

impl Swept {
    /// Whether it has seen everything and mended all that it found.
    pub fn is_whole(&self) -> bool {
        self.failed == 0 && self.left_out.is_empty()
    }

    /// How many things it mended.
    pub fn mended(&self) -> u64 {
        self.not_queued + self.not_removed + self.orphan_chunks + self.orphan_files
    }
}

/// Sweeps once, page by page; each thing is mended as it is found. Harmless beside others who sweep, and when it
/// is cut short.
pub async fn sweep(app: &App) -> Swept {
    let started = app.clock.now();
    let mut sweeper = Sweeper { app, swept: Swept::default() };
    let left_out = look_for_leftovers(app, &mut sweeper).await;
    for LeftOut { what, fault } in &left_out {
        app.note(fault);
        tracing::warn!(what, fault = %fault.report(), "a sweep could not look at everything");
    }
    let swept = Swept { left_out, ..sweeper.swept };
    app.recorder.swept(swept.is_whole(), app.since(started));
    log(&swept);
    swept
}

fn log(swept: &Swept) {
    let Swept { not_queued, not_removed, orphan_chunks, orphan_files, failed, left_out } = swept;
    let left_out = left_out.len();
    if swept.mended() == 0 && swept.is_whole() {
        tracing::debug!("swept: nothing was left behind");
    } else {
        tracing::info!(not_queued, not_removed, orphan_chunks, orphan_files, failed, left_out, "swept");
    }
}

struct Sweeper<'a> {
    app: &'a App,
    swept: Swept,
}

impl Sweeper<'_> {
    /// What a finding is to a sweep; none when it is not for a sweep to mend.
    fn leftover(&mut self, finding: &Finding) -> Option<(SweepFinding, &mut u64)> {
        match finding {
            Finding::NotQueued(_) => Some((SweepFinding::NotQueued, &mut self.swept.not_queued)),
            Finding::NotRemoved(_) => Some((SweepFinding::NotRemoved, &mut self.swept.not_removed)),
            Finding::OrphanChunks { .. } => Some((SweepFinding::OrphanChunks, &mut self.swept.orphan_chunks)),
            Finding::OrphanFile { .. } => Some((SweepFinding::OrphanFile, &mut self.swept.orphan_files)),
            Finding::PartDown(..)
            | Finding::Schema(_)
            | Finding::Dimensions { .. }
            | Finding::OtherModel { .. }
            | Finding::BuildUnfinished(_)
            | Finding::RetiredLeft(_)
            | Finding::LeaseOver { .. }
            | Finding::WrongChunks { .. }
            | Finding::ForeignFile(_)
            | Finding::FileMissing(_)
            | Finding::FileSize { .. } => None,
        }
    }
}

#[async_trait]
impl Listener for Sweeper<'_> {
    fn works(&mut self, _part: Component, _note: &str) {}

    fn in_use(&mut self, _part: Component) {}

    async fn found(&mut self, finding: Finding) {
        let app = self.app;
        let Some((leftover, count)) = self.leftover(&finding) else { return };
        match mend(app, &finding).await {
            Ok(Mended::Done(done)) => {
                *count += 1;
                app.recorder.repaired(leftover);
                tracing::info!(code = finding.code(), id = finding.id(), done, "a sweep mended something");
            }
            Ok(Mended::Changed | Mended::NotOurs) => {}
            Err(error) => {
                self.swept.failed += 1;
                if let crate::Error::Fault(fault) = &error {
                    app.note(fault);
                }
                tracing::warn!(code = finding.code(), id = finding.id(), error = %docent_ports::error::report(&error), "a sweep could not mend something");
            }
        }
    }
}
