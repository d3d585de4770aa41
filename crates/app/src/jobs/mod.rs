//! Running background jobs.

pub mod browse;
mod handlers;
mod outcome;
pub(crate) mod queue;
pub mod runner;
pub(crate) mod running;

pub use runner::{Runner, RunnerSettings};
