//! `GET /admin/documents`

use super::{
    ROOT,
    page::{self, Broken},
    session::Staff,
    times::Time,
};
use crate::{
    api::documents::list::{cursor, encode_query, filter},
    context::State,
    error::Refusal,
    extract::query::Query,
};
use actix_web::{HttpResponse, http::StatusCode};
use chrono::{DateTime, Utc};
use docent_app::{documents::list as use_case, error::Error};
use docent_domain::{
    access::{Actor, ReadDocuments},
    document::{Document, DocumentState},
};
use serde::Serialize;

const PAGE: usize = 50;

/// A document as a line of a table.
#[derive(Serialize)]
pub(super) struct Row {
    id: String,
    /// Its end: ids begin with their time, and neighbours alike.
    short_id: String,
    title: String,
    status: &'static str,
    reason: Option<String>,
    pages: Option<u32>,
    chunks: Option<u32>,
    created: Time,
}

impl Row {
    pub(super) fn of(document: &Document, now: DateTime<Utc>) -> Self {
        let reason = match &document.state {
            DocumentState::Failed(failed) => Some(failed.failure.reason.clone()),
            DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
        };
        let id = document.id.to_string();
        Self {
            short_id: id.chars().skip(28).collect(),
            id,
            title: document.title.as_str().to_owned(),
            status: document.state.name(),
            reason,
            pages: document.coverage.as_ref().map(|coverage| coverage.pages),
            chunks: document.coverage.as_ref().map(|coverage| coverage.chunks),
            created: Time::of(document.created_at, now),
        }
    }
}

pub(super) async fn documents(
    staff: Staff,
    context: State,
    mut query: Query,
) -> Result<HttpResponse, Broken> {
    let mut filter = filter(&mut query);
    query.done()?;
    filter.limit = Some(PAGE as u64 + 1);
    let grant = reading(&staff.actor)?;
    let mut found = use_case::list(&context.app, grant, &filter).await?;
    let has_more = found.len() > PAGE;
    found.truncate(PAGE);

    let (q, status) = (filter.title_contains.as_deref(), filter.status);
    let link = |cursor: Option<&str>| {
        let query = encode_query(&[("q", q), ("status", status), ("cursor", cursor)]);
        if query.is_empty() { format!("{ROOT}/documents") } else { format!("{ROOT}/documents?{query}") }
    };
    let next = found.last().filter(|_| has_more).map(|last| link(Some(&cursor(last))));
    let first = filter.after.is_some().then(|| link(None));
    let now = context.app.clock.now();
    let mut values = staff.page("documents");
    values.insert("documents", &found.iter().map(|document| Row::of(document, now)).collect::<Vec<_>>());
    values.insert("q", q.unwrap_or_default());
    values.insert("status", status.unwrap_or_default());
    values.insert("is_filtered", &(q.is_some() || status.is_some()));
    values.insert("next", &next);
    values.insert("first", &first);
    page::show(&context, StatusCode::OK, "documents.html", &values)
}

/// The right to read documents, which whoever may enter the panel has too.
fn reading(actor: &Actor) -> Result<docent_domain::access::Grant<ReadDocuments>, Refusal> {
    Ok(actor.may().map_err(Error::from)?)
}
