//! `GET /admin/users`

use crate::panel::{
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, PageResult},
    session::Staff,
    times::Time,
};
use actix_web::http::StatusCode;
use chrono::{DateTime, Utc};
use docent_app::accounts::{groups, users as use_case};
use docent_domain::{
    access::{AddUsers, ViewUsers},
    listing::{UserFilter, UserOrder},
    user::User,
};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

#[derive(Serialize)]
struct Row {
    id: String,
    email: String,
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
            is_active: user.is_active,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            created: Time::of(user.created_at, now),
            last_login: user.last_login_at.map(|at| Time::of(at, now)),
        }
    }
}

/// Query values of a yes-or-no filter.
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
        group: query.parse("group", "must be the ID of a group", |text| text.parse().ok()),
        order: query.parse("order", "must be email, newest or last-login", order).unwrap_or_default(),
    };
    let number = PageNumber::of(&query);
    let text = |name| query.text(name).map(str::to_owned);
    let asked = ["q", "active", "staff", "group", "order"].map(|name| (name, text(name)));
    query.done()?;
    let app = &context.app;
    let found = use_case::list(app, grant, &filter, number.page()).await?;
    let group_names: Vec<(String, String)> = groups::choices(app)
        .await?
        .into_iter()
        .map(|group| (group.id.to_string(), group.name.as_str().to_owned()))
        .collect();
    let now = app.now();
    let mut values = staff.page("users");
    let filters = asked.each_ref().map(|(name, value)| (*name, value.as_deref()));
    for (name, value) in filters {
        values.insert(name, value.unwrap_or_default());
    }
    let path = format!("{ROOT}/users");
    values.insert("paging", &Paging::of(number, found.records.len(), found.total, &path, &filters));
    values.insert("is_filtered", &filters.iter().any(|(name, value)| *name != "order" && value.is_some()));
    values.insert("users", &found.records.iter().map(|user| Row::of(user, now)).collect::<Vec<_>>());
    values.insert("groups", &group_names);
    values.insert("may_add", &staff.actor.authorize::<AddUsers>().is_ok());
    page::show_values(&context, StatusCode::OK, "users.html", &values)
}
