//! Middleware of every request, outermost first: [`base_path`], [`observe`], [`headers`], [`challenge`], [`cors`],
//! [`rate_limit`], [`panics`].

pub mod base_path;
pub mod challenge;
pub mod cors;
pub mod headers;
pub mod observe;
pub mod panics;
pub mod rate_limit;

use actix_web::Error;
use actix_web::body::BoxBody;
use actix_web::dev::ServiceResponse;
use actix_web::http::header::HeaderMap;

/// Result of a request.
pub type Answer = Result<ServiceResponse<BoxBody>, Error>;

/// Changes the headers of a response or of an error.
fn with_headers(answer: Answer, change: impl Fn(&mut HeaderMap) + 'static) -> Answer {
    match answer {
        Ok(mut response) => {
            change(response.headers_mut());
            Ok(response)
        }
        Err(mut error) => {
            error.add_response_mapper(move |mut response| {
                change(response.headers_mut());
                response
            });
            Err(error)
        }
    }
}
