#![doc = include_str!("../README.md")]

pub mod access;
pub mod chat;
pub mod chunk;
pub mod chunking;
pub mod document;
pub mod error;
pub mod extraction;
pub mod generation;
pub mod id;
pub mod job;
pub mod retrieval;
pub mod text;
pub mod token;
pub mod trace;
pub mod usage;
pub mod user;
