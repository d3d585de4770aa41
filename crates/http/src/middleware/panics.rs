//! Isolation of panics: a panic fails only its request.

use super::Answer;
use crate::error::ApiError;
use actix_web::body::MessageBody;
use actix_web::dev::ServiceRequest;
use actix_web::middleware::Next;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;

/// Returns 500 if a handler panics.
pub async fn catch(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    match AssertUnwindSafe(next.call(request)).catch_unwind().await {
        Ok(answer) => answer.map(|response| response.map_into_boxed_body()),
        Err(_) => {
            tracing::error!("a handler panicked");
            Err(ApiError::internal().into())
        }
    }
}
