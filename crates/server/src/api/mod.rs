//! The API: one operation per file.

pub(crate) mod agents;
pub(crate) mod auth;
pub(crate) mod conversations;
pub(crate) mod docs;
pub(crate) mod documents;
pub(crate) mod health;
pub(crate) mod mcp;
pub(crate) mod metrics;
pub(crate) mod openai;
pub(crate) mod root;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod webhooks;

use crate::error::Refusal;
use actix_web::HttpResponse;

/// What an operation comes to.
pub(crate) type Reply = Result<HttpResponse, Refusal>;
