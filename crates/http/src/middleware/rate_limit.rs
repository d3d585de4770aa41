//! Rate limit per client.

use super::Answer;
use crate::error::ApiError;
use crate::extract::client::Client;
use crate::{context, table};
use actix_web::HttpMessage;
use actix_web::body::MessageBody;
use actix_web::dev::ServiceRequest;
use actix_web::middleware::Next;

/// Returns 429 to clients that exceed the rate limit.
pub async fn limit(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let context = context::from_service(&request)?;
    if let Some(limit) = &context.rate_limit
        && !table::is_probe(&context.settings, request.path())
    {
        let client = request.extensions().get::<Client>().copied().ok_or_else(ApiError::internal)?;
        if let Err(pause) = limit.admit(&context.app, client.address).await {
            let refused = request.error_response(ApiError::too_many(pause));
            return Ok(refused);
        }
    }
    next.call(request).await.map(|response| response.map_into_boxed_body())
}
