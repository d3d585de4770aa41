//! What a model call has returned so far.

use docent_domain::chat::{FinishReason, ToolCall};
use docent_domain::usage::TokenUsage;

/// The output of one model call.
#[derive(Default)]
pub(super) struct ModelOutput {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Option<TokenUsage>,
    pub(super) reason: Option<FinishReason>,
    pub(super) has_reasoning: bool,
    pub(super) is_declined: bool,
    /// Whether its tokens were not counted yet.
    pub(super) is_open: bool,
}

impl ModelOutput {
    /// Whether the model wrote anything.
    pub(super) fn has_any(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty() || self.has_reasoning
    }
}
