//! In-memory implementations of the ports.

pub mod archive;
pub mod blob_store;
pub mod chat_model;
pub mod embedder;
pub mod embedders;
pub mod mailer;
pub mod page_renderer;
pub mod password_hasher;
pub mod rate_limiter;
pub mod recorder;
pub mod reranker;
pub mod store;
pub mod text_extractor;
pub mod token_signer;
pub mod token_store;
pub mod vector_index;
pub mod vector_indexes;
pub mod webhook_sender;
