//! How far a long piece of work has come, told to whoever shows it.

/// Is told how far work has come. No method fails or waits.
pub trait Progress: Send + Sync {
    /// A stage begins: what it does, and how many steps it has, if that is known.
    fn begin(&self, stage: &'static str, steps: Option<u64>);

    /// So many more steps are done.
    fn advance(&self, steps: u64);

    /// The stage is done.
    fn end(&self);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unseen;

impl Progress for Unseen {
    fn begin(&self, _stage: &'static str, _steps: Option<u64>) {}

    fn advance(&self, _steps: u64) {}

    fn end(&self) {}
}
