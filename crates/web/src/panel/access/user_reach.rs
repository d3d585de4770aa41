//! What an account can read, on its page and at `GET /admin/users/{id}/collections`

use crate::language::{collection_name, t};
use crate::paging::{PageNumber, Paging};
use crate::panel::collections::role_name;
use crate::panel::nav::ROOT;
use crate::signed_in::page::{PageError, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::accounts::users;
use docent_app::collections::readers::{self as use_case, AccountReach, ReachedCollection, Reason};
use docent_domain::access::{Grant, ViewCollections, ViewDocuments, ViewUsers};
use docent_domain::collection::RoleSource;
use docent_domain::id::{GroupId, UserId};
use docent_domain::listing::PageRequest;
use docent_domain::permission::RecordKind;
use docent_http::{Query, State};
use serde::Serialize;
use std::collections::HashMap;

/// Collections shown on the page of an account.
const FIRST: PageRequest = PageRequest { offset: 0, limit: 10 };

#[derive(Serialize)]
pub(super) struct ReachPage {
    /// ID of the account.
    account: String,
    email: String,
    #[serde(flatten)]
    reach: ReachView,
    paging: Paging,
}

/// What an account can read.
#[derive(Serialize)]
pub(super) struct ReachView {
    /// Why it views all documents in the panel, if it does.
    views_all: Option<String>,
    collections: Vec<ReachRow>,
    /// Number of all collections that it has a role on.
    total: u64,
    may_view_documents: bool,
}

/// Table row of a collection that an account has a role on.
#[derive(Serialize)]
struct ReachRow {
    id: String,
    name: String,
    role: String,
    /// Where the role comes from.
    sources: String,
    documents: u64,
}

impl ReachRow {
    fn of(reached: &ReachedCollection, groups: &HashMap<GroupId, String>) -> Self {
        let source = |source: &RoleSource| match source {
            RoleSource::Owner => t!("reach-by-owner"),
            RoleSource::Member => t!("reach-by-member"),
            RoleSource::Group(id) => {
                t!("reach-by-group", name = groups.get(id).map_or("", String::as_str))
            }
            RoleSource::Everyone => t!("reach-by-everyone"),
        };
        let sources: Vec<_> = reached.sources.iter().map(source).collect();
        Self {
            id: reached.collection.id.to_string(),
            name: collection_name(reached.collection.name.as_str()),
            role: role_name(reached.role),
            sources: sources.join(", "),
            documents: reached.documents,
        }
    }
}

fn grants(staff: &Staff) -> Result<(Grant<ViewUsers>, Grant<ViewCollections>), PageError> {
    Ok((staff.authorize()?, staff.authorize()?))
}

impl ReachView {
    /// What an account can read, if the user may view it.
    pub(super) async fn read(staff: &Staff, context: &State, id: UserId) -> Result<Option<Self>, PageError> {
        let Ok(grants) = grants(staff) else { return Ok(None) };
        Ok(Some(Self::of(&use_case::of_account(&context.app, grants, id, FIRST).await?, staff)))
    }

    fn of(reach: &AccountReach, staff: &Staff) -> Self {
        Self {
            views_all: reach.views_all.map(|reason| match reason {
                Reason::Superuser => t!("reach-superuser"),
                Reason::Permission | Reason::Owner(_) | Reason::Role(..) => {
                    t!("reach-permission")
                }
            }),
            collections: reach.collections.records.iter().map(|of| ReachRow::of(of, &reach.groups)).collect(),
            total: reach.collections.total,
            may_view_documents: staff.can::<ViewDocuments>(),
        }
    }
}

pub(super) async fn collections(staff: Staff, context: State, id: Path<String>, query: Query) -> PageResult {
    let (grants, number) = (grants(&staff)?, PageNumber::of(&query));
    let id: UserId = id_of(RecordKind::User, &id)?;
    let account = users::get(&context.app, grants.0, id).await?;
    let reach = use_case::of_account(&context.app, grants, id, number.page()).await?;
    let shown = reach.collections.records.len();
    let path = format!("{ROOT}/users/{id}/collections");
    let page = ReachPage {
        account: id.to_string(),
        email: account.user.email.as_str().to_owned(),
        paging: Paging::of(number, shown, reach.collections.total, &path, &[]),
        reach: ReachView::of(&reach, &staff),
    };
    staff.show(&context, "users", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl ReachView {
        /// All documents, and those of one collection.
        pub(crate) fn samples() -> [Self; 2] {
            let view = |views_all, may_view_documents| Self {
                views_all,
                collections: vec![ReachRow {
                    id: "1".to_owned(),
                    name: "Collection".to_owned(),
                    role: "viewer".to_owned(),
                    sources: "member, group Legal".to_owned(),
                    documents: 2,
                }],
                total: 12,
                may_view_documents,
            };
            [
                view(Some("As a superuser, this account views all documents.".to_owned()), true),
                view(None, false),
            ]
        }
    }

    impl Samples for ReachPage {
        fn samples() -> Vec<Self> {
            let page = |reach| Self {
                account: "1".to_owned(),
                email: "a@example.com".to_owned(),
                reach,
                paging: Paging::sample(),
            };
            ReachView::samples().map(page).into()
        }
    }
}
