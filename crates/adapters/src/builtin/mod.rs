//! The built-in embedder and answerer: no download, no network, no other server.

pub mod answerer;
pub mod embedder;
mod lexical;
mod spans;
