//! `GET /admin/groups`

use crate::panel::{
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, PageResult},
    session::Staff,
    times::Time,
};
use actix_web::http::StatusCode;
use docent_app::accounts::groups as use_case;
use docent_domain::access::{AddGroups, ViewGroups};
use docent_http::{context::State, extract::query::Query};
use serde::Serialize;

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
    let (number, q) = (PageNumber::of(&query), query.text("q"));
    let found = use_case::list(&context.app, grant, q, number.page()).await?;
    let now = context.app.now();
    let rows: Vec<Row> = found
        .records
        .iter()
        .map(|(group, members)| Row {
            id: group.id.to_string(),
            name: group.name.as_str().to_owned(),
            permissions: group.permissions.iter().count(),
            members: *members,
            created: Time::of(group.created_at, now),
        })
        .collect();
    let mut values = staff.page("groups");
    let path = format!("{ROOT}/groups");
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &[("q", q)]));
    values.insert("groups", &rows);
    values.insert("q", q.unwrap_or_default());
    values.insert("is_filtered", &q.is_some());
    values.insert("may_add", &staff.actor.authorize::<AddGroups>().is_ok());
    page::show_values(&context, StatusCode::OK, "groups.html", &values)
}
