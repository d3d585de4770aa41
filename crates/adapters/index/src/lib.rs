#![doc = include_str!("../README.md")]

pub mod embedded_index;
pub mod qdrant;
