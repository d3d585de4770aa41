//! The path of the service below the root of its host.
//!
//! Only [`translate`](crate::middleware::base_path::translate) uses the path: it removes the path from requests, and
//! adds it to the headers and pages of responses. Routes, pages and redirects are written for the root of a host.

use actix_web::HttpResponse;
use actix_web::http::Uri;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue, LINK, LOCATION};

/// Attributes of pages that contain URLs.
const ATTRIBUTES: [&str; 4] = ["href", "src", "action", "formaction"];

/// Paths of metadata for the path of the service.
const WELL_KNOWN: [&str; 2] =
    ["/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"];

/// The path of the public URL, such as `/docent`; empty for the root of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BasePath(String);

/// Marks a response whose body is a page with links to paths of the service.
struct HasLocalLinks;

/// Marks a page, so that its links to paths of the service get the base path.
pub fn mark_page(page: &mut HttpResponse) {
    page.extensions_mut().insert(HasLocalLinks);
}

/// Whether a response is marked by [`mark_page`].
pub(crate) fn is_page<B>(response: &HttpResponse<B>) -> bool {
    response.extensions().contains::<HasLocalLinks>()
}

impl BasePath {
    /// Returns the path of a public URL, which has no query.
    pub fn of_url(public_url: &str) -> Self {
        let uri = public_url.parse::<Uri>().ok();
        Self(uri.map(|uri| uri.path().trim_end_matches('/').to_owned()).unwrap_or_default())
    }

    /// Whether the service is at the root of its host.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the target (path and query) within the service of a request to `target`; none for targets outside of
    /// the path.
    pub(crate) fn target_within(&self, target: &str) -> Option<String> {
        // Metadata is at the root of the host, with the path at the end (RFC 8414, RFC 9728).
        for name in WELL_KNOWN {
            let rest = target.strip_prefix(name).and_then(|rest| rest.strip_prefix(&self.0));
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?'])) {
                return Some(format!("{name}{rest}"));
            }
        }
        let rest = target.strip_prefix(&self.0)?;
        match rest.chars().next() {
            Some('/') => Some(rest.to_owned()),
            None | Some('?') => Some(format!("/{rest}")),
            Some(_) => None,
        }
    }

    /// Adds the path to the URLs in the headers of a response, if they are paths of the service.
    pub(crate) fn add_to_headers(&self, headers: &mut HeaderMap) {
        let mut add = |name: HeaderName, before: &str| {
            let value = headers.get(&name).and_then(|value| value.to_str().ok());
            let target = value.and_then(|value| value.strip_prefix(before)).filter(|target| is_local(target));
            let public = target.map(|target| HeaderValue::try_from(format!("{before}{}{target}", self.0)));
            if let Some(Ok(public)) = public {
                headers.insert(name, public);
            }
        };
        add(LOCATION, "");
        add(LINK, "<");
    }

    /// Adds the path to the links of a page, its forms, styles and scripts, if they are paths of the service. Texts of
    /// users cannot look like attributes, because their quotes are escaped.
    pub(crate) fn add_to_html(&self, html: &str) -> String {
        let mut pieces = html.split("=\"");
        let mut before = pieces.next().unwrap_or_default();
        let mut public = before.to_owned();
        for piece in pieces {
            public.push_str("=\"");
            let name = before.rsplit(char::is_whitespace).next().unwrap_or_default();
            if ATTRIBUTES.contains(&name) && is_local(piece) {
                public.push_str(&self.0);
            }
            public.push_str(piece);
            before = piece;
        }
        public
    }
}

/// Whether a URL is a path, and not one relative to the page or on another host.
fn is_local(url: &str) -> bool {
    url.starts_with('/') && !url.starts_with("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_path_is_that_of_the_public_url() {
        for (url, path) in [
            ("https://docs.example.org", ""),
            ("https://docs.example.org/", ""),
            ("https://docs.example.org/docent", "/docent"),
            ("https://docs.example.org:8443/tools/docent/", "/tools/docent"),
            ("http://[::1]:8000/a", "/a"),
            ("", ""),
        ] {
            assert_eq!(BasePath::of_url(url).as_str(), path, "{url}");
        }
        assert!(BasePath::of_url("https://docs.example.org/").is_root());
    }

    #[test]
    fn only_whole_segments_of_the_path_are_removed() {
        let base = BasePath("/docent".to_owned());
        for (target, within) in [
            ("/docent", Some("/")),
            ("/docent?a=b", Some("/?a=b")),
            ("/docent/", Some("/")),
            ("/docent/admin/users?q=/docent/", Some("/admin/users?q=/docent/")),
            ("/docent//evil.example", Some("//evil.example")),
            ("/docentadmin", None),
            ("/admin", None),
            (
                "/.well-known/oauth-authorization-server/docent",
                Some("/.well-known/oauth-authorization-server"),
            ),
            (
                "/.well-known/oauth-protected-resource/docent/mcp",
                Some("/.well-known/oauth-protected-resource/mcp"),
            ),
            ("/.well-known/oauth-protected-resource/docentx", None),
            (
                "/docent/.well-known/oauth-protected-resource/mcp",
                Some("/.well-known/oauth-protected-resource/mcp"),
            ),
            ("/", None),
        ] {
            assert_eq!(base.target_within(target).as_deref(), within, "{target}");
        }
    }

    #[test]
    fn path_is_added_to_local_urls_only() {
        let base = BasePath("/docent".to_owned());
        let html = "<a class=\"a\" href=\"/admin\"><form\naction=\"/a\"><a href=\"//host\"><a href=\"?q=/a\"><a href=\"#a\">\
                    <a href=\"https://host/\"><script src=\"/a.js\"></script><p title=\"/a\" data-href=\"/a\">href=&quot;/a&quot;";
        let public = "<a class=\"a\" href=\"/docent/admin\"><form\naction=\"/docent/a\"><a href=\"//host\"><a href=\"?q=/a\">\
                      <a href=\"#a\"><a href=\"https://host/\"><script src=\"/docent/a.js\"></script>\
                      <p title=\"/a\" data-href=\"/a\">href=&quot;/a&quot;";
        assert_eq!(base.add_to_html(html), public);
        for (name, value, public) in [
            (LOCATION, "/chat", "/docent/chat"),
            (LOCATION, "//host/chat", "//host/chat"),
            (LOCATION, "https://host/chat", "https://host/chat"),
            (LINK, "</documents?a=b>; rel=\"next\"", "</docent/documents?a=b>; rel=\"next\""),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name.clone(), HeaderValue::from_static(value));
            base.add_to_headers(&mut headers);
            assert_eq!(headers.get(name).unwrap(), public);
        }
    }
}
