//! The limit of requests per client.

use super::Answer;
use crate::{
    context::{self, Context},
    error::Refusal,
    extract::client::Client,
};
use actix_web::{HttpMessage, ResponseError, body::MessageBody, dev::ServiceRequest, middleware::Next};

/// Paths that are always answered: whoever watches the service must not be turned away.
fn is_exempt(context: &Context, path: &str) -> bool {
    path.starts_with("/health/")
        || context.settings.metrics.is_some() && path.trim_end_matches('/') == "/metrics"
}

pub(crate) async fn limit(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::of_service(&request)?;
    if let Some(limit) = &context.rate_limit
        && !is_exempt(&context, request.path())
    {
        let client = request.extensions().get::<Client>().copied().ok_or_else(Refusal::internal)?;
        if let Err(pause) = limit.admit(&context.app, client.address).await {
            return Ok(request.into_response(Refusal::too_many(pause).error_response()));
        }
    }
    next.call(request).await.map(|response| response.map_into_boxed_body())
}
