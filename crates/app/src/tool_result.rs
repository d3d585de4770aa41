//! The output of a tool.

use docent_domain::chat::ToolOutput;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::Correction;

/// The output of a tool.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    /// The text for the model.
    pub content: String,
    /// Whether the call failed; the text says why.
    pub is_error: bool,
    /// The passages that the text consists of; they become sources of the answer.
    pub passages: Vec<ScoredChunk>,
    /// Score of the best passage, if scores of different searches are comparable.
    pub best_score: Option<f32>,
    /// Scores of the passages from 0 to 1, if they are of one search.
    pub scores: Vec<f64>,
    /// Words that a search read as others.
    pub corrections: Vec<Correction>,
}

impl ToolResult {
    /// A result without passages.
    pub fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// The result of a call that failed.
    pub fn error(reason: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(reason) }
    }

    /// The output of the call with this ID.
    pub(crate) fn into_output(self, call_id: String) -> ToolOutput {
        let Self { content, is_error, passages, best_score, scores, corrections } = self;
        ToolOutput { call_id, content, is_error, passages, best_score, scores, corrections }
    }
}
