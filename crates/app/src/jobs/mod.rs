//! Running background jobs.

pub mod browse;
mod handlers;
mod outcome;
pub mod runner;
pub(crate) mod running;

pub use runner::{Runner, RunnerSettings};
