//! `GET /admin`

use super::{
    charts::Chart,
    documents::Row,
    page::{self, Broken},
    session::Staff,
    times::Time,
};
use actix_web::{HttpResponse, http::StatusCode};
use chrono::{DateTime, Utc};
use docent_app::{
    accounts::users,
    dashboard::{self as use_case, Overview},
    health,
};
use docent_domain::access::{UploadDocuments, ViewDocuments, ViewJobs, ViewUsageRecords};
use docent_http::{context::State, error::sentence};
use serde::Serialize;

#[derive(Serialize)]
struct PartRow {
    name: String,
    is_ok: bool,
    said: String,
}

pub(super) async fn dashboard(staff: Staff, context: State) -> Result<HttpResponse, Broken> {
    let app = &context.app;
    let (overview, health) =
        tokio::join!(use_case::overview(app, &staff.actor, staff.authorize()?), health::check(app));
    let (overview, now) = (overview?, app.now());
    let failures = overview.documents.as_ref().map(|documents| documents.failures.as_slice());
    let failures = failures.unwrap_or_default();
    let owners: Vec<_> = failures.iter().filter_map(|document| document.owner).collect();
    let emails = users::emails(app, &owners).await?;
    let rows: Vec<_> = failures.iter().map(|document| Row::of(document, &emails, now)).collect();
    let parts: Vec<PartRow> = health
        .parts
        .iter()
        .map(|(part, result)| PartRow {
            name: sentence(part.name()),
            is_ok: result.is_ok(),
            said: result
                .as_ref()
                .map_or_else(|fault| sentence(&fault.public_message()), |()| "Works".to_owned()),
        })
        .collect();
    let mut values = staff.page("");
    insert_numbers(&mut values, &overview, now);
    values.insert("charts", &charts(&overview));
    values.insert("parts", &parts);
    values.insert("failures", &rows);
    values.insert("may_view_documents", &staff.authorize::<ViewDocuments>().is_ok());
    values.insert("may_view_jobs", &staff.authorize::<ViewJobs>().is_ok());
    values.insert("may_view_usage", &staff.authorize::<ViewUsageRecords>().is_ok());
    values.insert("may_upload", &staff.authorize::<UploadDocuments>().is_ok());
    page::show(&context, StatusCode::OK, "dashboard.html", &values)
}

fn insert_numbers(values: &mut tera::Context, overview: &Overview, now: DateTime<Utc>) {
    let counts = overview.documents.as_ref().map(|documents| documents.counts).unwrap_or_default();
    values.insert("total", &(counts.pending + counts.ingested + counts.failed));
    values.insert("pending", &counts.pending);
    values.insert("ingested", &counts.ingested);
    values.insert("failed", &counts.failed);
    let jobs = overview.jobs.unwrap_or_default();
    values.insert("queued", &jobs.queued);
    values.insert("running", &jobs.leased);
    values.insert("oldest", &jobs.oldest.map(|at| Time::of(at, now)));
}

fn charts(overview: &Overview) -> Vec<Chart> {
    let documents = overview.documents.as_ref().map(|documents| {
        let of_day = documents
            .days
            .iter()
            .map(|day| (day.day, [day.counts.ingested, day.counts.pending, day.counts.failed]));
        let series = ["ingested", "pending", "failed"];
        Chart::of("Documents added per day", series, &overview.days, &of_day.collect())
    });
    let tokens = overview.tokens.as_ref().map(|tokens| {
        let of_day = tokens.iter().map(|(day, tokens)| (*day, [tokens.prompt, tokens.completion]));
        Chart::of("Tokens per day", ["input", "output"], &overview.days, &of_day.collect())
    });
    documents.into_iter().chain(tokens).collect()
}
