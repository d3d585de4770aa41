//! Clients of back ends with OpenAI-compatible chat, embeddings and rerank endpoints.
//!
//! [`chat::OpenAiChatModel`], [`embeddings::OpenAiEmbedder`] and [`rerank::HttpReranker`] each own a connection pool
//! to one [`backend::BackendSettings`]. Response parsing is lenient, because back ends deviate from the formats in
//! many small ways; requests use the common subset. Wire types are private to this module.

pub mod backend;
pub mod chat;
mod completion;
mod dialect;
pub mod embeddings;
mod fault;
#[cfg(fuzzing)]
pub mod fuzzing;
mod optional;
pub mod rerank;
