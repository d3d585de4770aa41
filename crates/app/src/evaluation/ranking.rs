//! The rankings that are compared, and the documents that they are of.

use super::Question;

/// The documents that are searched for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SearchScope {
    /// All documents.
    AllDocuments,
    /// The document that answers the question.
    OneDocument,
}

impl SearchScope {
    /// All values.
    pub const ALL: [Self; 2] = [Self::AllDocuments, Self::OneDocument];

    /// The field of a question's report with the answer in this scope.
    pub(super) fn answer_field(self) -> &'static str {
        match self {
            Self::AllDocuments => "answer",
            Self::OneDocument => "answer_one_document",
        }
    }

    /// Those that a question is searched in. In its own document there is nothing to find if its pages are unknown.
    pub(super) fn of(question: &Question) -> &'static [Self] {
        if question.pages.is_empty() { &[Self::AllDocuments] } else { &Self::ALL }
    }

    /// Its name in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::AllDocuments => "all_documents",
            Self::OneDocument => "one_document",
        }
    }
}

/// A ranking of passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranking {
    /// The service's own ranking.
    Docent,
    /// BM25 over the same passages.
    Bm25,
    /// Cosine of the same vectors.
    Dense,
}

impl Ranking {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Docent, Self::Bm25, Self::Dense];

    /// Its name in reports.
    pub fn code(self) -> &'static str {
        match self {
            Self::Docent => "docent",
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
        }
    }
}
