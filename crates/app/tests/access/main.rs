//! Nobody gains rights that they were not given, on the fakes of every port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod desk;
mod groups;
mod keys;
mod users;
