//! Tests of the contract's rules; the modules follow the URL tree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod access;
mod account;
mod admin;
mod agents;
mod auth;
mod base_path;
#[cfg(feature = "browser")]
mod browser;
mod chat;
mod client_address;
mod collections;
mod conversations;
mod cors;
mod docs;
mod documents;
mod feedback;
mod health;
mod histories;
mod http;
mod librechat;
mod limits;
mod mcp;
mod metrics;
mod oauth;
mod openai;
mod rate_limit;
mod records;
mod root;
mod search;
mod sharing;
mod shutdown;
mod webhooks;
