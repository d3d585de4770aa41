//! Running background jobs.

pub mod browse;
mod outcome;
mod purging;
pub mod runner;
pub mod running;
mod sweeping;

pub use runner::{ContinueTrace, Runner, RunnerSettings};
