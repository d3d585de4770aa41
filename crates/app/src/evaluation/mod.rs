//! Measuring how well questions are answered, on questions whose pages are known.
//!
//! Each question is asked twice: of all documents, and of its own one. What the service finds is judged beside two
//! plain rankings of the same passages, BM25 and the cosine of vectors, which live here and nowhere else.
//! Judging and counting are pure functions; asking goes through the same use cases as everybody's questions.

pub mod answers;
mod judging;
mod measure;
mod plain;
pub mod questions;
pub mod report;
mod statistics;

pub use answers::{Answered, Reading};
pub use judging::{Judged, Passage, Rank};
pub use measure::{DEPTH, Measured, Measurement, Measurements, Outcome, measure};
pub use questions::{Malformed, Posed, Question};
pub use report::{Metric, Ranking, Scope};
pub use statistics::{Estimate, RESAMPLES, estimate};

use docent_domain::{id::DocumentId, text::Title};

/// A file that questions are about, as a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file's name, as questions give it.
    pub file: String,
    /// The document.
    pub document: DocumentId,
    /// Its title.
    pub title: Title,
}
