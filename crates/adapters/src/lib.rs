//! Docent's ports implemented on real databases, files, indexes and models.
//!
//! One module for each thing adapted; no module uses another but `http_client` and `sse`. What does not belong here: use cases,
//! HTTP, settings, rules of the domain.

pub mod archive;
pub mod blob;
pub mod builtin;
pub mod cached_embedder;
pub mod embedded_index;
pub mod http_client;
pub mod hybrid_embedder;
pub mod mail;
pub mod memory;
pub mod openai;
pub mod password;
pub mod pdf;
pub mod qdrant;
pub mod redis;
pub mod sql;
pub mod sse;
pub mod system;
pub mod token_signer;
pub mod webhook_sender;
