//! The built-in embedder, which needs no model, download or network.

pub mod embedder;
mod spans;
