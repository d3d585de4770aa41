//! `GET /admin`

use super::charts::Chart;
use super::documents::Row;
use crate::language::{component_name, fault_sentence, t};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::Time;
use docent_app::accounts::users;
use docent_app::dashboard::{self as use_case, Overview};
use docent_app::health;
use docent_domain::access::UploadDocuments;
use docent_http::State;
use serde::Serialize;

/// Sections that the user may not view are none.
#[derive(Serialize)]
pub(super) struct DashboardPage {
    documents: Option<DocumentSection>,
    jobs: Option<JobSection>,
    charts: Vec<Chart>,
    components: Vec<ComponentRow>,
    may_upload: bool,
}

#[derive(Serialize)]
struct DocumentSection {
    total: u64,
    pending: u64,
    ingested: u64,
    failed: u64,
    failures: Vec<Row>,
}

#[derive(Serialize)]
struct JobSection {
    queued: u64,
    running: u64,
    oldest: Option<Time>,
}

#[derive(Serialize)]
struct ComponentRow {
    name: String,
    is_ok: bool,
    message: String,
}

pub(super) async fn dashboard(staff: Staff, context: State) -> PageResult {
    let app = &context.app;
    let (overview, health) =
        tokio::join!(use_case::overview(app, &staff.actor, staff.authorize()?), health::check(app));
    let (overview, now) = (overview?, app.now());
    let charts = charts(&overview);
    let documents = match overview.documents {
        None => None,
        Some(documents) => {
            let owners: Vec<_> = documents.failures.iter().filter_map(|document| document.owner).collect();
            let (counts, emails) = (documents.counts, users::emails(app, &owners).await?);
            Some(DocumentSection {
                total: counts.pending + counts.ingested + counts.failed,
                pending: counts.pending,
                ingested: counts.ingested,
                failed: counts.failed,
                failures: documents.failures.iter().map(|failure| Row::of(failure, &emails, now)).collect(),
            })
        }
    };
    let jobs = overview.jobs.map(|jobs| JobSection {
        queued: jobs.queued,
        running: jobs.leased,
        oldest: jobs.oldest.map(|at| Time::of(at, now)),
    });
    let components = health.components.iter().map(|(component, result)| ComponentRow {
        name: component_name(*component),
        is_ok: result.is_ok(),
        message: match result {
            Ok(()) => t!("component-works"),
            Err(fault) => fault_sentence(fault),
        },
    });
    let page = DashboardPage {
        documents,
        jobs,
        charts,
        components: components.collect(),
        may_upload: staff.can::<UploadDocuments>(),
    };
    staff.show(&context, "", page)
}

fn charts(overview: &Overview) -> Vec<Chart> {
    let documents = overview.documents.as_ref().map(|documents| {
        let of_day = documents
            .days
            .iter()
            .map(|day| (day.day, [day.counts.ingested, day.counts.pending, day.counts.failed]));
        let series = [t!("status-ingested"), t!("status-pending"), t!("status-failed")];
        Chart::of(t!("chart-documents"), series, &overview.days, &of_day.collect())
    });
    let tokens = overview.tokens.as_ref().map(|tokens| {
        let of_day = tokens.iter().map(|(day, tokens)| (*day, [tokens.prompt, tokens.completion]));
        let series = [t!("chart-input"), t!("chart-output")];
        Chart::of(t!("tokens-per-day"), series, &overview.days, &of_day.collect())
    });
    documents.into_iter().chain(tokens).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for DashboardPage {
        fn samples() -> Vec<Self> {
            let component =
                |is_ok| ComponentRow { name: "Database".to_owned(), is_ok, message: "Works".to_owned() };
            let page = |failures, oldest, charts| Self {
                documents: Some(DocumentSection { total: 0, pending: 0, ingested: 0, failed: 0, failures }),
                jobs: Some(JobSection { queued: 1, running: 2, oldest }),
                charts,
                components: vec![component(true), component(false)],
                may_upload: true,
            };
            let nothing = Self { documents: None, jobs: None, ..page(Vec::new(), None, Vec::new()) };
            let full = page(Row::samples(), Some(Time::sample()), Chart::samples());
            vec![full, page(Vec::new(), None, Vec::new()), nothing]
        }
    }
}
