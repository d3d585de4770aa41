//! Links to the service in responses.

use crate::context::{self, State};
use crate::error::ApiError;
use crate::extract::client::Client;
use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use docent_domain::id::DocumentId;
use std::future::{Ready, ready};

/// Maximum length of a host that links name.
const HOST_MAX: usize = 255;

/// Base URL of links to the service, without a trailing slash: the configured one, or else that of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The page of the web chat that shows a document at a page. The fragment is not sent to the server; the script of the page reads it.
    pub fn document(&self, id: DocumentId, page: u32) -> String {
        format!("{}/chat#document={id}&page={page}", self.0)
    }

    /// The base URL of a request.
    pub fn of(request: &HttpRequest, context: &State) -> Self {
        if let Some(configured) = &context.settings.public_url {
            return Self(configured.trim_end_matches('/').to_owned());
        }
        let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let host = named.or_else(|| request.uri().authority().map(|authority| authority.as_str()));
        let is_secure = request.extensions().get::<Client>().is_some_and(|client| client.is_secure);
        let base = host.and_then(|host| Self::of_host(host, is_secure));
        base.unwrap_or_else(|| Self(context.app.settings().public_url.clone()))
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The base URL that a client with this `Host` uses; none if the host is not valid.
    fn of_host(host: &str, is_secure: bool) -> Option<Self> {
        let is_allowed =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
        let is_valid = !host.is_empty() && host.len() <= HOST_MAX && host.chars().all(is_allowed);
        let scheme = if is_secure { "https" } else { "http" };
        is_valid.then(|| Self(format!("{scheme}://{host}")))
    }
}

impl FromRequest for BaseUrl {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(context::from_request(request).map(|context| Self::of(request, &context)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_has_the_host_of_the_request_if_it_is_valid() {
        let of = |host, is_secure| BaseUrl::of_host(host, is_secure).map(|BaseUrl(base)| base);
        assert_eq!(of("docs.example.org:8443", true).unwrap(), "https://docs.example.org:8443");
        assert_eq!(of("[::1]:8000", false).unwrap(), "http://[::1]:8000");
        for host in ["", "a@b", "a/b", "a b", "a#b", "a?b", "\u{e4}", &"a".repeat(256)] {
            assert_eq!(of(host, false), None, "{host}");
        }
    }
}
