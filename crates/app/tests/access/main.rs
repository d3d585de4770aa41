//! Permissions of accounts, groups and API keys: no use case grants more than its caller has. All ports are fakes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod audit_retention;
mod clock;
mod delegation;
mod fixture;
mod group_members;
mod groups;
mod invitations;
mod keys;
mod logins;
mod own_account;
mod roles;
mod second_factors;
mod users;
