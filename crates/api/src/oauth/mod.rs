//! The authorization server: metadata, registration of clients and the token endpoint. The page that asks an account for its
//! consent is in `docent-web`.

pub(crate) mod metadata;
mod problem;
pub(crate) mod register;
pub(crate) mod revoke;
pub(crate) mod token;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest};
use docent_http::{ApiError, BaseUrl, context};
use std::future::{Ready, ready};

/// The URL of the authorization server: its issuer. 404 if it is off.
pub(crate) struct Issuer(pub(crate) BaseUrl);

impl FromRequest for Issuer {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(context::from_request(request).and_then(|context| match context.app.settings().accepts_oauth {
            true => Ok(Self(BaseUrl::of(request, &context))),
            false => Err(ApiError::new(StatusCode::NOT_FOUND, "Not found")),
        }))
    }
}
