//! Decides whether and when requests are retried.

use super::ApiError;
use anyhow::Error;
use reqwest::StatusCode;
use std::time::Duration;

/// Longest pause requested by a service that is honoured.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);
/// Longest pause of the exponential backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(30);

/// What to do after a failed request.
#[derive(Debug, PartialEq)]
pub(crate) enum Decision {
    /// Retry after a pause.
    Wait(Duration),
    /// Refresh the login and retry.
    Refresh,
    Fail,
}

/// Whether the service may have received a file although its upload failed: the connection broke during the upload,
/// here or behind a proxy.
pub(crate) fn may_be_uploaded(error: &Error) -> bool {
    match error.downcast_ref::<ApiError>() {
        Some(response) => is_gateway_error(response),
        None => error.downcast_ref::<reqwest::Error>().is_some_and(|error| !error.is_connect()),
    }
}

/// Counts the failed attempts of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryPolicy {
    max_attempts: u32,
    failed: u32,
    has_refreshed: bool,
}

impl RetryPolicy {
    pub(crate) fn new(max_attempts: u32) -> Self {
        Self { max_attempts, failed: 0, has_refreshed: false }
    }

    /// Decides after a failed upload. If the connection broke, here or behind a proxy, the upload is not repeated,
    /// because the service may have received it.
    pub(crate) fn after_upload(&mut self, error: &Error) -> Decision {
        match error.downcast_ref::<ApiError>() {
            Some(response) if response.status == StatusCode::UNAUTHORIZED && !self.has_refreshed => {
                self.has_refreshed = true;
                Decision::Refresh
            }
            Some(response) if asks_to_wait(response) => self.wait(response.retry_after),
            Some(_) | None => Decision::Fail,
        }
    }

    /// Decides after a failed read, which can always be repeated.
    pub(crate) fn after_read(&mut self, error: &Error) -> Decision {
        match error.downcast_ref::<ApiError>() {
            Some(response) if asks_to_wait(response) || is_gateway_error(response) => {
                self.wait(response.retry_after)
            }
            Some(_) => Decision::Fail,
            None if error.downcast_ref::<reqwest::Error>().is_some() => self.wait(None),
            None => Decision::Fail,
        }
    }

    /// Waits as long as the service asks for, or with exponential backoff.
    fn wait(&mut self, retry_after: Option<Duration>) -> Decision {
        self.failed += 1;
        if self.failed >= self.max_attempts {
            return Decision::Fail;
        }
        let backoff = Duration::from_secs(1 << (self.failed - 1).min(10)).min(MAX_BACKOFF);
        Decision::Wait(retry_after.unwrap_or(backoff).min(MAX_RETRY_AFTER))
    }
}

/// Whether the service did nothing and asks to retry later.
fn asks_to_wait(response: &ApiError) -> bool {
    matches!(response.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn is_gateway_error(response: &ApiError) -> bool {
    matches!(response.status, StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn error(status: u16, retry_after: Option<u64>) -> Error {
        let status = StatusCode::from_u16(status).unwrap();
        ApiError::new(status, retry_after.map(Duration::from_secs), "no").into()
    }

    #[test]
    fn retry_after_is_honoured_within_bounds() {
        let mut policy = RetryPolicy::new(9);
        for (status, retry_after, wait) in
            [(429, Some(12), 12), (503, None, 2), (503, Some(7200), 300), (503, None, 8)]
        {
            let next = policy.after_upload(&error(status, retry_after));
            assert_eq!(next, Decision::Wait(Duration::from_secs(wait)));
        }
        let mut policy = RetryPolicy::new(2);
        assert_eq!(policy.after_upload(&error(503, None)), Decision::Wait(Duration::from_secs(1)));
        assert_eq!(policy.after_upload(&error(503, None)), Decision::Fail);
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        assert_eq!(RetryPolicy::new(9).after_upload(&error(502, None)), Decision::Fail);
        assert_eq!(RetryPolicy::new(9).after_read(&error(502, None)), Decision::Wait(Duration::from_secs(1)));
        for status in [400, 403, 404, 413, 415, 422, 500, 507] {
            assert_eq!(RetryPolicy::new(9).after_upload(&error(status, None)), Decision::Fail);
            assert_eq!(RetryPolicy::new(9).after_read(&error(status, None)), Decision::Fail);
        }
        assert_eq!(RetryPolicy::new(9).after_upload(&anyhow!("the connection broke")), Decision::Fail);
    }

    #[test]
    fn login_is_refreshed_once_per_upload() {
        let mut policy = RetryPolicy::new(9);
        assert_eq!(policy.after_upload(&error(401, None)), Decision::Refresh);
        assert_eq!(policy.after_upload(&error(401, None)), Decision::Fail);
        assert_eq!(RetryPolicy::new(9).after_read(&error(401, None)), Decision::Fail);
    }
}
