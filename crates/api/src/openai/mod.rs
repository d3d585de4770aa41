//! The OpenAI API below `/v1`, where agents are models, documents are files and collections are vector stores.
//!
//! Fields without a use here are ignored, since most clients send more than they need. Unsupported fields that would change the answer are
//! refused.

pub(crate) mod chat;
pub(crate) mod chunks;
mod completion;
pub(crate) mod embeddings;
pub(crate) mod errors;
mod file_object;
pub(crate) mod files;
mod functions;
mod ids;
mod list;
pub(crate) mod models;
pub(crate) mod request;
pub(crate) mod responses;
pub(crate) mod tools;
pub(crate) mod vector_stores;
pub(crate) mod whole;
pub(crate) mod wire;
