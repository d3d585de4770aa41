#![doc = include_str!("../README.md")]

pub mod builders;
pub mod clock;
pub mod contract;
pub mod entropy;
pub mod fakes;
pub mod faults;
pub mod retrieval;

// Tests fail by panicking; that is what this crate is for.
