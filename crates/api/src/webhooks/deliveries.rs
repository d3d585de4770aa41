//! `GET /webhooks/{id}/deliveries`
//!
//! As `GET /documents`, the body is an array, and where the next page begins is told in headers.

use super::response::DeliveryResponse;
use crate::openapi::answers;
use actix_web::{HttpResponse, http::header, web::Path};
use chrono::DateTime;
use docent_app::webhooks::own;
use docent_domain::{access::ManageWebhooks, listing::DeliveryPosition, webhook::WebhookDelivery};
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted, query::Query},
};

/// Deliveries on a page, when nobody says how many.
const LIMIT: u64 = 100;
/// The largest page.
const LIMIT_MAX: u64 = 1000;

/// Read what a webhook was told (extension)
///
/// And what it is still to be told, newest first, of the last 30 days. The headers `Link` and `X-Next-Cursor` lead to the rest, if there is
/// one. A parameter that is empty counts as absent.
#[utoipa::path(
    get, path = "/webhooks/{id}/deliveries", operation_id = "list_deliveries", tag = "Webhooks",
    params(
        ("id" = String, Path, description = "The webhook's id.", format = "uuid"),
        (
            "limit" = Option<u64>, Query, description = "How many at most; 100 when left out.", minimum = 1, maximum = 1000,
            nullable = false,
        ),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the page before.", nullable = false,
            pattern = r"^([0-9]{1,15}\.[0-9a-f]{32})?$", example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e",
        ),
    ),
    responses(
        (
            status = 200, description = "The deliveries.", body = [DeliveryResponse<'_>],
            headers(
                ("Link" = String, description = "With `rel=\"next\"`: where the next page is, if there is one."),
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
    let limit = query.parse("limit", "must be a whole number from 1 to 1000", |text| {
        text.parse().ok().filter(|limit| (1..=LIMIT_MAX).contains(limit))
    });
    let limit = limit.unwrap_or(LIMIT);
    let after = query.parse("cursor", "is not a cursor of this list", position);
    query.done()?;
    // One more than asked for tells whether there is another page.
    let mut found = own::deliveries(&context.app, &by.grant, id, after, limit + 1).await?;

    let mut response = HttpResponse::Ok();
    if found.len() as u64 > limit {
        found.truncate(limit as usize);
        if let Some(last) = found.last() {
            let cursor = cursor(last);
            let link = format!("</webhooks/{id}/deliveries?limit={limit}&cursor={cursor}>; rel=\"next\"");
            response.insert_header((header::LINK, link)).insert_header(("X-Next-Cursor", cursor));
        }
    }
    Ok(response.json(found.iter().map(DeliveryResponse::from).collect::<Vec<_>>()))
}

/// The place of a delivery in the log, as text.
fn cursor(delivery: &WebhookDelivery) -> String {
    format!("{}.{}", delivery.created_at.timestamp_micros(), delivery.id.as_uuid().simple())
}

fn position(cursor: &str) -> Option<DeliveryPosition> {
    let (micros, id) = cursor.split_once('.')?;
    Some(DeliveryPosition {
        created_at: DateTime::from_timestamp_micros(micros.parse().ok()?)?,
        id: id.parse().ok()?,
    })
}
