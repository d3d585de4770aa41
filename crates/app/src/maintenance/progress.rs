//! Progress reports of long-running work.

/// Receives progress reports. No method fails or blocks.
pub trait Progress: Send + Sync {
    /// A stage begins, with its number of steps if it is known.
    fn begin(&self, stage: &'static str, steps: Option<u64>);

    /// This many more steps are done.
    fn advance(&self, steps: u64);

    /// The stage is done.
    fn end(&self);
}

/// Discards progress reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _stage: &'static str, _steps: Option<u64>) {}

    fn advance(&self, _steps: u64) {}

    fn end(&self) {}
}
