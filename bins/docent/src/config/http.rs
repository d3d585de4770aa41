//! HTTP.

use super::{
    declare::{section, text},
    unit::{ByteSize, some_bytes},
    url::Origin,
};
use ipnet::IpNet;
use std::net::SocketAddr;

section! {
    /// How the service is reached over HTTP.
    Http "HTTP" {
        /// The address to listen on.
        bind_address: SocketAddr = text("127.0.0.1:8000");
        /// The networks whose `X-Forwarded-For` and `Forwarded` headers are believed. Nobody else's are.
        trusted_proxies: Vec<IpNet> = text("[]");
        /// The origins of browser front ends that are served from elsewhere.
        cors_allowed_origins: Vec<Origin> = text("[]");
        /// The largest upload; a larger one gets 413.
        max_upload_bytes: ByteSize = text("50MiB"), some_bytes;
    }
}
