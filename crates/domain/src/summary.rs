//! Summaries of documents.

use crate::document::{Document, DocumentState};
use crate::id::VersionId;
use chrono::{DateTime, TimeDelta, Utc};

/// Maximum number of points of a summary.
pub const POINTS_MAX: usize = 6;
/// Number of suggested questions.
pub const QUESTIONS_MAX: usize = 3;
/// Maximum number of headings of a summary.
pub const HEADINGS_MAX: usize = 12;
/// After this time, a model that failed is asked again.
const RETRY_AFTER: TimeDelta = TimeDelta::minutes(15);

/// The summary of a version of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSummary {
    /// The version that it is of.
    pub version: VersionId,
    /// When that version was ingested.
    pub ingested_at: DateTime<Utc>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// What the document is.
    pub description: Option<Description>,
    /// The most important points, in the order of their pages.
    pub points: Vec<KeyPoint>,
    /// The main headings of the document's outline.
    pub headings: Vec<Heading>,
    /// The years that the text mentions most, in order.
    pub years: Vec<u16>,
    /// Questions that the document answers.
    pub questions: Vec<SuggestedQuestion>,
    /// The chat model that wrote it; `None` if it consists of sentences of the document.
    pub model: Option<String>,
    /// Why the connected chat model did not write it.
    pub fallback: Option<Fallback>,
}

/// What a document is, in a sentence or two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The text.
    pub text: String,
    /// Where the text is in the document; `None` if a model wrote it without a citation.
    pub place: Option<Place>,
}

/// A point of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPoint {
    /// A sentence of the document, or of a model.
    pub text: String,
    /// Where the document says so.
    pub place: Place,
}

/// A page, and the chunk of it that a summary refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Page number, starting at 1.
    pub page: u32,
    /// Ordinal of the chunk when the summary was made.
    pub chunk: u32,
}

/// A heading of a document's outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The title.
    pub title: String,
    /// Page number, starting at 1, if known.
    pub page: Option<u32>,
}

/// A question that a document answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuggestedQuestion {
    /// The question.
    pub text: String,
    /// Page of the passage that a search finds for it.
    pub page: u32,
}

/// Why a summary consists of sentences of the document although a chat model is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The model could not be reached, or failed.
    ModelFailed,
    /// The model took too long.
    ModelTimeout,
    /// The model's output had no usable points.
    InvalidOutput,
    /// The account has used its tokens, or must not use the model.
    NotAllowed,
}

impl Fallback {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::ModelFailed, Self::ModelTimeout, Self::InvalidOutput, Self::NotAllowed];

    /// Machine-readable code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ModelFailed => "model_failed",
            Self::ModelTimeout => "model_timeout",
            Self::InvalidOutput => "invalid_output",
            Self::NotAllowed => "not_allowed",
        }
    }

    /// Parses a code.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == code)
    }
}

impl DocumentSummary {
    /// Whether it is of the document as it is now ingested.
    pub fn is_of(&self, document: &Document) -> bool {
        let DocumentState::Ingested(ingested) = &document.state else { return false };
        self.version == document.version_id && self.ingested_at == ingested.at
    }

    /// Whether a connected model should write a new one: this one was made without a model, or the model failed some time
    /// ago.
    pub fn can_improve(&self, now: DateTime<Utc>) -> bool {
        self.model.is_none()
            && match self.fallback {
                None | Some(Fallback::NotAllowed) => true,
                Some(Fallback::ModelFailed | Fallback::ModelTimeout | Fallback::InvalidOutput) => {
                    now - self.created_at >= RETRY_AFTER
                }
            }
    }
}
