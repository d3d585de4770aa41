//! The built-in embedder and answerer, which need no model, download or network.

pub mod answerer;
pub mod embedder;
mod spans;

pub use docent_text::lexical::{InvalidLexicon, Lexicon};
