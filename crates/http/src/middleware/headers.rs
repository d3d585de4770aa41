//! Security headers.

use super::{Answer, with_headers};
use actix_web::body::MessageBody;
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::middleware::Next;

const HEADERS: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // Pages set their own policy.
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Adds the headers that the handler has not set.
pub async fn secure(request: ServiceRequest, next: Next<impl MessageBody + 'static>) -> Answer {
    let answer = next.call(request).await.map(|response| response.map_into_boxed_body());
    with_headers(answer, |headers| {
        for (name, value) in HEADERS {
            if !headers.contains_key(&name) {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
    })
}
