//! Metrics in the Prometheus text format (OpenMetrics 1.0).
//!
//! Metrics cover this process. Labels are bounded: routes are patterns, never paths; agents, models, components, kinds and codes are
//! names from the code or the settings.

pub mod http;
mod labels;
mod process;

use chrono::{DateTime, Utc};
use docent_app::{backlog::Backlog, recorder::Recorder};
use docent_domain::{
    chat::AgentName,
    document::FailureCode,
    fault::{Component, FaultKind},
    metrics::{Cache, JobOutcome, Stage, SweepFinding},
    usage::TokenUsage,
};
use http::Http;
use labels::{Fault, JobLabels, Lookup, Outcome, Repaired, StageName, State, Swept, Tokens, Version};
use process::Process;
use prometheus_client::{
    encoding::text::{encode_eof, encode_registry},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::Registry,
};
use std::{fmt, time::Duration};

/// Content type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Histogram buckets for jobs and their stages, in seconds.
const WORK_SECONDS: [f64; 13] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0];

type Timed<L> = Family<L, Histogram, fn() -> Histogram>;

fn timed<L: Clone + Eq + std::hash::Hash>() -> Timed<L> {
    Family::new_with_constructor(|| Histogram::new(WORK_SECONDS))
}

/// The metrics of a process. The same value must be set in [`HttpSettings::metrics`](crate::settings::HttpSettings::metrics) and as the
/// recorder of the use cases.
pub struct Metrics {
    /// Metrics with the prefix `docent_`.
    registry: Registry,
    /// Process metrics with standard names.
    bare: Registry,
    /// Metrics of requests.
    pub http: Http,
    jobs: Family<JobLabels, Counter>,
    job_seconds: Timed<Outcome>,
    stage_seconds: Timed<StageName>,
    tokens: Family<Tokens, Counter>,
    faults: Family<Fault, Counter>,
    counted_locally: Counter,
    lookups: Family<Lookup, Counter>,
    sweeps: Family<Swept, Counter>,
    sweep_seconds: Histogram,
    repaired: Family<Repaired, Counter>,
    process: Process,
}

impl Metrics {
    /// Creates metrics of a process that started at `now`.
    pub fn new(now: DateTime<Utc>) -> Self {
        let mut registry = Registry::with_prefix("docent");
        let mut bare = Registry::default();
        let this = Self {
            http: Http::register(&mut registry),
            jobs: Family::default(),
            job_seconds: timed(),
            stage_seconds: timed(),
            tokens: Family::default(),
            faults: Family::default(),
            counted_locally: Counter::default(),
            lookups: Family::default(),
            sweeps: Family::default(),
            sweep_seconds: Histogram::new(WORK_SECONDS),
            repaired: Family::default(),
            process: Process::register(&mut bare, now),
            registry: Registry::default(),
            bare,
        };
        this.create_series();
        let build = Info::new(Version { version: env!("CARGO_PKG_VERSION") });
        registry.register("build", "Version of the program", build);
        registry.register("jobs_ended", "Attempts of background jobs, by outcome", this.jobs.clone());
        registry.register("job_duration_seconds", "Duration of an attempt", this.job_seconds.clone());
        registry.register(
            "ingestion_stage_duration_seconds",
            "Duration of an ingestion stage",
            this.stage_seconds.clone(),
        );
        registry.register("tokens", "Input and output tokens of model calls", this.tokens.clone());
        registry.register("faults", "Failed calls of a component", this.faults.clone());
        registry.register(
            "rate_limit_local",
            "Requests counted in this process because the key-value store was unavailable",
            this.counted_locally.clone(),
        );
        registry.register("cache_lookups", "Cache lookups", this.lookups.clone());
        registry.register("sweeps", "Sweeps, by whether they were complete", this.sweeps.clone());
        registry.register("sweep_duration_seconds", "Duration of a sweep", this.sweep_seconds.clone());
        registry.register("sweep_mended", "Findings that sweeps repaired", this.repaired.clone());
        Self { registry, ..this }
    }

    /// Creates the series that alerts use, so that the first event is an increase from 0.
    fn create_series(&self) {
        let failed = FailureCode::ALL.iter().map(|code| JobOutcome::Failed(*code));
        for end in [JobOutcome::Ingested, JobOutcome::Retried].into_iter().chain(failed) {
            let _ = self.jobs.get_or_create(&JobLabels::of(end));
        }
        for is_whole in [true, false] {
            let _ = self.sweeps.get_or_create(&Swept::of(is_whole));
        }
        for leftover in SweepFinding::ALL {
            let _ = self.repaired.get_or_create(&Repaired { leftover: leftover.code() });
        }
        for part in COMPONENTS {
            for kind in KINDS {
                let _ = self.faults.get_or_create(&Fault { part: part.code(), kind: kind.code() });
            }
        }
    }

    /// Renders the metrics. Without a `backlog`, if the database is unavailable, its series are missing.
    pub fn render(&self, backlog: Option<Backlog>) -> Result<String, fmt::Error> {
        self.process.refresh();
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        if let Some(backlog) = backlog {
            encode_registry(&mut text, &backlog_registry(backlog))?;
        }
        encode_registry(&mut text, &self.bare)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

const COMPONENTS: [Component; 10] = [
    Component::Database,
    Component::KeyValueStore,
    Component::BlobStore,
    Component::VectorStore,
    Component::Embedder,
    Component::Reranker,
    Component::ChatModel,
    Component::Extractor,
    Component::MailServer,
    Component::Service,
];
const KINDS: [FaultKind; 9] = [
    FaultKind::Unavailable,
    FaultKind::InUse,
    FaultKind::Timeout,
    FaultKind::RateLimited,
    FaultKind::Full,
    FaultKind::Rejected,
    FaultKind::InvalidResponse,
    FaultKind::Unconfigured,
    FaultKind::Internal,
];

fn backlog_registry(backlog: Backlog) -> Registry {
    let mut registry = Registry::with_prefix("docent");
    let jobs = Family::<State, Gauge>::default();
    for (state, count) in [("queued", backlog.queued), ("leased", backlog.leased)] {
        jobs.get_or_create(&State { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("jobs", "Unfinished jobs of all processes on this database", jobs);
    let age = Gauge::<f64, std::sync::atomic::AtomicU64>::default();
    age.set(backlog.oldest_age.as_secs_f64());
    registry.register("oldest_job_age_seconds", "Age of the oldest unfinished job, or 0", age);
    registry
}

impl Recorder for Metrics {
    fn job_ended(&self, end: JobOutcome, took: Duration) {
        let outcome = JobLabels::of(end);
        self.jobs.get_or_create(&outcome).inc();
        self.job_seconds.get_or_create(&Outcome { outcome: outcome.outcome }).observe(took.as_secs_f64());
    }

    fn stage_ended(&self, stage: Stage, took: Duration) {
        self.stage_seconds.get_or_create(&StageName { stage: stage.code() }).observe(took.as_secs_f64());
    }

    fn tokens_used(&self, agent: &AgentName, model: &str, tokens: TokenUsage) {
        for (kind, count) in [("prompt", tokens.prompt), ("completion", tokens.completion)] {
            let labels = Tokens { agent: agent.as_str().to_owned(), model: model.to_owned(), kind };
            self.tokens.get_or_create(&labels).inc_by(count);
        }
    }

    fn fault(&self, part: Component, kind: FaultKind) {
        self.faults.get_or_create(&Fault { part: part.code(), kind: kind.code() }).inc();
    }

    fn counted_locally(&self) {
        self.counted_locally.inc();
    }

    fn cache_lookups(&self, cache: Cache, hits: u64, misses: u64) {
        for (result, count) in [("hit", hits), ("miss", misses)] {
            self.lookups.get_or_create(&Lookup { cache: cache.code(), result }).inc_by(count);
        }
    }

    fn swept(&self, is_whole: bool, took: Duration) {
        self.sweeps.get_or_create(&Swept::of(is_whole)).inc();
        self.sweep_seconds.observe(took.as_secs_f64());
    }

    fn repaired(&self, finding: SweepFinding) {
        self.repaired.get_or_create(&Repaired { leftover: finding.code() }).inc();
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line<'a>(text: &'a str, series: &str) -> Option<&'a str> {
        text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))
    }

    #[test]
    fn recorded_events_appear_with_their_labels() {
        let metrics = Metrics::new(DateTime::UNIX_EPOCH);
        metrics.job_ended(JobOutcome::Failed(FailureCode::NoText), Duration::from_millis(300));
        metrics.stage_ended(Stage::Extract, Duration::from_millis(20));
        metrics.fault(Component::ChatModel, FaultKind::Timeout);
        let agent = AgentName::parse("chat").unwrap();
        metrics.tokens_used(&agent, "m", TokenUsage { prompt: 7, completion: 3 });
        metrics.counted_locally();
        metrics.cache_lookups(Cache::Embeddings, 5, 0);
        metrics.swept(true, Duration::from_millis(20));
        metrics.repaired(SweepFinding::OrphanFile);
        let text = metrics.render(None).unwrap();
        for (series, value) in [
            (r#"docent_jobs_ended_total{outcome="failed",code="no_extractable_text"}"#, "1"),
            (r#"docent_jobs_ended_total{outcome="ingested",code=""}"#, "0"),
            (r#"docent_job_duration_seconds_bucket{le="0.5",outcome="failed"}"#, "1"),
            (r#"docent_job_duration_seconds_bucket{le="0.25",outcome="failed"}"#, "0"),
            (r#"docent_ingestion_stage_duration_seconds_count{stage="extract"}"#, "1"),
            (r#"docent_faults_total{part="chat_model",kind="timeout"}"#, "1"),
            (r#"docent_faults_total{part="database",kind="unavailable"}"#, "0"),
            (r#"docent_tokens_total{agent="chat",model="m",kind="prompt"}"#, "7"),
            (r#"docent_tokens_total{agent="chat",model="m",kind="completion"}"#, "3"),
            ("docent_rate_limit_local_total", "1"),
            (r#"docent_cache_lookups_total{cache="embeddings",result="hit"}"#, "5"),
            (r#"docent_cache_lookups_total{cache="embeddings",result="miss"}"#, "0"),
            (r#"docent_sweeps_total{outcome="complete"}"#, "1"),
            (r#"docent_sweeps_total{outcome="incomplete"}"#, "0"),
            ("docent_sweep_duration_seconds_count", "1"),
            (r#"docent_sweep_mended_total{leftover="orphan_file"}"#, "1"),
            (r#"docent_sweep_mended_total{leftover="orphan_chunks"}"#, "0"),
        ] {
            assert_eq!(line(&text, series), Some(value), "{series}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn render_without_a_backlog_omits_only_its_series() {
        let metrics = Metrics::new(DateTime::UNIX_EPOCH);
        let backlog = Backlog { queued: 2, leased: 1, oldest_age: Duration::from_millis(1500) };
        let (with, without) = (metrics.render(Some(backlog)).unwrap(), metrics.render(None).unwrap());
        assert_eq!(line(&with, r#"docent_jobs{state="queued"}"#), Some("2"));
        assert_eq!(line(&with, r#"docent_jobs{state="leased"}"#), Some("1"));
        assert_eq!(line(&with, "docent_oldest_job_age_seconds"), Some("1.5"));
        assert!(!without.contains("docent_jobs{") && !without.contains("oldest_job"));
        assert_eq!(line(&without, "process_start_time_seconds"), Some("0.0"));
    }
}
