//! `GET /admin/api-keys`

use crate::paging::PageNumber;
use crate::panel::listing::{List, filters, find_of_account};
use crate::signed_in::page::PageResult;
use crate::signed_in::rows::{self, Emails, KeyRow};
use crate::signed_in::session::Staff;
use docent_app::accounts::{api_keys as use_case, users};
use docent_domain::access::ViewApiKeys;
use docent_domain::listing::ApiKeyFilter;
use docent_http::{Query, State};
use serde::Serialize;

const FILTERS: [&str; 4] = ["q", "user", "kind", "state"];

#[derive(Serialize)]
pub(super) struct ApiKeysPage {
    #[serde(flatten)]
    list: List<KeyRow>,
    /// Whether the API accepts API keys.
    are_accepted: bool,
}

pub(super) async fn api_keys(staff: Staff, context: State, mut query: Query) -> PageResult {
    let grant = staff.authorize::<ViewApiKeys>()?;
    let (app, now) = (&context.app, context.app.now());
    let is_valid = query.parse("state", "must be good", |text| (text == "good").then_some(()));
    let is_connected = query.parse("kind", "must be key or application", |text| match text {
        "key" => Some(false),
        "application" => Some(true),
        _ => None,
    });
    let (number, filters) = (PageNumber::of(&query), filters(&query, FILTERS));
    query.done()?;
    let [(_, text), (_, user), ..] = &filters;
    let find = async |user| {
        let filter =
            ApiKeyFilter { user, valid_at: is_valid.map(|()| now), text: text.clone(), is_connected };
        use_case::list(app, grant, &filter, number.page()).await
    };
    let found = find_of_account(app, user.as_deref(), find).await?;
    let emails: Emails = users::emails(app, &rows::accounts_of(&found.records)).await?;
    let rows = found.records.iter().map(|key| KeyRow::of(key, &emails, &staff, now)).collect();
    let list = List::of("api-keys", number, filters, found.total, rows);
    let are_accepted = app.settings().accepts_api_keys;
    staff.show(&context, "api-keys", ApiKeysPage { list, are_accepted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ApiKeysPage {
        fn samples() -> Vec<Self> {
            let page = |list| Self { list, are_accepted: false };
            List::sample_pages(FILTERS, KeyRow::samples).map(page).into()
        }
    }
}
