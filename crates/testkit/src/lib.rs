#![doc = include_str!("../README.md")]
// Tests fail by panicking; that is what this crate is for.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

pub mod builders;
pub mod clock;
pub mod contract;
pub mod entropy;
pub mod fakes;
pub mod faults;
pub mod html;
pub mod model2vec;
pub mod pdf;
pub mod retrieval;
pub mod script;
pub mod servers;
pub mod wait;
pub mod wire;
