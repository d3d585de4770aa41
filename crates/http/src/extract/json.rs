//! JSON request bodies.

use crate::context::{self, State};
use crate::error::ApiError;
use crate::extract::deserialize::{BodyErrors, deserialize};
use actix_web::dev::Payload;
use actix_web::http::{StatusCode, header};
use actix_web::web::{Bytes, BytesMut};
use actix_web::{FromRequest, HttpRequest};
use deserr::Deserr;
use futures::StreamExt;
use std::future::{Ready, ready};

/// An unread request body. Handlers read it after authorization, so that unauthorized clients learn nothing from validation errors.
pub struct Body {
    context: State,
    content_length: Option<u64>,
    payload: Payload,
}

impl FromRequest for Body {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let content_length = request.headers().get(header::CONTENT_LENGTH);
        let content_length = content_length.and_then(|value| value.to_str().ok()?.parse().ok());
        let payload = payload.take();
        ready(context::of(request).map(|context| Self { context, content_length, payload }))
    }
}

impl Body {
    /// Reads a JSON object. The content type is ignored.
    ///
    /// # Errors
    /// 422 with every invalid field; 400, 408 or 413 if the body cannot be read completely.
    pub async fn read<T: Deserr<BodyErrors>>(self) -> Result<T, ApiError> {
        parse(&self.bytes().await?)
    }

    /// Reads a JSON object; an empty body and `null` are read as `{}`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_optional<T: Deserr<BodyErrors>>(self) -> Result<T, ApiError> {
        let bytes = self.bytes().await?;
        parse(if matches!(&*bytes, b"" | b"null") { b"{}" } else { &bytes })
    }

    /// Reads the body without parsing it.
    ///
    /// # Errors
    /// 400, 408 or 413.
    pub async fn bytes(mut self) -> Result<Bytes, ApiError> {
        let limit = self.context.settings.max_json_bytes;
        if self.content_length.is_some_and(|length| length > limit as u64) {
            return Err(ApiError::too_large(limit as u64));
        }
        let mut bytes = BytesMut::new();
        while let Some(chunk) = next_chunk(&self.context, &mut self.payload).await? {
            if bytes.len() + chunk.len() > limit {
                return Err(ApiError::too_large(limit as u64));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    }
}

fn parse<T: Deserr<BodyErrors>>(bytes: &[u8]) -> Result<T, ApiError> {
    let value = serde_json::from_slice(bytes).map_err(|error| {
        let msg = format!("must be valid JSON: line {}, column {}", error.line(), error.column());
        ApiError::invalid_field(&["body"], if bytes.is_empty() { "is missing".to_owned() } else { msg })
    })?;
    deserialize(value)
}

/// Reads the next chunk of a body, with a timeout for pauses of the client.
async fn next_chunk(context: &State, payload: &mut Payload) -> Result<Option<Bytes>, ApiError> {
    tokio::select! {
        chunk = payload.next() => chunk.transpose().map_err(|_| broken_body()),
        () = context.app.sleep(context.settings.body_timeout) => Err(timed_out()),
    }
}

/// 400: the connection closed before the end of the body.
pub fn broken_body() -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "The request body ended too early")
}

/// 408: the client paused too long.
pub fn timed_out() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "The request body took too long")
}
