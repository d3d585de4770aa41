//! Request fields that some back ends reject.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const ACCEPTED: u8 = 1;
const REFUSED: u8 = 2;

/// Whether the back end supports a useful request field that older back ends reject with 400.
///
/// Until a request with the field succeeds, a rejection is attributed to the field: the request is
/// repeated without it, and if that succeeds the field is omitted from then on.
#[derive(Debug, Default)]
pub(super) struct OptionalField(AtomicU8);

impl OptionalField {
    /// Whether to send the field.
    pub(super) fn is_sent(&self) -> bool {
        self.0.load(Ordering::Relaxed) != REFUSED
    }

    /// Whether a rejection may be caused by the field.
    pub(super) fn is_doubtful(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// Records that a request with the field succeeded.
    pub(super) fn accepted(&self) {
        self.0.store(ACCEPTED, Ordering::Relaxed);
    }

    /// Records that a request without the field succeeded after one with it was rejected.
    pub(super) fn refused(&self) {
        // Another request may have shown the opposite meanwhile; what worked counts for more.
        let _ = self.0.compare_exchange(UNKNOWN, REFUSED, Ordering::Relaxed, Ordering::Relaxed);
    }
}
