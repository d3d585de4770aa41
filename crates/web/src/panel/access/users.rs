//! `GET /admin/users`

use crate::paging::PageNumber;
use crate::panel::listing::{List, filters};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_app::accounts::{groups, users as use_case};
use docent_domain::access::{AddInvitations, AddUsers, ViewUsers};
use docent_domain::listing::{UserFilter, UserOrder};
use docent_domain::user::User;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct UsersPage {
    #[serde(flatten)]
    list: List<Row>,
    /// IDs and names of the groups.
    groups: Vec<(String, String)>,
    may_add: bool,
    may_invite: bool,
}

#[derive(Serialize)]
struct Row {
    id: String,
    email: String,
    /// Name that the person chose.
    name: Option<String>,
    is_active: bool,
    is_staff: bool,
    is_superuser: bool,
    created: Time,
    last_login: Option<Time>,
}

impl Row {
    fn of(user: &User, now: DateTime<Utc>) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email.as_str().to_owned(),
            name: user.name.as_ref().map(String::from),
            is_active: user.is_active,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            created: Time::of(user.created_at, now),
            last_login: user.last_login_at.map(|at| Time::of(at, now)),
        }
    }
}

const FILTERS: [&str; 5] = ["q", "active", "staff", "group", "order"];

/// Parses a yes-or-no filter.
fn yes_or_no(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

pub(super) async fn users(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewUsers>()?;
    let order = |text: &str| match text {
        "email" => Some(UserOrder::Email),
        "newest" => Some(UserOrder::Newest),
        "last-login" => Some(UserOrder::LastLogin),
        _ => None,
    };
    let filter = UserFilter {
        text: query.text("q").map(str::to_owned),
        is_active: query.parse("active", "must be yes or no", yes_or_no),
        can_use_panel: query.parse("staff", "must be yes or no", yes_or_no),
        is_superuser: None,
        permission: None,
        group: query.parse("group", "must be the ID of a group", |text| text.parse().ok()),
        order: query.parse("order", "must be email, newest or last-login", order).unwrap_or_default(),
    };
    let number = PageNumber::of(&query);
    let filters = filters(&query, FILTERS);
    query.done()?;
    let (app, now) = (&context.app, context.app.now());
    let found = use_case::list(app, grant, &filter, number.page()).await?;
    let rows = found.records.iter().map(|user| Row::of(user, now)).collect();
    let groups = groups::all(app).await?;
    let page = UsersPage {
        list: List::of("users", number, filters, found.total, rows),
        groups: groups.iter().map(|group| (group.id.to_string(), group.name.as_str().to_owned())).collect(),
        may_add: staff.can::<AddUsers>(),
        may_invite: staff.can::<AddInvitations>(),
    };
    staff.show(&context, "users", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for UsersPage {
        fn samples() -> Vec<Self> {
            let row = |is_active, is_staff, is_superuser, last_login| Row {
                id: "1".to_owned(),
                email: "a@example.com".to_owned(),
                name: Some("Ada".to_owned()),
                is_active,
                is_staff,
                is_superuser,
                created: Time::sample(),
                last_login,
            };
            let rows = || {
                vec![
                    row(true, true, true, Some(Time::sample())),
                    row(false, true, false, None),
                    row(true, false, false, None),
                ]
            };
            let groups = || vec![("1".to_owned(), "Group".to_owned())];
            List::sample_pages(FILTERS, rows)
                .map(|list| Self { list, groups: groups(), may_add: true, may_invite: true })
                .into()
        }
    }
}
