//! `GET /admin/api-keys`

use super::tables::{Emails, KeyRow};
use crate::panel::{
    listing::{PageNumber, Paging},
    nav::ROOT,
    page::{self, PageResult},
    session::Staff,
};
use actix_web::http::StatusCode;
use docent_app::{
    App,
    accounts::{api_keys as use_case, users},
    error::Error,
    listing,
};
use docent_domain::{
    access::ViewApiKeys,
    id::UserId,
    listing::{ApiKeyFilter, Page},
};
use docent_http::{context::State, extract::query::Query};

/// Account of a filter by email address. An unknown address yields an empty list.
pub(super) async fn account_of(app: &App, text: Option<&str>) -> Result<Option<Option<UserId>>, Error> {
    let Some(text) = text else { return Ok(None) };
    Ok(Some(listing::owner(app, text).await?))
}

pub(super) async fn api_keys(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewApiKeys>()?;
    let (app, now) = (&context.app, context.app.now());
    let is_good = query.parse("state", "must be good", |text| (text == "good").then_some(()));
    let number = PageNumber::of(&query);
    let asked = ["q", "user", "state"].map(|name| (name, query.text(name).map(str::to_owned)));
    query.done()?;
    let filters = asked.each_ref().map(|(name, value)| (*name, value.as_deref()));
    let [(_, q), (_, user), _] = filters;
    let found = match account_of(app, user).await? {
        Some(None) => Page::default(),
        user => {
            let filter = ApiKeyFilter {
                user: user.flatten(),
                valid_at: is_good.map(|()| now),
                text: q.map(str::to_owned),
            };
            use_case::list(app, grant, &filter, number.page()).await?
        }
    };
    let owners: Vec<_> = found.records.iter().map(|key| key.user).collect();
    let emails: Emails = users::emails(app, &owners).await?;
    let rows: Vec<_> = found.records.iter().map(|key| KeyRow::of(key, &emails, &staff, now)).collect();
    let mut values = staff.page("api-keys");
    for (name, value) in filters {
        values.insert(name, value.unwrap_or_default());
    }
    let path = format!("{ROOT}/api-keys");
    values.insert("paging", &Paging::of(number, rows.len(), found.total, &path, &filters));
    values.insert("is_filtered", &filters.iter().any(|(_, value)| value.is_some()));
    values.insert("keys", &rows);
    values.insert("has_owner", &true);
    values.insert("back", &path);
    values.insert("are_accepted", &app.settings().accepts_api_keys);
    page::show_values(&context, StatusCode::OK, "api_keys.html", &values)
}
