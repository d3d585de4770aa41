//! Request limits.

use super::check::{positive, within};
use super::declare::text;
use super::section::section;
use super::unit::ByteSize;
use docent_domain::limits;
use std::time::Duration;

section! {
    /// Request limits.
    Limits "Request limits" {
        /// Requests allowed per client address (IPv6: per /64 network) within `rate_limit_period`.
        rate_limit_requests: u32 = text("300"), within(1..=u32::MAX);
        /// Length of the rate-limit window, which begins with the first request.
        rate_limit_period: Duration = text("60s"), positive;
        /// Answers that an account can have in progress at the same time; `0` for any number. The panel can set this and
        /// the other limits of accounts for each account.
        account_answers: u32 = text("32");
        /// Tokens that an account can use per day (UTC), input and output together; `0` for any number.
        account_tokens_per_day: u32 = text("0");
        /// Total size of the files that an account can store; `0` for any size.
        account_stored_bytes: ByteSize = text("0");
        /// Page images that an account can have drawn per hour; `0` for any number.
        account_page_images_per_hour: u32 = text("1000");
    }
}

impl Limits {
    /// The limits of accounts.
    pub fn of_accounts(&self) -> limits::Limits {
        limits::Limits {
            answers: self.account_answers.into(),
            tokens_per_day: self.account_tokens_per_day.into(),
            stored_bytes: self.account_stored_bytes.0,
            page_images_per_hour: self.account_page_images_per_hour.into(),
        }
    }
}
