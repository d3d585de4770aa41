//! What a summary without a chat model consists of: [`key_sentences`] of a document, its [`outline`], and [`questions`] made from
//! headings, defined terms and captions of tables.

pub mod key_sentences;
mod lines;
pub mod outline;
pub mod questions;
mod vocabulary;
