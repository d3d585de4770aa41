//! `GET /admin`

use super::{
    documents::Row,
    page::{self, Broken},
    session::Staff,
    times::Time,
};
use crate::{context::State, error::sentence};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::{dashboard as use_case, health};
use serde::Serialize;

#[derive(Serialize)]
struct PartRow {
    name: String,
    is_ok: bool,
    said: String,
}

pub(super) async fn dashboard(staff: Staff, context: State) -> Result<HttpResponse, Broken> {
    let app = &context.app;
    let (overview, health) = tokio::join!(use_case::overview(app, staff.may()?), health::check(app));
    let overview = overview?;
    let now = app.clock.now();
    let parts: Vec<PartRow> = health
        .parts
        .iter()
        .map(|(part, result)| PartRow {
            name: sentence(part.name()),
            is_ok: result.is_ok(),
            said: result.as_ref().map_or_else(|fault| sentence(&fault.public()), |()| "Works".to_owned()),
        })
        .collect();
    let counts = &overview.documents;
    let mut values = staff.page("");
    values.insert("total", &(counts.pending + counts.ingested + counts.failed));
    values.insert("pending", &counts.pending);
    values.insert("ingested", &counts.ingested);
    values.insert("failed", &counts.failed);
    values.insert("queued", &overview.jobs.queued);
    values.insert("running", &overview.jobs.leased);
    values.insert("oldest", &overview.jobs.oldest.map(|at| Time::of(at, now)));
    values.insert("parts", &parts);
    values.insert("failures", &overview.failures.iter().map(|d| Row::of(d, now)).collect::<Vec<_>>());
    page::show(&context, StatusCode::OK, "dashboard.html", &values)
}
