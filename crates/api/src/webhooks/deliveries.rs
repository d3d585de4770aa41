//! `GET /webhooks/{id}/deliveries`

use super::response::DeliveryResponse;
use crate::answers;
use crate::paging;
use docent_app::webhooks::own;
use docent_domain::access::ManageWebhooks;
use docent_domain::id::WebhookId;
use docent_domain::listing::DeliveryPosition;
use docent_http::{Granted, PathId, Query, Reply, State};

/// List the deliveries of a webhook (extension)
///
/// Returns pending and finished deliveries of the last 30 days, newest first. The headers `Link` and `X-Next-Cursor` name the next page,
/// if there is one. Empty parameters are ignored.
#[utoipa::path(
    get, path = "/webhooks/{id}/deliveries", operation_id = "list_deliveries", tag = "Webhooks",
    params(("id" = String, Path, description = "ID of the webhook.", format = "uuid"), paging::Parameters),
    responses((status = 200, description = "The deliveries.", body = [DeliveryResponse<'_>]), answers::UnknownWebhook),
)]
pub(crate) async fn deliveries(
    by: Granted<ManageWebhooks>,
    context: State,
    id: PathId<WebhookId>,
    mut query: Query,
) -> Reply {
    let id = id.parse()?;
    let limit = paging::limit(&mut query).unwrap_or(paging::DEFAULT_LIMIT);
    let after = paging::after(&mut query, paging::position);
    query.done()?;
    let after = after.map(|(created_at, id)| DeliveryPosition { created_at, id });
    // One more than requested shows whether there is another page.
    let mut found = own::deliveries(&context.app, &by.grant, id, after, limit + 1).await?;
    let next = paging::truncate(&mut found, limit, |last| paging::cursor(last.created_at, last.id));
    let body: Vec<_> = found.iter().map(DeliveryResponse::from).collect();
    Ok(paging::response(body, &format!("/webhooks/{id}/deliveries"), &[], limit, next))
}
