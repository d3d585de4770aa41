//! Labels of metrics.

use docent_domain::metrics::JobOutcome;
use prometheus_client::encoding::EncodeLabelSet;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Version {
    pub(super) version: &'static str,
}

/// Outcome of a job attempt. `code` is empty unless it failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct JobLabels {
    pub(super) outcome: &'static str,
    pub(super) code: &'static str,
}

impl JobLabels {
    pub(super) fn of(end: JobOutcome) -> Self {
        let (outcome, code) = match end {
            JobOutcome::Ingested => ("ingested", ""),
            JobOutcome::Failed(code) => ("failed", code.as_str()),
            JobOutcome::Retried => ("retried", ""),
            JobOutcome::Released => ("released", ""),
            JobOutcome::Deleted => ("deleted", ""),
            JobOutcome::Deferred => ("waited", ""),
            JobOutcome::Obsolete => ("obsolete", ""),
        };
        Self { outcome, code }
    }
}

/// Outcome without the code, to limit the number of histograms.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Outcome {
    pub(super) outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StageName {
    pub(super) stage: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Tokens {
    pub(super) agent: String,
    pub(super) model: String,
    pub(super) kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Fault {
    pub(super) part: &'static str,
    pub(super) kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Lookup {
    pub(super) cache: &'static str,
    pub(super) result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Swept {
    pub(super) outcome: &'static str,
}

impl Swept {
    pub(super) fn of(is_whole: bool) -> Self {
        Self { outcome: if is_whole { "complete" } else { "incomplete" } }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Repaired {
    pub(super) leftover: &'static str,
}

/// State of a queued job.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct State {
    pub(super) state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Route {
    pub(super) method: &'static str,
    pub(super) route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) route: String,
    pub(super) status: u16,
}
