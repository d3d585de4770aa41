//! Requests sent by scripts of the service's own pages.
//!
//! The browser adds the session cookie to the requests of every page that it shows, so the API accepts it only together with a
//! header that other sites cannot send: for a request with it, browsers first ask whether its site may do so, and the
//! service never allows it. The header names the account that the page shows.

use crate::session_cookie;
use actix_session::SessionExt;
use actix_web::body::MessageBody;
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName};
use actix_web::middleware::Next;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest};
use docent_domain::id::UserId;
use docent_http::{ApiError, PageSession};
use std::future::{Ready, ready};

/// ID of the account that the page shows.
const ACCOUNT: HeaderName = HeaderName::from_static("x-docent-account");
/// Set by browsers over HTTPS and on the local machine; scripts cannot change it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a script of the service's own pages sent the request.
fn is_from_own_page(headers: &HeaderMap) -> bool {
    headers.contains_key(&ACCOUNT) && headers.get(&FETCH_SITE).is_none_or(|site| site == "same-origin")
}

/// Stores the session of a request from an own page in the request, for the extractors of the API.
pub async fn identify(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if is_from_own_page(request.headers()) {
        let user = request.headers().get(&ACCOUNT).and_then(|id| id.to_str().ok()?.parse::<UserId>().ok());
        if let (Some(session), Some(user)) = (session_cookie::id_of(&request.get_session()), user) {
            request.extensions_mut().insert(PageSession { session, user });
        }
    }
    next.call(request).await
}

/// Extractor that refuses requests of other sites.
pub(crate) struct OwnPage(pub(crate) Option<PageSession>);

impl FromRequest for OwnPage {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let page = request.extensions().get::<PageSession>().copied();
        let refusal = || ApiError::new(StatusCode::FORBIDDEN, "Only the web chat can send this request");
        ready(is_from_own_page(request.headers()).then_some(Self(page)).ok_or_else(refusal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn only_own_pages_send_the_header_from_the_same_origin() {
        let is_own = |headers: &[(&'static str, &'static str)]| {
            let mut request = TestRequest::default();
            for header in headers {
                request = request.insert_header(*header);
            }
            is_from_own_page(request.to_http_request().headers())
        };
        let account = ("x-docent-account", "none");
        assert!(is_own(&[account]));
        assert!(is_own(&[account, ("sec-fetch-site", "same-origin")]));
        assert!(!is_own(&[]));
        assert!(!is_own(&[("sec-fetch-site", "same-origin")]));
        for site in ["cross-site", "same-site", "none", ""] {
            assert!(!is_own(&[account, ("sec-fetch-site", site)]), "{site}");
        }
    }
}
