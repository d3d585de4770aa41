//! `GET /admin/groups`

use crate::paging::PageNumber;
use crate::panel::listing::List;
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::Time;
use docent_app::accounts::groups as use_case;
use docent_domain::access::{AddGroups, ViewGroups};
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct GroupsPage {
    #[serde(flatten)]
    list: List<Row>,
    may_add: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    name: String,
    permissions: usize,
    members: u64,
    created: Time,
}

pub(super) async fn groups(staff: Staff, context: State, query: Query) -> PageResult {
    let grant = staff.authorize::<ViewGroups>()?;
    let (number, text) = (PageNumber::of(&query), query.text("q"));
    let found = use_case::list(&context.app, grant, text, number.page()).await?;
    let now = context.app.now();
    let rows = found.records.iter().map(|(group, members)| Row {
        id: group.id.to_string(),
        name: group.name.as_str().to_owned(),
        permissions: group.permissions.iter().count(),
        members: *members,
        created: Time::of(group.created_at, now),
    });
    let list = List::of("groups", number, [("q", text.map(str::to_owned))], found.total, rows.collect());
    staff.show(&context, "groups", GroupsPage { list, may_add: staff.can::<AddGroups>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for GroupsPage {
        fn samples() -> Vec<Self> {
            let rows = || {
                vec![Row {
                    id: "1".to_owned(),
                    name: "Group".to_owned(),
                    permissions: 2,
                    members: 3,
                    created: Time::sample(),
                }]
            };
            let pages = |may_add| List::sample_pages(["q"], rows).map(|list| Self { list, may_add });
            [pages(true), pages(false)].into_iter().flatten().collect()
        }
    }
}
