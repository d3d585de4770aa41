//! Metrics in the text format of Prometheus or in OpenMetrics 1.0.
//!
//! Metrics cover this process. Labels are bounded: routes are patterns, never paths; agents, models, components, kinds and codes are
//! names from the code or the settings.

pub mod http;
mod process;
mod text_format;

use chrono::{DateTime, Utc};
use docent_app::backlog::Backlog;
use docent_app::recorder::Recorder;
use docent_domain::chat::AgentName;
use docent_domain::document::FailureCode;
use docent_domain::fallback::FallbackCause;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::metrics::{Cache, JobOutcome, Stage, SweepFinding};
use docent_domain::usage::TokenUsage;
use http::Http;
use process::Process;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::fmt;
use std::time::Duration;

pub use text_format::Format;

/// Histogram buckets for jobs and their stages, in seconds.
const WORK_SECONDS: [f64; 13] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0];

/// Names and values of labels.
type Labels<const N: usize, V = &'static str> = [(&'static str, V); N];

/// Durations by one label.
type Durations = Family<Labels<1>, Histogram, fn() -> Histogram>;

fn durations() -> Durations {
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
    jobs: Family<Labels<2>, Counter>,
    job_seconds: Durations,
    stage_seconds: Durations,
    tokens: Family<Labels<3, String>, Counter>,
    citations_removed: Family<Labels<1, String>, Counter>,
    fallbacks: Family<Labels<2, String>, Counter>,
    faults: Family<Labels<2>, Counter>,
    counted_locally: Counter,
    lookups: Family<Labels<2>, Counter>,
    sweeps: Family<Labels<1>, Counter>,
    sweep_seconds: Histogram,
    repaired: Family<Labels<1>, Counter>,
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
            job_seconds: durations(),
            stage_seconds: durations(),
            tokens: Family::default(),
            citations_removed: Family::default(),
            fallbacks: Family::default(),
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
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the program", build);
        registry.register("jobs_ended", "Attempts of background jobs, by outcome", this.jobs.clone());
        registry.register("job_duration_seconds", "Duration of an attempt", this.job_seconds.clone());
        registry.register(
            "ingestion_stage_duration_seconds",
            "Duration of an ingestion stage",
            this.stage_seconds.clone(),
        );
        registry.register("tokens", "Input and output tokens of model calls", this.tokens.clone());
        registry.register(
            "citations_removed",
            "Citations of passages that were not found",
            this.citations_removed.clone(),
        );
        registry.register(
            "fallback_answers",
            "Answers that quote documents because the chat model could not answer",
            this.fallbacks.clone(),
        );
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
        for end in [JobOutcome::Ingested, JobOutcome::Retried, JobOutcome::Waiting].into_iter().chain(failed)
        {
            let _ = self.jobs.get_or_create(&job_labels(end));
        }
        for is_whole in [true, false] {
            let _ = self.sweeps.get_or_create(&sweep_labels(is_whole));
        }
        for leftover in SweepFinding::ALL {
            let _ = self.repaired.get_or_create(&[("leftover", leftover.code())]);
        }
        for part in Component::ALL {
            for kind in FaultKind::ALL {
                let _ = self.faults.get_or_create(&[("part", part.code()), ("kind", kind.code())]);
            }
        }
    }

    /// Renders the metrics in a format. Without a `backlog`, if the database is unavailable, its series are missing.
    pub fn render(&self, format: Format, backlog: Option<Backlog>) -> Result<String, fmt::Error> {
        self.process.refresh();
        let mut text = String::new();
        encode_registry(&mut text, &self.registry)?;
        if let Some(backlog) = backlog {
            encode_registry(&mut text, &backlog_registry(backlog))?;
        }
        encode_registry(&mut text, &self.bare)?;
        encode_eof(&mut text)?;
        Ok(match format {
            Format::Prometheus => text_format::to_prometheus(&text),
            Format::OpenMetrics => text,
        })
    }
}

/// Labels of a job attempt. `code` is empty unless it failed.
fn job_labels(end: JobOutcome) -> Labels<2> {
    let (outcome, code) = match end {
        JobOutcome::Ingested => ("ingested", ""),
        JobOutcome::Failed(code) => ("failed", code.as_str()),
        JobOutcome::Retried => ("retried", ""),
        JobOutcome::Waiting => ("waiting", ""),
        JobOutcome::Released => ("released", ""),
        JobOutcome::Deleted => ("deleted", ""),
        JobOutcome::Deferred => ("waited", ""),
        JobOutcome::Obsolete => ("obsolete", ""),
    };
    [("outcome", outcome), ("code", code)]
}

fn sweep_labels(is_whole: bool) -> Labels<1> {
    [("outcome", if is_whole { "complete" } else { "incomplete" })]
}

fn backlog_registry(backlog: Backlog) -> Registry {
    let mut registry = Registry::with_prefix("docent");
    let jobs = Family::<Labels<1>, Gauge>::default();
    for (state, count) in [("queued", backlog.queued), ("leased", backlog.leased)] {
        jobs.get_or_create(&[("state", state)]).set(i64::try_from(count).unwrap_or(i64::MAX));
    }
    registry.register("jobs", "Unfinished jobs of all processes on this database", jobs);
    let age = Gauge::<f64, std::sync::atomic::AtomicU64>::default();
    age.set(backlog.oldest_age.as_secs_f64());
    registry.register("oldest_job_age_seconds", "Age of the oldest unfinished job, or 0", age);
    registry
}

impl Recorder for Metrics {
    fn job_ended(&self, end: JobOutcome, took: Duration) {
        let labels @ [outcome, _] = job_labels(end);
        self.jobs.get_or_create(&labels).inc();
        // Without the code, to limit the number of histograms.
        self.job_seconds.get_or_create(&[outcome]).observe(took.as_secs_f64());
    }

    fn stage_ended(&self, stage: Stage, took: Duration) {
        self.stage_seconds.get_or_create(&[("stage", stage.code())]).observe(took.as_secs_f64());
    }

    fn tokens_used(&self, agent: &AgentName, model: &str, tokens: TokenUsage) {
        for (kind, count) in [("prompt", tokens.prompt), ("completion", tokens.completion)] {
            let labels = [("agent", agent.as_str()), ("model", model), ("kind", kind)];
            self.tokens.get_or_create(&labels.map(|(name, value)| (name, value.to_owned()))).inc_by(count);
        }
    }

    fn citations_removed(&self, agent: &AgentName, count: u64) {
        self.citations_removed.get_or_create(&[("agent", agent.as_str().to_owned())]).inc_by(count);
    }

    fn answered_by_fallback(&self, agent: &AgentName, cause: FallbackCause) {
        let labels = [("agent", agent.as_str()), ("cause", cause.code())];
        self.fallbacks.get_or_create(&labels.map(|(name, value)| (name, value.to_owned()))).inc();
    }

    fn fault(&self, part: Component, kind: FaultKind) {
        self.faults.get_or_create(&[("part", part.code()), ("kind", kind.code())]).inc();
    }

    fn counted_locally(&self) {
        self.counted_locally.inc();
    }

    fn cache_lookups(&self, cache: Cache, hits: u64, misses: u64) {
        for (result, count) in [("hit", hits), ("miss", misses)] {
            self.lookups.get_or_create(&[("cache", cache.code()), ("result", result)]).inc_by(count);
        }
    }

    fn swept(&self, is_whole: bool, took: Duration) {
        self.sweeps.get_or_create(&sweep_labels(is_whole)).inc();
        self.sweep_seconds.observe(took.as_secs_f64());
    }

    fn repaired(&self, finding: SweepFinding) {
        self.repaired.get_or_create(&[("leftover", finding.code())]).inc();
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
        metrics.citations_removed(&agent, 2);
        metrics.answered_by_fallback(&agent, FallbackCause::Timeout);
        metrics.counted_locally();
        metrics.cache_lookups(Cache::Embeddings, 5, 0);
        metrics.swept(true, Duration::from_millis(20));
        metrics.repaired(SweepFinding::OrphanFile);
        let text = metrics.render(Format::OpenMetrics, None).unwrap();
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
            (r#"docent_citations_removed_total{agent="chat"}"#, "2"),
            (r#"docent_fallback_answers_total{agent="chat",cause="timeout"}"#, "1"),
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
        let (with, without) = (
            metrics.render(Format::OpenMetrics, Some(backlog)).unwrap(),
            metrics.render(Format::OpenMetrics, None).unwrap(),
        );
        assert_eq!(line(&with, r#"docent_jobs{state="queued"}"#), Some("2"));
        assert_eq!(line(&with, r#"docent_jobs{state="leased"}"#), Some("1"));
        assert_eq!(line(&with, "docent_oldest_job_age_seconds"), Some("1.5"));
        assert!(!without.contains("docent_jobs{") && !without.contains("oldest_job"));
        assert_eq!(line(&without, "process_start_time_seconds"), Some("0.0"));
    }
}
