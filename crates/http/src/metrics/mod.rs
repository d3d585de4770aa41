//! What the service counts, in the text format that Prometheus reads (OpenMetrics 1.0).
//!
//! Counters are those of this process. Labels are bounded: routes are patterns, never paths, and agents, models,
//! parts, kinds and codes are names of our own or of the settings.

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
use labels::{Fault, JobLabels, Lookup, Mended, Outcome, StageName, State, Swept, Tokens, Version};
use process::Process;
use prometheus_client::{
    encoding::text::{encode_eof, encode_registry},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::Registry,
};
use std::{fmt, time::Duration};

/// The type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Seconds of a job or of one of its steps.
const WORK_SECONDS: [f64; 13] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0];

type Timed<L> = Family<L, Histogram, fn() -> Histogram>;

fn timed<L: Clone + Eq + std::hash::Hash>() -> Timed<L> {
    Family::new_with_constructor(|| Histogram::new(WORK_SECONDS))
}

/// The counters of a process. Whoever uses [`HttpSettings::metrics`](crate::settings::HttpSettings::metrics) gives the use cases the same one as
/// their recorder.
pub struct Metrics {
    /// Under the prefix `docent_`.
    registry: Registry,
    /// Of the process itself, under the names that they have everywhere.
    bare: Registry,
    /// What is counted of requests.
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
    mended: Family<Mended, Counter>,
    process: Process,
}

impl Metrics {
    /// Counters at zero, of a process that started at `now`.
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
            mended: Family::default(),
            process: Process::register(&mut bare, now),
            registry: Registry::default(),
            bare,
        };
        this.begin_at_zero();
        let build = Info::new(Version { version: env!("CARGO_PKG_VERSION") });
        registry.register("build", "The version that runs", build);
        registry.register("jobs_ended", "Tries at background jobs, by how they ended", this.jobs.clone());
        registry.register("job_duration_seconds", "How long a try took", this.job_seconds.clone());
        registry.register(
            "ingestion_stage_duration_seconds",
            "How long a step of an ingestion took",
            this.stage_seconds.clone(),
        );
        registry.register("tokens", "Tokens of model calls, read and written", this.tokens.clone());
        registry.register("faults", "Calls of a part that did not work", this.faults.clone());
        registry.register(
            "rate_limit_local",
            "Requests counted in this process since the key-value store was away",
            this.counted_locally.clone(),
        );
        registry.register("cache_lookups", "Things looked for in a cache", this.lookups.clone());
        registry.register("sweeps", "Sweeps, by whether they saw and mended everything", this.sweeps.clone());
        registry.register("sweep_duration_seconds", "How long a sweep took", this.sweep_seconds.clone());
        registry.register("sweep_mended", "What sweeps found and mended", this.mended.clone());
        Self { registry, ..this }
    }

    /// Makes the series that alerts look for, so that the first event is a rise and not a beginning.
    fn begin_at_zero(&self) {
        let failed = FailureCode::ALL.iter().map(|code| JobOutcome::Failed(*code));
        for end in [JobOutcome::Ingested, JobOutcome::Retried].into_iter().chain(failed) {
            let _ = self.jobs.get_or_create(&JobLabels::of(end));
        }
        for is_whole in [true, false] {
            let _ = self.sweeps.get_or_create(&Swept::of(is_whole));
        }
        for leftover in SweepFinding::ALL {
            let _ = self.mended.get_or_create(&Mended { leftover: leftover.code() });
        }
        for part in PARTS {
            for kind in KINDS {
                let _ = self.faults.get_or_create(&Fault { part: part.code(), kind: kind.code() });
            }
        }
    }

    /// The text. Without a `backlog`, when the database does not answer, its series are missing.
    pub fn render(&self, backlog: Option<Backlog>) -> Result<String, fmt::Error> {
        self.process.refresh();
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        if let Some(backlog) = backlog {
            encode_registry(&mut text, &waiting(backlog))?;
        }
        encode_registry(&mut text, &self.bare)?;
        encode_eof(&mut text)?;
        Ok(text)
    }
}

const PARTS: [Component; 10] = [
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

fn waiting(backlog: Backlog) -> Registry {
    let mut registry = Registry::with_prefix("docent");
    let jobs = Family::<State, Gauge>::default();
    for (state, count) in [("queued", backlog.queued), ("leased", backlog.leased)] {
        jobs.get_or_create(&State { state }).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("jobs", "Jobs that are not done, over all processes on this database", jobs);
    let age = Gauge::<f64, std::sync::atomic::AtomicU64>::default();
    age.set(backlog.oldest_age.as_secs_f64());
    registry.register("oldest_job_age_seconds", "The age of the oldest job that is not done, or 0", age);
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
        self.mended.get_or_create(&Mended { leftover: finding.code() }).inc();
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
    fn what_is_recorded_shows_under_its_labels() {
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
    fn without_a_backlog_its_series_are_missing_and_nothing_else() {
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
