//! Running background jobs.

mod outcome;
pub mod runner;
pub mod running;

pub use runner::{ContinueTrace, Runner, RunnerSettings};
