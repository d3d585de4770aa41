//! Evaluates retrieval and answers on questions with known pages.
//!
//! Each question is searched for twice: in all documents, and in its own document. The service's ranking is compared
//! with two baselines over the same passages: BM25 and the cosine of vectors. Relevance and statistics are pure
//! functions; searches and answers use the same use cases as any request.

pub mod answers;
mod baselines;
pub mod comparison;
mod measure;
pub mod questions;
mod ranking;
mod relevance;
pub mod report;
mod statistics;

pub use answers::{EvaluatedAnswer, QuotesPage, shows};
pub use measure::{
    DEPTH, EvaluationInput, EvaluationResult, QuestionResult, RankingResult, matching, measure,
};
pub use questions::{InvalidQuestion, LinkedQuestion, Question, QuestionSet, UnanswerableQuestion};
pub use ranking::{Ranking, SearchScope};
pub use relevance::{Passage, Rank, Relevance};
pub use report::Metric;
pub use statistics::{Estimate, RESAMPLES, estimate, estimate_over_sets};

use docent_domain::id::DocumentId;
use docent_domain::text::Title;

/// A document that questions refer to, with its file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file name in the questions.
    pub file: String,
    /// The document.
    pub document: DocumentId,
    /// Its title.
    pub title: Title,
}
