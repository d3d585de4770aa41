#![doc = include_str!("../README.md")]

pub mod chunking;
pub mod headings;
pub mod lexical;
pub mod neighbours;
pub mod page_reference;
pub mod sentences;
pub mod summary;
pub mod table;
