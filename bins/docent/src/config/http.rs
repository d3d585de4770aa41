//! HTTP.

use super::declare::text;
use super::section::section;
use super::unit::{ByteSize, check_not_zero};
use super::url::Origin;
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
        /// Maximum size of an upload; larger ones get 413.
        max_upload_bytes: ByteSize = text("50MiB"), check_not_zero;
    }
}
