//! The commands, one per file.

pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod collections;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod dev;
pub(crate) mod doctor;
pub(crate) mod documents;
pub(crate) mod eval;
pub(crate) mod healthcheck;
pub(crate) mod ingest;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod migrate;
pub(crate) mod openapi;
pub(crate) mod reindex;
pub(crate) mod restore;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod sync;
pub(crate) mod worker;
