//! `GET /admin/find`: pages and records by name. The command palette shows the links of this page.

use super::documents::cut;
use super::nav::{self, ROOT};
use crate::language::t;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use docent_app::accounts::{api_keys, groups, users};
use docent_app::collections::browse as collections;
use docent_app::documents::browse as documents;
use docent_app::error::Result;
use docent_app::{App, conversations};
use docent_domain::listing::{
    ApiKeyFilter, ConversationFilter, DocumentOrder, DocumentQuery, Page, PageRequest, UserFilter,
};
use docent_http::extract::query::encode_query;
use docent_http::{Query, State};
use serde::Serialize;
use std::fmt::Display;

/// Maximum number of records of a kind.
const HITS: PageRequest = PageRequest { offset: 0, limit: 5 };

#[derive(Serialize)]
pub(super) struct FindPage {
    q: String,
    kinds: Vec<Hits>,
}

/// Pages or records of a kind whose name contains the text.
#[derive(Serialize)]
struct Hits {
    title: String,
    links: Vec<Hit>,
    /// Number of all records, and the list with them, if there are more.
    more: Option<(u64, String)>,
}

#[derive(Serialize)]
struct Hit {
    label: String,
    href: String,
}

pub(super) async fn find(staff: Staff, context: State, query: Query) -> PageResult {
    let q = query.text("q").map(cut).unwrap_or_default();
    query.done()?;
    let mut kinds = vec![pages(&staff, &q)];
    if !q.trim().is_empty() {
        kinds.extend(records(&context.app, &staff, q.trim()).await?);
    }
    kinds.retain(|kind| !kind.links.is_empty());
    staff.show(&context, "find", FindPage { q, kinds })
}

/// Pages of the menu.
fn pages(staff: &Staff, q: &str) -> Hits {
    let wanted = q.trim().to_lowercase();
    let links = nav::pages(&staff.actor).filter(|(label, _)| label.to_lowercase().contains(&wanted));
    let links = links.map(|(label, href)| Hit { label, href });
    Hits { title: t!("pages"), links: links.collect(), more: None }
}

/// Records of the kinds that the user may view.
async fn records(app: &App, staff: &Staff, q: &str) -> Result<Vec<Hits>> {
    let (actor, text) = (&staff.actor, || Some(q.to_owned()));
    let mut kinds = Vec::new();
    if let Ok(grant) = actor.authorize() {
        let query = DocumentQuery {
            status: None,
            failure: None,
            title_contains: text(),
            owner: None,
            collection: None,
            order: DocumentOrder::Newest,
        };
        let found = documents::page(app, grant, &query, HITS).await?;
        kinds.push(hits("documents", q, &found, |document| (document.title.as_str(), document.id)));
    }
    let found = collections::page(app, actor, text(), None, HITS).await?;
    kinds.push(hits("collections", q, &found, |(collection, _)| (collection.name.as_str(), collection.id)));
    if let Ok(grant) = actor.authorize() {
        let filter = UserFilter { text: text(), ..UserFilter::default() };
        let found = users::list(app, grant, &filter, HITS).await?;
        kinds.push(hits("users", q, &found, |user| (user.email.as_str(), user.id)));
    }
    if let Ok(grant) = actor.authorize() {
        let found = groups::list(app, grant, Some(q), HITS).await?;
        kinds.push(hits("groups", q, &found, |(group, _)| (group.name.as_str(), group.id)));
    }
    if let Ok(grant) = actor.authorize() {
        let filter = ApiKeyFilter { text: text(), ..ApiKeyFilter::default() };
        let found = api_keys::list(app, grant, &filter, HITS).await?;
        kinds.push(hits("api-keys", q, &found, |key| (key.name.as_str(), key.id)));
    }
    if let Ok(grant) = actor.authorize() {
        let filter = ConversationFilter { text: text(), ..ConversationFilter::default() };
        let found = conversations::list(app, grant, &filter, HITS).await?;
        kinds.push(hits("conversations", q, &found, |(found, _)| (found.title.as_str(), found.id)));
    }
    Ok(kinds)
}

/// Links to the found records of a section.
fn hits<'r, R, I: Display>(
    section: &str,
    q: &str,
    found: &'r Page<R>,
    name: impl Fn(&'r R) -> (&'r str, I),
) -> Hits {
    let link = |record| {
        let (label, id) = name(record);
        Hit { label: label.to_owned(), href: format!("{ROOT}/{section}/{id}") }
    };
    let more = (found.total > found.records.len() as u64)
        .then(|| (found.total, format!("{ROOT}/{section}?{}", encode_query(&[("q", Some(q))]))));
    Hits { title: nav::label(section), links: found.records.iter().map(link).collect(), more }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for FindPage {
        fn samples() -> Vec<Self> {
            let hits = |more| Hits {
                title: "Documents".to_owned(),
                links: vec![Hit { label: "Title".to_owned(), href: "/admin/documents/1".to_owned() }],
                more,
            };
            let more = Some((12, "/admin/documents?q=a".to_owned()));
            let page = |q: &str, kinds| Self { q: q.to_owned(), kinds };
            vec![page("a", vec![hits(more), hits(None)]), page("a", Vec::new()), page("", vec![hits(None)])]
        }
    }
}
