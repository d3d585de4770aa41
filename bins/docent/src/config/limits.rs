//! Limits of requests, logins and accounts.

use super::check::{positive, within};
use super::declare::text;
use super::section::section;
use super::unit::ByteSize;
use super::value::Value;
use docent_domain::limits;
use std::time::Duration;

/// Limits of accounts that the setting does not name.
const DEFAULT: limits::Limits =
    limits::Limits { answers: 32, tokens_per_day: 0, stored_bytes: 0, page_images_per_hour: 1000 };

section! {
    /// Limits of requests, logins and accounts.
    Limits "Limit use" {
        /// Requests allowed per client address (IPv6: per /64 network) within `rate_limit_period`.
        rate_limit_requests: u32 = text("300"), within(1..=u32::MAX);
        /// Length of the rate-limit window, which begins with the first request.
        rate_limit_period: Duration = text("60s"), positive;
        /// Failed logins per account and client network (an IPv4 address, or the /64 network of an IPv6 address) within
        /// `login_failure_period`, after which logins get 429. The other limits on failed logins are multiples of it.
        login_max_failures: u32 = text("10"), within(1..=1_000_000);
        /// Period in which failed logins are counted.
        login_failure_period: Duration = text("15m"), positive;
        /// Limits of an account, each of which is `0` for none: `answers` in progress at the same time, `tokens_per_day` (UTC; input and
        /// output together), `stored_bytes` of its files, and `page_images_per_hour` that it can have drawn. Limits that are not named keep
        /// their defaults. The panel can set them for each account.
        account_limits: limits::Limits = text("answers=32,tokens_per_day=0,stored_bytes=0,page_images_per_hour=1000");
    }
}

impl Value for limits::Limits {
    const KIND: &'static str = "list of limits";

    fn accepted() -> String {
        "limits such as answers=32,tokens_per_day=1000000,stored_bytes=10GiB,page_images_per_hour=1000"
            .to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut limits = DEFAULT;
        for item in text.split(',') {
            let (name, value) = item.split_once('=').ok_or("has an item without =")?;
            let (name, value) = (name.trim(), value.trim());
            let wrong = |why| format!("has a limit {name} that {why}");
            let number = || u32::parse(value).map(u64::from).map_err(wrong);
            match name {
                "answers" => limits.answers = number()?,
                "tokens_per_day" => limits.tokens_per_day = number()?,
                "stored_bytes" => limits.stored_bytes = ByteSize::parse(value).map_err(wrong)?.0,
                "page_images_per_hour" => limits.page_images_per_hour = number()?,
                _ => return Err(format!("has an unknown limit {name:?}")),
            }
        }
        Ok(limits)
    }

    fn show(&self) -> String {
        let Self { answers, tokens_per_day, stored_bytes, page_images_per_hour } = self;
        let stored_bytes = ByteSize(*stored_bytes).show();
        format!(
            "answers={answers},tokens_per_day={tokens_per_day},stored_bytes={stored_bytes},\
             page_images_per_hour={page_images_per_hour}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_accounts_are_named_numbers_and_sizes() {
        let limits = limits::Limits::parse("stored_bytes = 10GiB, answers=0").unwrap();
        assert_eq!(limits, limits::Limits { answers: 0, stored_bytes: 10 << 30, ..DEFAULT });
        assert_eq!(limits::Limits::parse(&limits.show()), Ok(limits));
        for wrong in ["answers", "answers=many", "answers=-1", "tokens=1", "answers=1,,"] {
            assert!(limits::Limits::parse(wrong).is_err(), "{wrong}");
        }
    }
}
