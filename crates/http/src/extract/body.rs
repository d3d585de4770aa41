//! Reading request bodies into memory, with limits of size, time and memory.
//!
//! A client without a login can send only small bodies. Larger ones share a budget, so that many slow clients cannot exhaust the
//! memory, and every body must arrive within [`HttpSettings::body_timeout`](crate::settings::HttpSettings::body_timeout).

use crate::context::State;
use crate::error::ApiError;
use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Bytes, BytesMut};
use futures::StreamExt;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// Maximum size in bytes of forms and of JSON bodies that need no login; forms of an account can be larger. Bodies up to this size are not part of the budget, so
/// they are accepted while it is used up.
pub const SMALL: usize = 16 * 1024;
/// Suggested delay when the budget is used up.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// A body in memory. Its part of the budget is free again when it is dropped.
pub struct Buffered {
    /// The bytes.
    pub bytes: Bytes,
    _room: Option<OwnedSemaphorePermit>,
}

/// The length that a request announces.
pub fn content_length(request: &HttpRequest) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a whole body.
///
/// # Errors
/// 413 over `limit` bytes, 408 after the timeout, 400 if the connection breaks, 503 while the budget is used up.
pub async fn read(
    context: &State,
    payload: &mut Payload,
    announced: Option<u64>,
    limit: usize,
) -> Result<Buffered, ApiError> {
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(ApiError::too_large(limit as u64));
    }
    tokio::select! {
        body = read_all(context, payload, limit) => body,
        () = context.app.sleep(context.settings.body_timeout) => Err(timed_out()),
    }
}

async fn read_all(context: &State, payload: &mut Payload, limit: usize) -> Result<Buffered, ApiError> {
    let (mut bytes, mut room) = (BytesMut::new(), None::<OwnedSemaphorePermit>);
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_| broken_body())?;
        if bytes.len() + chunk.len() > limit {
            return Err(ApiError::too_large(limit as u64));
        }
        bytes.extend_from_slice(&chunk);
        let taken = room.as_ref().map_or(SMALL, |room| SMALL + room.num_permits());
        if let Some(more) = bytes.len().checked_sub(taken).filter(|more| *more > 0) {
            let more = context.body_budget.take(more).ok_or_else(|| ApiError::overloaded(RETRY_AFTER))?;
            match &mut room {
                Some(room) => room.merge(more),
                None => room = Some(more),
            }
        }
    }
    Ok(Buffered { bytes: bytes.freeze(), _room: room })
}

/// 400: the connection closed before the end of the body.
pub fn broken_body() -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "The request body ended too early")
}

/// 408: the body did not arrive in time.
pub fn timed_out() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "The request body took too long")
}
