//! HTTP.

use super::declare::{text, variable};
use super::mail::Mail;
use super::problem::Warning;
use super::section::section;
use super::unit::{ByteSize, check_not_zero};
use super::url::Origin;
use super::value::Value;
use docent_domain::file_type::{FileType, FileTypes};
use docent_extraction::ExtractionLimits;
use ipnet::IpNet;
use std::net::SocketAddr;

section! {
    /// HTTP.
    Http "HTTP" {
        /// Address to listen on.
        bind_address: SocketAddr = text("127.0.0.1:8000");
        /// Networks of proxies whose `X-Forwarded-For` and `Forwarded` headers are trusted. From other addresses these
        /// headers are ignored.
        trusted_proxies: Vec<IpNet> = text("[]");
        /// Origins of browser front ends served from other hosts.
        cors_allowed_origins: Vec<Origin> = text("[]");
        /// Types of files that can be uploaded. With PDF alone, an upload must be sent as `application/pdf`; otherwise its content decides.
        upload_types: FileTypes = text("pdf");
        /// Maximum size of an upload; larger ones get 413. Files over 256 MiB get it in any case, because they cannot be read.
        max_upload_bytes: ByteSize = text("50MiB"), check_not_zero;
    }
}

/// Returns a warning if there must be a proxy, because the service itself has no TLS, and none is trusted.
pub(super) fn proxy_warning(http: &Http, mail: &Mail) -> Option<Warning> {
    let is_https = mail.public_url.as_ref().is_some_and(|url| url.as_str().starts_with("https://"));
    (is_https && http.trusted_proxies.is_empty()).then(|| Warning {
        variable: variable("trusted_proxies"),
        wrong: "is empty, but the public URL needs a proxy for TLS, so that all users share one client address and its \
                limits of requests and failed logins"
            .to_owned(),
        advice: "set it to the network of the proxy".to_owned(),
    })
}

/// Returns a warning if larger uploads are permitted than can be read.
pub(super) fn size_warning(http: &Http) -> Option<Warning> {
    let readable = ByteSize(ExtractionLimits::default().file_bytes);
    (http.max_upload_bytes > readable).then(|| Warning {
        variable: variable("max_upload_bytes"),
        wrong: format!(
            "is more than files that can be read, so that uploads over {} get 413",
            readable.show()
        ),
        advice: format!("set it to at most {}", readable.show()),
    })
}

impl Value for FileTypes {
    const KIND: &'static str = "list";

    fn accepted() -> String {
        let names: Vec<&str> = FileType::ALL.iter().map(|of| of.as_str()).collect();
        format!("all, or names separated by commas: {}", names.join(", "))
    }

    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|name| format!("names an unknown type `{name}`"))
    }

    fn show(&self) -> String {
        if *self == Self::all() {
            return "all".to_owned();
        }
        self.iter().map(FileType::as_str).collect::<Vec<_>>().join(",")
    }
}
