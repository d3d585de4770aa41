//! Taking note of what happens.

use crate::App;
use chrono::{DateTime, Utc};
use docent_ports::error::Fault;
pub use docent_ports::recorder::{Cache, JobOutcome, NoopRecorder, Recorder, Stage, SweepFinding};
use std::time::Duration;

impl App {
    /// Takes note of a fault, where it is dealt with.
    pub(crate) fn note(&self, fault: &Fault) {
        self.recorder.fault(fault.component(), fault.kind());
    }

    /// The time since `started`; a clock that was set back gives none.
    pub(crate) fn since(&self, started: DateTime<Utc>) -> Duration {
        (self.clock.now() - started).to_std().unwrap_or_default()
    }
}
