//! `GET /webhooks/{id}/deliveries`

use super::response::DeliveryResponse;
use crate::{openapi::answers, paging};
use actix_web::web::Path;
use docent_app::webhooks::own;
use docent_domain::{access::ManageWebhooks, listing::DeliveryPosition};
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted, query::Query},
};

/// Default number of deliveries on a page.
const LIMIT: u64 = 100;

/// List the deliveries of a webhook (extension)
///
/// Returns pending and finished deliveries of the last 30 days, newest first. The headers `Link` and `X-Next-Cursor` name the next page,
/// if there is one. Empty parameters are ignored.
#[utoipa::path(
    get, path = "/webhooks/{id}/deliveries", operation_id = "list_deliveries", tag = "Webhooks",
    params(
        ("id" = String, Path, description = "ID of the webhook.", format = "uuid"),
        (
            "limit" = Option<u64>, Query, description = "Maximum number of records. Default: 100.", minimum = 1, maximum = 1000,
            nullable = false,
        ),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the previous page.", nullable = false,
            pattern = r"^([0-9]{1,15}\.[0-9a-f]{32})?$", example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e",
        ),
    ),
    responses(
        (
            status = 200, description = "The deliveries.", body = [DeliveryResponse<'_>],
            headers(
                ("Link" = String, description = "URL of the next page, with `rel=\"next\"`, if there is one."),
                ("X-Next-Cursor" = String, description = "The `cursor` of the next page, if there is one."),
            ),
        ),
        answers::Guarded,
        answers::NoWebhook,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn deliveries(
    by: Granted<ManageWebhooks>,
    context: State,
    id: Path<String>,
    mut query: Query,
) -> Reply {
    let id = extract::id("id", &id)?;
    let limit = paging::limit(&mut query).unwrap_or(LIMIT);
    let after = paging::after(&mut query, paging::position);
    query.done()?;
    let after = after.map(|(created_at, id)| DeliveryPosition { created_at, id });
    // One more than requested shows whether there is another page.
    let mut found = own::deliveries(&context.app, &by.grant, id, after, limit + 1).await?;
    let next = paging::truncate(&mut found, limit, |last| paging::cursor(last.created_at, last.id));
    let body: Vec<_> = found.iter().map(DeliveryResponse::from).collect();
    Ok(paging::response(body, &format!("/webhooks/{id}/deliveries"), &[], limit, next))
}
