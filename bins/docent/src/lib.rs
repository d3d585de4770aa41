//! The parts of the `docent` binary that tests and generators use too.

pub mod cli;
pub mod config;
