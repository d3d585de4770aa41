//! `GET /admin/jobs`

use super::documents::short;
use super::listing::List;
use crate::language;
use crate::paging::PageNumber;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_app::documents::browse;
use docent_app::jobs::browse as use_case;
use docent_domain::access::{ViewDocuments, ViewJobs};
use docent_domain::document::FailureCode;
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::listing::{JobFilter, JobStateName};
use docent_domain::text::Title;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashMap;

const STATES: [(&str, JobStateName); 4] = [
    ("queued", JobStateName::Queued),
    ("running", JobStateName::Leased),
    ("failed", JobStateName::Failed),
    ("done", JobStateName::Succeeded),
];
const KINDS: [JobKind; 2] = [JobKind::Ingest, JobKind::Delete];

#[derive(Serialize)]
pub(super) struct JobsPage {
    #[serde(flatten)]
    list: List<JobRow>,
    /// Query values and labels of the states.
    states: [(&'static str, String); 4],
    /// Query values and labels of the kinds.
    kinds: [(&'static str, String); 2],
}

/// Table row of a job.
#[derive(Serialize)]
pub(super) struct JobRow {
    id: String,
    short_id: String,
    kind: String,
    state: &'static str,
    /// Label of the state.
    state_name: String,
    document: String,
    short_document: String,
    /// Title of the document, if it exists and the user can view documents.
    title: Option<String>,
    attempts: u32,
    interruptions: u32,
    last_error: Option<String>,
    /// Since when the job waits for an unavailable component.
    waiting: Option<Time>,
    /// Time of the next attempt, while the job is waiting for it.
    next: Option<Time>,
    created: Time,
    updated: Time,
}

fn state_name(state: &str) -> String {
    language::named("job-state-", state)
}

/// Why the last attempt failed. The reason of a failed document is in the language of the page; in English, it can say more.
fn last_error(error: &str) -> String {
    let code = FailureCode::ALL.iter().find(|code| error.starts_with(code.sentence()));
    match code.filter(|_| !language::current().is_default()) {
        Some(code) => language::named("failure-", code.as_str()),
        None => error.to_owned(),
    }
}

fn kind_name(kind: JobKind) -> String {
    language::named("job-kind-", kind.as_str())
}

fn states() -> [(&'static str, String); 4] {
    STATES.map(|(name, _)| (name, state_name(name)))
}

fn kinds() -> [(&'static str, String); 2] {
    KINDS.map(|kind| (kind.as_str(), kind_name(kind)))
}

impl JobRow {
    pub(super) fn of(job: &Job, title: Option<&Title>, now: DateTime<Utc>) -> Self {
        let (state, next) = match job.state {
            JobState::Queued if job.wait.is_some() => ("waiting", Some(Time::of(job.run_at, now))),
            JobState::Queued if job.run_at > now => ("queued", Some(Time::of(job.run_at, now))),
            JobState::Queued => ("queued", None),
            JobState::Leased { .. } => ("running", None),
            JobState::Done if job.has_failed() => ("failed", None),
            JobState::Done => ("done", None),
        };
        let (id, document) = (job.id.to_string(), job.document.to_string());
        Self {
            short_id: short(&id),
            id,
            kind: kind_name(job.kind),
            state,
            state_name: state_name(state),
            short_document: short(&document),
            document,
            title: title.map(|title| title.as_str().to_owned()),
            attempts: job.attempts,
            interruptions: job.interruptions,
            last_error: job.last_error.as_deref().map(last_error),
            waiting: job.wait.as_ref().map(|wait| Time::of(wait.since, now)),
            next,
            created: Time::of(job.created_at, now),
            updated: Time::of(job.updated_at, now),
        }
    }
}

pub(super) async fn jobs(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewJobs>()?;
    let state = query.parse("state", "must be queued, running, failed or done", |text| {
        STATES.into_iter().find(|(name, _)| *name == text)
    });
    let kind = query.parse("kind", "must be ingest or delete", JobKind::parse);
    let number = PageNumber::of(&query);
    query.done()?;
    let filter = JobFilter { state: state.map(|(_, state)| state), kind };
    let found = use_case::list(&context.app, grant, filter, number.page()).await?;
    let documents: Vec<_> = found.records.iter().map(|job| job.document).collect();
    let titles = match staff.actor.authorize::<ViewDocuments>() {
        Ok(grant) => browse::titles(&context.app, grant, &documents).await?,
        Err(_) => HashMap::new(),
    };
    let now = context.app.now();
    let row = |job: &Job| JobRow::of(job, titles.get(&job.document), now);
    let rows = found.records.iter().map(row).collect();
    let owned = |text: &str| text.to_owned();
    let filters =
        [("state", state.map(|(name, _)| owned(name))), ("kind", kind.map(|kind| owned(kind.as_str())))];
    let page = JobsPage {
        list: List::of("jobs", number, filters, found.total, rows),
        states: states(),
        kinds: kinds(),
    };
    staff.show(&context, "jobs", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl JobRow {
        pub(crate) fn samples() -> Vec<Self> {
            let row = |state: &'static str, title: Option<&str>, next| Self {
                id: "1".to_owned(),
                short_id: "1".to_owned(),
                kind: "ingest".to_owned(),
                state,
                state_name: state.to_owned(),
                document: "1".to_owned(),
                short_document: "1".to_owned(),
                title: title.map(str::to_owned),
                attempts: 1,
                interruptions: 0,
                last_error: title.map(str::to_owned),
                waiting: (state == "waiting").then(Time::sample),
                next,
                created: Time::sample(),
                updated: Time::sample(),
            };
            vec![
                row("queued", None, Some(Time::sample())),
                row("waiting", None, Some(Time::sample())),
                row("running", Some("Text"), None),
                row("done", None, None),
                row("failed", Some("Text"), None),
            ]
        }
    }

    impl Samples for JobsPage {
        fn samples() -> Vec<Self> {
            let page = |list| Self { list, states: states(), kinds: kinds() };
            List::sample_pages(["state", "kind"], JobRow::samples).map(page).into()
        }
    }
}
