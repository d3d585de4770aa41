//! The built-in embedder and answerer, which need no model, download or network.

pub mod answerer;
pub mod embedder;
mod lexical;
mod spans;

pub use lexical::{InvalidLexicon, Lexicon};
