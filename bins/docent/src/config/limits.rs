//! Request limits.

use super::check::{positive, within};
use super::declare::text;
use super::section::section;
use std::time::Duration;

section! {
    /// Request limits.
    Limits "Request limits" {
        /// Requests allowed per client address (IPv6: per /64 network) within `rate_limit_period`.
        rate_limit_requests: u32 = text("300"), within(1..=u32::MAX);
        /// Length of the rate-limit window, which begins with the first request.
        rate_limit_period: Duration = text("60s"), positive;
    }
}
