//! Metrics.

use crate::{App, Error};
use chrono::{DateTime, Utc};
use docent_domain::fault::{Component, Fault, FaultKind};
use std::time::Duration;

/// The port that the metrics of `docent-http` implement; that crate does not depend on the ports.
pub use docent_ports::recorder::Recorder;

impl App {
    /// Counts a fault. Called once per fault, where it is handled.
    pub(crate) fn note(&self, fault: &Fault) {
        self.record_fault(fault.component(), fault.kind());
    }

    /// Counts the fault behind an error, if there is one.
    pub(crate) fn note_error(&self, error: &Error) {
        if let Error::Fault(fault) = error {
            self.note(fault);
        }
    }

    /// Counts a fault of a component.
    pub fn record_fault(&self, component: Component, kind: FaultKind) {
        self.recorder.fault(component, kind);
    }

    /// The time since `started`, or zero if the clock was set back.
    pub(crate) fn since(&self, started: DateTime<Utc>) -> Duration {
        (self.clock.now() - started).to_std().unwrap_or_default()
    }
}
