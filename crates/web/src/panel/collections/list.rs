//! `GET /admin/collections`

use super::names;
use crate::language::collection_name;
use crate::paging::PageNumber;
use crate::panel::documents::email;
use crate::panel::listing::{List, filters};
use crate::signed_in::page::PageResult;
use crate::signed_in::rows::Emails;
use crate::signed_in::session::Staff;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_app::accounts::users;
use docent_app::collections::browse;
use docent_domain::access::ViewCollections;
use docent_domain::collection::{Collection, CollectionKind};
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct CollectionsPage {
    #[serde(flatten)]
    list: List<Row>,
    /// Names and labels of the kinds.
    kinds: Vec<(&'static str, String)>,
    /// Whether the list has only the collections that the user has a role on.
    is_own: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    kind: String,
    owner: Option<String>,
    /// Role of every account.
    role_of_all: Option<String>,
    members: u64,
    documents: u64,
    created: Option<Time>,
}

impl Row {
    fn of(collection: &Collection, sizes: [u64; 2], emails: &Emails, now: DateTime<Utc>) -> Self {
        let [members, documents] = sizes;
        Self {
            id: collection.id.to_string(),
            name: collection_name(collection.name.as_str()),
            kind: names::kind(collection.kind),
            owner: collection.owner.map(|owner| email(emails, owner)),
            role_of_all: collection.role_of_all.map(names::role_name),
            members,
            documents,
            created: names::created(collection, now),
        }
    }
}

fn kinds() -> Vec<(&'static str, String)> {
    CollectionKind::ALL.iter().map(|kind| (kind.name(), names::kind(*kind))).collect()
}

pub(super) async fn collections(staff: Staff, context: State, mut query: Query) -> PageResult {
    let kind = query.parse("kind", "must be everyone, personal or shared", CollectionKind::parse);
    let (number, text) = (PageNumber::of(&query), query.text("q").map(str::to_owned));
    let filters = filters(&query, ["q", "kind"]);
    query.done()?;
    let (app, now) = (&context.app, context.app.now());
    let found = browse::page(app, &staff.actor, text, kind, number.page()).await?;
    let owners: Vec<_> = found.records.iter().filter_map(|(collection, _)| collection.owner).collect();
    let emails = users::emails(app, &owners).await?;
    let rows = found.records.iter();
    let rows = rows.map(|(of, size)| Row::of(of, [size.members, size.documents], &emails, now)).collect();
    let page = CollectionsPage {
        list: List::of("collections", number, filters, found.total, rows),
        kinds: kinds(),
        is_own: !staff.can::<ViewCollections>(),
    };
    staff.show(&context, "collections", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for CollectionsPage {
        fn samples() -> Vec<Self> {
            let row = |owner: Option<&str>, role_of_all: Option<&str>| Row {
                id: "1".to_owned(),
                name: "Collection".to_owned(),
                kind: "shared".to_owned(),
                owner: owner.map(str::to_owned),
                role_of_all: role_of_all.map(str::to_owned),
                members: 2,
                documents: 3,
                created: owner.map(|_| Time::sample()),
            };
            let rows = || vec![row(Some("a@example.com"), None), row(None, Some("viewer"))];
            let pages = |is_own| {
                List::sample_pages(["q", "kind"], rows).map(|list| Self { list, kinds: kinds(), is_own })
            };
            [pages(true), pages(false)].into_iter().flatten().collect()
        }
    }
}
