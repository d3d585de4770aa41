//! Docent's ports implemented on real databases, files, indexes and models.

pub mod pdf;
