//! HTTP.

use super::check::{Context, Refusal};
use super::declare::{text, unset, variable};
use super::problem::Warning;
use super::section::section;
use super::url::{HttpUrl, Origin};
use ipnet::IpNet;
use std::net::SocketAddr;

section! {
    /// HTTP.
    Http "Serve requests" {
        /// Address to listen on.
        bind_address: SocketAddr = text("127.0.0.1:8000");
        /// Public base URL of the service, such as `https://docs.example.org`, for links in emails and in answers. Required with
        /// `smtp_url`. With `https`, browsers keep the session cookie for this host and TLS alone. With a path, such as
        /// `https://example.org/docent`, links and pages are below that path, whether or not the proxy removes it from requests.
        public_url: Option<HttpUrl> = unset("`http://` and `bind_address`"), check_base_path;
        /// Networks of proxies whose `X-Forwarded-For` and `Forwarded` headers are trusted. From other addresses these
        /// headers are ignored.
        trusted_proxies: Vec<IpNet> = text("[]");
        /// Origins of browser front ends served from other hosts.
        cors_allowed_origins: Vec<Origin> = text("[]");
        /// Address on which `docent worker` serves `/health` and `/metrics`.
        worker_bind_address: Option<SocketAddr> = unset("not served");
    }
}

/// Returns a warning if there must be a proxy, because the service itself has no TLS, and none is trusted.
pub(super) fn proxy_warning(http: &Http) -> Option<Warning> {
    let is_https = http.public_url.as_ref().is_some_and(|url| url.as_str().starts_with("https://"));
    (is_https && http.trusted_proxies.is_empty()).then(|| Warning {
        variable: variable("trusted_proxies"),
        wrong: "is empty, but the public URL needs a proxy for TLS, so that all users share one client address and its \
                limits of requests and failed logins"
            .to_owned(),
        advice: "set it to the network of the proxy".to_owned(),
    })
}

/// Checks that the path of the public URL differs from all paths of the service, and needs no escaping in pages.
fn check_base_path(url: &Option<HttpUrl>, _: &Context) -> Result<(), Refusal> {
    let Some(url) = url else { return Ok(()) };
    let first = |path: &'_ str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let (path, folder) = (url.path(), first(url.path()));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '.' | '_' | '~');
    let wrong = if !path.chars().all(is_plain) || path.contains("//") {
        format!("has the path {path}, but only letters, digits, -, ., _ and ~ are possible in its folders")
    } else if !folder.is_empty() && docent_server::routes::all().any(|(own, _)| first(own) == folder) {
        format!("begins with the path /{folder}, which the service itself has")
    } else {
        return Ok(());
    };
    Err(Refusal {
        wrong,
        accepted: "a URL such as https://docs.example.org or https://example.org/docent".to_owned(),
    })
}
