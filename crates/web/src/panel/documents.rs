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
use docent_app::{
    accounts::users,
    documents::browse as use_case,
    error::Result,
    listing::{self, DocumentOrder, DocumentQuery, Page},
};
use docent_domain::{
    access::{ChangeDocuments, DeleteDocuments, UploadDocuments, ViewDocuments},
    document::{Document, DocumentState},
    id::UserId,
    text::Email,
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;
use std::collections::HashMap;

/// The most characters to search for.
pub(super) const Q_MAX: usize = 200;
const STATUSES: [&str; 3] = ["pending", "ingested", "failed"];
/// The orders of the list, by what they are called in addresses, and what people call them.
const ORDERS: [(&str, &str, DocumentOrder); 4] = [
    ("newest", "newest first", DocumentOrder::Newest),
    ("oldest", "oldest first", DocumentOrder::Oldest),
    ("title", "by title", DocumentOrder::Title),
    ("largest", "largest first", DocumentOrder::Largest),
];

/// A document as a line of a table.
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

/// The end of an id: ids begin with their time, and neighbours alike.
pub(super) fn short(id: &str) -> String {
    id.chars().skip(28).collect()
}

/// What an account is called: its address, or the end of its id when it is gone.
pub(super) fn email(emails: &HashMap<UserId, Email>, id: UserId) -> String {
    emails.get(&id).map_or_else(|| short(&id.to_string()), |email| email.as_str().to_owned())
}

/// The filters of the list, as the address tells them.
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

    /// As parameters of an address.
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
    let now = context.app.clock.now();
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

/// Whether a document of the page is one's own, with which one may do more.
fn has_own(staff: &Staff, found: &Page<Document>) -> bool {
    found.records.iter().any(|document| document.owner == Some(staff.actor.user()))
}
