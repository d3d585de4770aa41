//! Request ids and the access log: one line per request, without query strings, tokens or addresses
//! of people.

use super::{Answer, with_headers};
use crate::{context, extract::client::Client};
use actix_web::{
    body::MessageBody,
    dev::ServiceRequest,
    http::header::{HeaderName, HeaderValue},
    middleware::Next,
};
use std::time::Instant;
use tracing::Instrument;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const ID_MAX: usize = 128;

pub(crate) async fn observe(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let id = match given_id(&request) {
        Some(id) => id,
        None => new_id(&request)?,
    };
    let client = Client::remember(&request)?;
    let method = request.method().clone();
    let started = Instant::now();
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
    let answer = next.call(request).instrument(span.clone()).await;
    let answer = answer.map(|response| response.map_into_boxed_body());

    let (status, path) = match &answer {
        // A path that leads nowhere is whatever somebody typed, or pasted.
        Ok(response) => {
            (response.status(), response.request().match_pattern().map(|_| response.request().path()))
        }
        Err(error) => (error.as_response_error().status_code(), None),
    };
    let _entered = span.enter();
    tracing::info!(
        %method,
        path = path.unwrap_or("-"),
        status = status.as_u16(),
        client = %client.address,
        ms = started.elapsed().as_millis() as u64,
        "request"
    );
    with_headers(answer, move |headers| {
        headers.insert(REQUEST_ID, id.clone());
    })
}

/// The id that the client sent, if it is one: 1 to 128 letters, digits, `.`, `_` and `-`.
fn given_id(request: &ServiceRequest) -> Option<HeaderValue> {
    let id = request.headers().get(REQUEST_ID)?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_valid = (1..=ID_MAX).contains(&id.len()) && id.as_bytes().iter().all(plain);
    is_valid.then(|| id.clone())
}

fn new_id(request: &ServiceRequest) -> Result<HeaderValue, actix_web::Error> {
    let mut random = [0; 16];
    context::of_service(request)?.app.entropy.fill(&mut random);
    let id = format!("{:032x}", u128::from_be_bytes(random));
    HeaderValue::from_str(&id).map_err(actix_web::error::ErrorInternalServerError)
}
