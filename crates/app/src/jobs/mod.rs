//! Running background jobs.

pub mod browse;
mod handlers;
mod outcome;
pub(crate) mod queue;
pub(crate) mod recognitions;
pub mod runner;
pub(crate) mod running;

pub use runner::{Runner, RunnerSettings};
pub use running::IngestionProgress;
