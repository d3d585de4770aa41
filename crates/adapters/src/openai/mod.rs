//! Back ends that speak the chat-completions and embeddings wire format over HTTP.
//!
//! [`chat::OpenAiChatModel`] and [`embeddings::OpenAiEmbedder`] each own a connection pool to one
//! [`backend::BackendSettings`]. The format is read generously, because back ends deviate from it in
//! many small ways, and written as plainly as it can be. Types of the wire stay in here.

mod answer;
pub mod backend;
pub mod chat;
pub mod embeddings;
mod fault;
#[cfg(fuzzing)]
pub mod fuzzing;
mod optional;
mod sse;
