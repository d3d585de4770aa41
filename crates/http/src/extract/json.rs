//! JSON request bodies.

use crate::context::{self, State};
use crate::error::ApiError;
use crate::extract::body::{self, Buffered, SMALL};
use crate::extract::deserialize::{BodyErrors, deserialize};
use actix_web::dev::Payload;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use deserr::Deserr;
use std::future::{Ready, ready};

/// An unread request body. Handlers read it after authorization, so that unauthorized clients learn nothing from validation errors.
pub struct Body {
    context: State,
    content_length: Option<u64>,
    payload: Payload,
    limit: usize,
}

impl FromRequest for Body {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (content_length, payload) = (body::content_length(request), payload.take());
        ready(context::from_request(request).map(|context| {
            let limit = context.settings.max_json_bytes;
            Self { context, content_length, payload, limit }
        }))
    }
}

impl Body {
    /// Limits the body to [`SMALL`] bytes, for routes that need no login.
    #[must_use]
    pub fn small(self) -> Self {
        Self { limit: self.limit.min(SMALL), ..self }
    }

    /// Reads a JSON object. The content type is ignored.
    ///
    /// # Errors
    /// 422 with every invalid field; as [`body::read`] if the body cannot be read completely.
    pub async fn read<T: Deserr<BodyErrors>>(self) -> Result<T, ApiError> {
        let body = self.buffer().await?;
        parse(&body.bytes)
    }

    /// Reads a JSON object; an empty body and `null` are read as `{}`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_optional<T: Deserr<BodyErrors>>(self) -> Result<T, ApiError> {
        let body = self.buffer().await?;
        parse(if matches!(&*body.bytes, b"" | b"null") { b"{}" } else { &body.bytes })
    }

    /// Reads the body without parsing it.
    ///
    /// # Errors
    /// As [`body::read`].
    pub async fn bytes(self) -> Result<Bytes, ApiError> {
        Ok(self.buffer().await?.bytes)
    }

    async fn buffer(mut self) -> Result<Buffered, ApiError> {
        body::read(&self.context, &mut self.payload, self.content_length, self.limit).await
    }
}

fn parse<T: Deserr<BodyErrors>>(bytes: &[u8]) -> Result<T, ApiError> {
    let value = serde_json::from_slice(bytes).map_err(|error| {
        let msg = format!("must be valid JSON: line {}, column {}", error.line(), error.column());
        ApiError::invalid_field(&["body"], if bytes.is_empty() { "is missing".to_owned() } else { msg })
    })?;
    deserialize(value)
}
