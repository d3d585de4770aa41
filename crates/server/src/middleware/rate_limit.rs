//! The limit of requests per client.

use super::Answer;
use crate::{context, error::Refusal, extract::client::Client};
use actix_web::{HttpMessage, ResponseError, body::MessageBody, dev::ServiceRequest, middleware::Next};

/// Paths that are always answered: whoever watches the service must not be turned away.
const EXEMPT: &str = "/health/";

pub(crate) async fn limit(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::of_service(&request)?;
    if let Some(limit) = &context.rate_limit
        && !request.path().starts_with(EXEMPT)
    {
        let client = request.extensions().get::<Client>().copied().ok_or_else(Refusal::internal)?;
        if let Err(pause) = limit.admit(&context.app, client.address).await {
            return Ok(request.into_response(Refusal::too_many(pause).error_response()));
        }
    }
    next.call(request).await.map(|response| response.map_into_boxed_body())
}
