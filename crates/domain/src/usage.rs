//! Token usage of answers.

use crate::chat::AgentName;
use crate::id::{ApiKeyId, ConversationId, UsageId, UserId};
use chrono::{DateTime, Utc};

/// Tokens of one or more model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Input tokens.
    pub prompt: u64,
    /// Output tokens.
    pub completion: u64,
}

impl std::ops::AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
    }
}

/// A record of the usage ledger: one answer of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRecord {
    /// ID of the record.
    pub id: UsageId,
    /// Account that asked.
    pub user: UserId,
    /// API key used, if any.
    pub api_key: Option<ApiKeyId>,
    /// Conversation of the answer, if any.
    pub conversation: Option<ConversationId>,
    /// Agent that answered.
    pub agent: AgentName,
    /// Model used by the agent.
    pub model: String,
    /// Token usage of all model calls of the answer.
    pub tokens: TokenUsage,
    /// Time at which the answer ended.
    pub at: DateTime<Utc>,
}
