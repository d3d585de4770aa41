//! Running background jobs.

mod outcome;
pub mod runner;

pub use runner::{ContinueTrace, Runner, RunnerSettings};
