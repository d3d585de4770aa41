//! When a request is tried again, and after how long.

use crate::client::Refusal;
use anyhow::Error;
use reqwest::StatusCode;
use std::time::Duration;

/// The longest wait that a service is granted.
const LONGEST: Duration = Duration::from_secs(300);
/// The longest wait of our own choice.
const OWN: Duration = Duration::from_secs(30);

/// What to do about a request that was not answered as hoped.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// Wait, and try again.
    Wait(Duration),
    /// Renew the login, and try again.
    Renew,
    /// Give up.
    GiveUp,
}

/// Whether the service may have a file though its upload failed: the connection broke when something had been sent, here
/// or behind a proxy.
pub(super) fn may_have_been_taken(error: &Error) -> bool {
    match error.downcast_ref::<Refusal>() {
        Some(refusal) => is_of_proxy(refusal),
        None => error.downcast_ref::<reqwest::Error>().is_some_and(|error| !error.is_connect()),
    }
}

/// Counts the tries of one request, or those that failed since the last one that did not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// The most tries.
    tries: u32,
    tried: u32,
    has_renewed: bool,
}

impl Patience {
    pub(super) fn new(tries: u32) -> Self {
        Self { tries, tried: 0, has_renewed: false }
    }

    /// What to do about an upload. One whose connection broke, here or behind a proxy, is not repeated: the service
    /// may have taken it.
    pub(super) fn after_upload(&mut self, error: &Error) -> Next {
        match error.downcast_ref::<Refusal>() {
            Some(refusal) if refusal.status == StatusCode::UNAUTHORIZED && !self.has_renewed => {
                self.has_renewed = true;
                Next::Renew
            }
            Some(refusal) if asks_for_time(refusal) => self.wait(refusal.retry_after),
            Some(_) | None => Next::GiveUp,
        }
    }

    /// What to do about a question, which may be put as often as one likes.
    pub(super) fn after_question(&mut self, error: &Error) -> Next {
        match error.downcast_ref::<Refusal>() {
            Some(refusal) if asks_for_time(refusal) || is_of_proxy(refusal) => self.wait(refusal.retry_after),
            Some(_) => Next::GiveUp,
            None if error.downcast_ref::<reqwest::Error>().is_some() => self.wait(None),
            None => Next::GiveUp,
        }
    }

    /// As long as the service wants, or twice as long as the time before.
    fn wait(&mut self, wanted: Option<Duration>) -> Next {
        self.tried += 1;
        if self.tried >= self.tries {
            return Next::GiveUp;
        }
        let own = Duration::from_secs(1 << (self.tried - 1).min(10)).min(OWN);
        Next::Wait(wanted.unwrap_or(own).min(LONGEST))
    }
}

/// Whether the service says that it would have answered otherwise at another time, and has done nothing.
fn asks_for_time(refusal: &Refusal) -> bool {
    matches!(refusal.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn is_of_proxy(refusal: &Refusal) -> bool {
    matches!(refusal.status, StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn refusal(status: u16, retry_after: Option<u64>) -> Error {
        let status = StatusCode::from_u16(status).unwrap();
        Refusal::new(status, retry_after.map(Duration::from_secs), "no").into()
    }

    #[test]
    fn a_service_that_asks_for_time_gets_it_within_bounds() {
        let mut patience = Patience::new(9);
        for (status, retry_after, wait) in
            [(429, Some(12), 12), (503, None, 2), (503, Some(7200), 300), (503, None, 8)]
        {
            let next = patience.after_upload(&refusal(status, retry_after));
            assert_eq!(next, Next::Wait(Duration::from_secs(wait)));
        }
        let mut patience = Patience::new(2);
        assert_eq!(patience.after_upload(&refusal(503, None)), Next::Wait(Duration::from_secs(1)));
        assert_eq!(patience.after_upload(&refusal(503, None)), Next::GiveUp);
    }

    #[test]
    fn what_waiting_does_not_mend_is_given_up() {
        assert_eq!(Patience::new(9).after_upload(&refusal(502, None)), Next::GiveUp);
        assert_eq!(Patience::new(9).after_question(&refusal(502, None)), Next::Wait(Duration::from_secs(1)));
        for status in [400, 403, 404, 413, 415, 422, 500, 507] {
            assert_eq!(Patience::new(9).after_upload(&refusal(status, None)), Next::GiveUp);
            assert_eq!(Patience::new(9).after_question(&refusal(status, None)), Next::GiveUp);
        }
        assert_eq!(Patience::new(9).after_upload(&anyhow!("the connection broke")), Next::GiveUp);
    }

    #[test]
    fn a_login_is_renewed_once_for_an_upload() {
        let mut patience = Patience::new(9);
        assert_eq!(patience.after_upload(&refusal(401, None)), Next::Renew);
        assert_eq!(patience.after_upload(&refusal(401, None)), Next::GiveUp);
        assert_eq!(Patience::new(9).after_question(&refusal(401, None)), Next::GiveUp);
    }
}
