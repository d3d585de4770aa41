//! Back ends that speak the chat-completions, embeddings and rerank wire formats over HTTP.
//!
//! [`chat::OpenAiChatModel`], [`embeddings::OpenAiEmbedder`] and [`rerank::HttpReranker`] each own a connection pool
//! to one [`backend::BackendSettings`]. The formats are read generously, because back ends deviate from them in
//! many small ways, and written as plainly as they can be. Types of the wire stay in here.

mod answer;
pub mod backend;
pub mod chat;
pub mod embeddings;
mod fault;
#[cfg(fuzzing)]
pub mod fuzzing;
mod optional;
pub mod rerank;
