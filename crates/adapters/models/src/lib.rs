#![doc = include_str!("../README.md")]

pub mod builtin;
pub mod cached_embedder;
pub mod http_recognizer;
pub mod hybrid_embedder;
pub mod model2vec;
pub mod openai;
pub mod sse;
