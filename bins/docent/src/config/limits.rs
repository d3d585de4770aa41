//! Request limits.

use super::{
    declare::{section, text},
    value::{lasting, within},
};
use std::time::Duration;

section! {
    /// How many requests a client may make.
    Limits "Request limits" {
        /// Requests that one client address (IPv6: one /64 network) may make within the period.
        rate_limit_requests: u32 = text("300"), within(1..=u32::MAX);
        /// The length of the period. It begins with the first request.
        rate_limit_period: Duration = text("60s"), lasting;
    }
}
