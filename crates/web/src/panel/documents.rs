//! `GET /admin/documents`

use super::listing::{self, List, find_of_account};
use crate::language::{self, Label, collection_name, t};
use crate::paging::PageNumber;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::{Time, size};
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::collections::{browse, names};
use docent_app::documents::browse as use_case;
use docent_app::error::Result;
use docent_app::scope;
use docent_domain::access::{ChangeDocuments, DeleteDocuments, UploadDocuments, ViewDocuments};
use docent_domain::collection::CollectionRole;
use docent_domain::document::{Document, DocumentState, Failure, FailureCode};
use docent_domain::id::{CollectionId, UserId};
use docent_domain::listing::{DocumentOrder, DocumentQuery, Page};
use docent_domain::scope::Scope;
use docent_domain::text::Email;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashMap;

/// Maximum length of a search text in characters.
const Q_MAX: usize = 200;
const STATUSES: [&str; 3] = ["pending", "ingested", "failed"];
/// Sort orders by query value, with their labels.
const ORDERS: [(&str, Label, DocumentOrder); 4] = [
    ("newest", || t!("order-newest"), DocumentOrder::Newest),
    ("oldest", || t!("order-oldest"), DocumentOrder::Oldest),
    ("title", || t!("order-by-title"), DocumentOrder::Title),
    ("largest", || t!("order-largest"), DocumentOrder::Largest),
];

#[derive(Serialize)]
pub(super) struct DocumentsPage {
    #[serde(flatten)]
    list: List<Row>,
    /// Query values and labels of the sort orders.
    orders: [(&'static str, String); 4],
    /// IDs and names of collections for the filter and for actions.
    collections: Vec<(String, String)>,
    /// Codes and reasons of failures for the filter.
    failures: Vec<(&'static str, String)>,
    may_upload: bool,
    may_retry: bool,
    may_delete: bool,
    /// Whether the collections of a listed document can be changed.
    may_label: bool,
}

/// Table row of a document.
#[derive(Serialize)]
pub(super) struct Row {
    id: String,
    short_id: String,
    title: String,
    status: &'static str,
    reason: Option<String>,
    /// What a person can do about the failure.
    advice: Option<String>,
    pages: Option<u32>,
    /// Number of pages without text, if a document that is ready has text on less than half of them.
    without_text: Option<u32>,
    chunks: Option<u32>,
    size: Option<String>,
    owner: Option<String>,
    created: Time,
}

impl Row {
    pub(super) fn of(document: &Document, emails: &HashMap<UserId, Email>, now: DateTime<Utc>) -> Self {
        let failure = match &document.state {
            DocumentState::Failed(failed) => Some(&failed.failure),
            DocumentState::Pending(_) | DocumentState::Ingested(_) => None,
        };
        let partly = document.coverage.as_ref().filter(|coverage| {
            matches!(document.state, DocumentState::Ingested(_)) && coverage.lacks_most_text()
        });
        let id = document.id.to_string();
        Self {
            short_id: short(&id),
            id,
            title: document.title.as_str().to_owned(),
            status: document.state.name(),
            reason: failure.map(reason),
            advice: failure.map(|failure| language::named("advice-", failure.code.as_str())),
            pages: document.coverage.as_ref().map(|coverage| coverage.pages),
            without_text: partly.map(|coverage| coverage.pages - coverage.pages_with_text()),
            chunks: document.coverage.as_ref().map(|coverage| coverage.chunks),
            size: document.file.as_ref().map(|file| size(file.bytes)),
            owner: document.owner.map(|owner| email(emails, owner)),
            created: Time::of(document.created_at, now),
        }
    }
}

/// Why a document failed. In English, the text of the API, which can say more.
fn reason(failure: &Failure) -> String {
    if language::current().is_default() {
        failure.reason.clone()
    } else {
        language::named("failure-", failure.code.as_str())
    }
}

/// Cuts a search text to the maximum length.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(Q_MAX).collect()
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
    failure: Option<FailureCode>,
    owner: Option<String>,
    collection: Option<CollectionId>,
    order: &'static (&'static str, Label, DocumentOrder),
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
            failure: query.parse("failure", "must be a failure code", FailureCode::parse),
            owner: query.text("owner").map(cut),
            collection: query.parse("collection", "must be the ID of a collection", |text| text.parse().ok()),
            order: order.unwrap_or(&ORDERS[0]),
        }
    }

    fn values(self) -> listing::Filters<6> {
        let order = (self.order.0 != ORDERS[0].0).then(|| self.order.0.to_owned());
        let collection = self.collection.map(|id| id.to_string());
        [
            ("q", self.q),
            ("status", self.status.map(str::to_owned)),
            ("failure", self.failure.map(|code| code.as_str().to_owned())),
            ("owner", self.owner),
            ("collection", collection),
            ("order", order),
        ]
    }

    async fn find(&self, staff: &Staff, context: &State, number: PageNumber) -> Result<Page<Document>> {
        let grant = staff.actor.authorize()?;
        let find = async |owner| {
            let (title_contains, order) = (self.q.clone(), self.order.2);
            let collection = self.collection;
            let (status, failure) = (self.status, self.failure);
            let query = DocumentQuery { status, failure, title_contains, owner, collection, order };
            use_case::page(&context.app, grant, &query, number.page()).await
        };
        find_of_account(&context.app, self.owner.as_deref(), find).await
    }
}

pub(super) async fn documents(staff: Staff, context: State, mut query: Query) -> PageResult {
    staff.authorize::<ViewDocuments>()?;
    let (filters, number) = (Filters::of(&mut query), PageNumber::of(&query));
    query.done()?;
    let found = filters.find(&staff, &context, number).await?;
    let owners: Vec<UserId> = found.records.iter().filter_map(|document| document.owner).collect();
    let emails = users::emails(&context.app, &owners).await?;
    let now = context.app.now();
    let rows = found.records.iter().map(|document| Row::of(document, &emails, now)).collect();
    let scope = scope::load(&context.app, &staff.actor).await?;
    let rights: Vec<_> = found.records.iter().map(|of| Rights::of(&staff, &scope, of)).collect();
    let page = DocumentsPage {
        collections: collections(&staff, &context, filters.collection).await?,
        list: List::of("documents", number, filters.values(), found.total, rows),
        orders: ORDERS.map(|(name, label, _)| (name, label())),
        failures: failures(),
        may_upload: staff.can::<UploadDocuments>(),
        may_retry: rights.iter().any(|rights| rights.may_change),
        may_delete: rights.iter().any(|rights| rights.may_delete),
        may_label: rights.iter().any(|rights| rights.may_label),
    };
    staff.show(&context, "documents", page)
}

/// Codes and reasons of failures.
fn failures() -> Vec<(&'static str, String)> {
    let label = |code: &FailureCode| (code.as_str(), language::named("failure-", code.as_str()));
    FailureCode::ALL.iter().map(label).collect()
}

/// IDs and names of collections to choose from, with the chosen one.
pub(super) async fn collections(
    staff: &Staff,
    context: &State,
    chosen: Option<CollectionId>,
) -> Result<Vec<(String, String)>> {
    let choices = browse::choices(&context.app, &staff.actor).await?;
    let mut options: Vec<_> =
        choices.iter().map(|of| (of.id.to_string(), collection_name(of.name.as_str()))).collect();
    if let Some(id) = chosen.filter(|id| choices.iter().all(|of| of.id != *id)) {
        let name = names(&context.app, &[id]).await?.remove(&id);
        options.push((id.to_string(), name.unwrap_or_else(|| short(&id.to_string()))));
    }
    Ok(options)
}

/// What the user may do with a document.
pub(super) struct Rights {
    pub(super) may_change: bool,
    pub(super) may_delete: bool,
    /// Whether it may take the document out of a collection, or change its collections and attributes.
    pub(super) may_label: bool,
}

impl Rights {
    pub(super) fn of(staff: &Staff, scope: &Scope, document: &Document) -> Self {
        let may_change = staff.actor.authorize_on::<ChangeDocuments>(scope, document).is_ok();
        let manages = |id: &CollectionId| scope.role_in(*id) == Some(CollectionRole::Manager);
        Self {
            may_change,
            may_delete: staff.actor.authorize_on::<DeleteDocuments>(scope, document).is_ok(),
            may_label: may_change || document.collections.iter().any(manages),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Row {
        /// A document with all values, and one with none.
        pub(crate) fn samples() -> Vec<Self> {
            let empty = || Self {
                id: "00000000-0000-0000-0000-000000000001".to_owned(),
                short_id: "00000001".to_owned(),
                title: "Title".to_owned(),
                status: "pending",
                reason: None,
                advice: None,
                pages: None,
                without_text: None,
                chunks: None,
                size: None,
                owner: None,
                created: Time::sample(),
            };
            let full = Self {
                status: "failed",
                reason: Some("the file is not a PDF".to_owned()),
                advice: Some("export or print it as a PDF, and upload that".to_owned()),
                pages: Some(1),
                without_text: Some(1),
                chunks: Some(2),
                size: Some(size(3)),
                owner: Some("owner@example.com".to_owned()),
                ..empty()
            };
            vec![full, empty()]
        }
    }

    impl Samples for DocumentsPage {
        fn samples() -> Vec<Self> {
            let mut is_allowed = false;
            let page = |list| {
                is_allowed = !is_allowed;
                Self {
                    list,
                    orders: ORDERS.map(|(name, label, _)| (name, label())),
                    collections: vec![("1".to_owned(), "Everyone".to_owned())],
                    failures: failures(),
                    may_upload: is_allowed,
                    may_retry: is_allowed,
                    may_delete: is_allowed,
                    may_label: is_allowed,
                }
            };
            let lists =
                List::sample_pages(["q", "status", "failure", "owner", "collection", "order"], Row::samples);
            lists
                .into_iter()
                .chain(List::sample_pages(
                    ["q", "status", "failure", "owner", "collection", "order"],
                    Row::samples,
                ))
                .map(page)
                .collect()
        }
    }
}
