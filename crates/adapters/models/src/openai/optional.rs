//! Request fields that some back ends reject.

use super::fault::CallError;
use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const SUPPORTED: u8 = 1;
const UNSUPPORTED: u8 = 2;

/// Whether the back end supports a useful request field that older back ends reject with 400.
///
/// Until a request with the field succeeds, a rejection is attributed to the field: the request is
/// repeated without it, and if that succeeds the field is omitted from then on.
#[derive(Debug, Default)]
pub(super) struct OptionalField(AtomicU8);

impl OptionalField {
    /// Makes a call with the field, and again without it if the back end rejects it. `unsupported` is logged if that
    /// succeeds.
    pub(super) async fn call<T, F>(
        &self,
        call: impl Fn(bool) -> F,
        unsupported: &'static str,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, CallError>>,
    {
        let is_sent = self.is_sent();
        match call(is_sent).await {
            Err(error) if is_sent && error.is_invalid_request() && self.is_unverified() => {
                let answer = call(false).await?;
                tracing::info!("{unsupported}");
                self.mark_unsupported();
                Ok(answer)
            }
            answer => {
                if is_sent && answer.is_ok() {
                    self.mark_supported();
                }
                answer
            }
        }
    }

    /// Whether to send the field.
    pub(super) fn is_sent(&self) -> bool {
        self.0.load(Ordering::Relaxed) != UNSUPPORTED
    }

    /// Whether a rejection may be caused by the field.
    pub(super) fn is_unverified(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// Records that a request with the field succeeded.
    pub(super) fn mark_supported(&self) {
        self.0.store(SUPPORTED, Ordering::Relaxed);
    }

    /// Records that a request without the field succeeded after one with it was rejected and named the field.
    pub(super) fn mark_refused(&self) {
        self.0.store(UNSUPPORTED, Ordering::Relaxed);
    }

    /// Records that a request without the field succeeded after one with it was rejected.
    pub(super) fn mark_unsupported(&self) {
        // A concurrent request may have succeeded with the field; success takes precedence.
        let _ = self.0.compare_exchange(UNKNOWN, UNSUPPORTED, Ordering::Relaxed, Ordering::Relaxed);
    }
}
