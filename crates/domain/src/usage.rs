//! What answers cost.

use crate::{
    chat::AgentName,
    id::{ApiKeyId, ConversationId, UsageId, UserId},
};
use chrono::{DateTime, Utc};

/// Tokens of one or more model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens that the model read.
    pub prompt: u64,
    /// Tokens that the model wrote.
    pub completion: u64,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
    }
}

/// One line of the usage ledger: one answer of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRecord {
    /// Its id.
    pub id: UsageId,
    /// Who asked.
    pub user: UserId,
    /// With which API key, if any.
    pub api_key: Option<ApiKeyId>,
    /// In which conversation, if any.
    pub conversation: Option<ConversationId>,
    /// Which agent answered.
    pub agent: AgentName,
    /// Which model it used.
    pub model: String,
    /// What it cost, over all of the loop's model calls.
    pub tokens: TokenUsage,
    /// When it was over.
    pub at: DateTime<Utc>,
}
