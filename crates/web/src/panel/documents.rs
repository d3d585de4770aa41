//! `GET /admin/documents`

use super::{
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, Broken},
    session::Staff,
    times::{Time, size},
};
use actix_web::{HttpResponse, http::StatusCode};
use chrono::{DateTime, Utc};
use docent_app::{accounts::users, documents::browse as use_case, error::Result, listing};
use docent_domain::{
    access::{ChangeDocuments, DeleteDocuments, UploadDocuments, ViewDocuments},
    document::{Document, DocumentState},
    id::UserId,
    listing::{DocumentOrder, DocumentQuery, Page},
    text::Email,
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;
use std::collections::HashMap;

/// Maximum length of a search text in characters.
pub(super) const Q_MAX: usize = 200;
const STATUSES: [&str; 3] = ["pending", "ingested", "failed"];
/// Sort orders by query value, with their labels.
const ORDERS: [(&str, &str, DocumentOrder); 4] = [
    ("newest", "newest first", DocumentOrder::Newest),
    ("oldest", "oldest first", DocumentOrder::Oldest),
    ("title", "by title", DocumentOrder::Title),
    ("largest", "largest first", DocumentOrder::Largest),
];

/// Table row of a document.
#[derive(Serialize)]
pub(super) struct Row {
    id: String,
    short_id: String,
    title: String,
    status: &'static str,
    reason: Option<String>,
    pages: Option<u32>,
    chunks: Option<u32>,
    size: Option<String>,
    owner: Option<String>,
    created: Time,
}

impl Row {
    pub(super) fn of(document: &Document, emails: &HashMap<UserId, Email>, now: DateTime<Utc>) -> Self {
        let reason = match &document.state {
            DocumentState::Failed(failed) => Some(failed.failure.reason.clone()),
            DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
        };
        let id = document.id.to_string();
        Self {
            short_id: short(&id),
            id,
            title: document.title.as_str().to_owned(),
            status: document.state.name(),
            reason,
            pages: document.coverage.as_ref().map(|coverage| coverage.pages),
            chunks: document.coverage.as_ref().map(|coverage| coverage.chunks),
            size: document.file.as_ref().map(|file| size(file.bytes)),
            owner: document.owner.map(|owner| email(emails, owner)),
            created: Time::of(document.created_at, now),
        }
    }
}

/// Last characters of an ID. IDs start with their time, so neighbours share a prefix.
pub(super) fn short(id: &str) -> String {
    id.chars().skip(28).collect()
}

/// Email address of an account, or the short ID of a deleted one.
pub(super) fn email(emails: &HashMap<UserId, Email>, id: UserId) -> String {
    emails.get(&id).map_or_else(|| short(&id.to_string()), |email| email.as_str().to_owned())
}

/// Filters of the list, from the query string.
struct Filters {
    q: Option<String>,
    status: Option<&'static str>,
    owner: Option<String>,
    order: &'static (&'static str, &'static str, DocumentOrder),
}

impl Filters {
    fn of(query: &mut Query) -> Self {
        let order = query.parse("order", "must be newest, oldest, title or largest", |text| {
            ORDERS.iter().find(|(name, ..)| *name == text)
        });
        Self {
            q: query.parse("q", "must have at most 200 characters", |text| {
                (text.chars().count() <= Q_MAX).then(|| text.to_owned())
            }),
            status: query.parse("status", "must be pending, ingested or failed", |text| {
                STATUSES.into_iter().find(|status| *status == text)
            }),
            owner: query.text("owner").map(|owner| owner.chars().take(Q_MAX).collect()),
            order: order.unwrap_or(&ORDERS[0]),
        }
    }

    /// Formats the filters as query parameters.
    fn pairs(&self) -> [(&'static str, Option<&str>); 4] {
        [
            ("q", self.q.as_deref()),
            ("status", self.status),
            ("owner", self.owner.as_deref()),
            ("order", (self.order.0 != ORDERS[0].0).then_some(self.order.0)),
        ]
    }

    async fn find(&self, staff: &Staff, context: &State, number: PageNumber) -> Result<Page<Document>> {
        let app = &context.app;
        let owner = match &self.owner {
            None => None,
            Some(email) => match listing::owner(app, email).await? {
                Some(owner) => Some(owner),
                None => return Ok(Page::default()),
            },
        };
        let query =
            DocumentQuery { status: self.status, title_contains: self.q.clone(), owner, order: self.order.2 };
        use_case::page(app, staff.actor.authorize()?, &query, number.page()).await
    }
}

pub(super) async fn documents(
    staff: Staff,
    context: State,
    mut query: Query,
) -> Result<HttpResponse, Broken> {
    staff.authorize::<ViewDocuments>()?;
    let (filters, number) = (Filters::of(&mut query), PageNumber::of(&query));
    query.done()?;
    let found = filters.find(&staff, &context, number).await?;
    let owners: Vec<UserId> = found.records.iter().filter_map(|document| document.owner).collect();
    let emails = users::emails(&context.app, &owners).await?;
    let now = context.app.now();
    let rows: Vec<_> = found.records.iter().map(|document| Row::of(document, &emails, now)).collect();

    let mut values = staff.page("documents");
    let path = format!("{ROOT}/documents");
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &filters.pairs()));
    values.insert("documents", &rows);
    values.insert("q", filters.q.as_deref().unwrap_or_default());
    values.insert("status", filters.status.unwrap_or_default());
    values.insert("owner", filters.owner.as_deref().unwrap_or_default());
    values.insert("order", filters.order.0);
    values.insert("orders", &ORDERS.map(|(name, label, _)| (name, label)));
    let is_filtered = filters.q.is_some() || filters.status.is_some() || filters.owner.is_some();
    values.insert("is_filtered", &is_filtered);
    values.insert("may_upload", &staff.authorize::<UploadDocuments>().is_ok());
    values.insert("may_retry", &(staff.authorize::<ChangeDocuments>().is_ok() || has_own(&staff, &found)));
    values.insert("may_delete", &(staff.authorize::<DeleteDocuments>().is_ok() || has_own(&staff, &found)));
    page::show(&context, StatusCode::OK, "documents.html", &values)
}

/// Whether the page contains own documents, which allow more actions.
fn has_own(staff: &Staff, found: &Page<Document>) -> bool {
    found.records.iter().any(|document| document.owner == Some(staff.actor.user()))
}
