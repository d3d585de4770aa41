//! Docent's ports implemented on the real world.

pub mod sql;
