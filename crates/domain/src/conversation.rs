//! Conversations and their messages.

use crate::chat::AgentName;
use crate::error::ValidationError;
use crate::id::{ConversationId, MessageId, UserId};
use crate::retrieval::ScoredChunk;
use crate::usage::TokenUsage;
use chrono::{DateTime, Utc};

/// Maximum length of a [`ConversationTitle`] in characters.
pub const CONVERSATION_TITLE_MAX: usize = 200;

/// A conversation of an account with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// ID of the conversation.
    pub id: ConversationId,
    /// Account that owns it. Other accounts cannot access it.
    pub owner: UserId,
    /// Title of the conversation.
    pub title: ConversationTitle,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last message or title change.
    pub updated_at: DateTime<Utc>,
}

/// The title of a conversation: trimmed, 1 to [`CONVERSATION_TITLE_MAX`] characters on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationTitle(String);

/// Title of a conversation without messages.
const UNTITLED: &str = "New conversation";

impl ConversationTitle {
    /// Returns the title of a conversation without messages.
    pub fn untitled() -> Self {
        Self(UNTITLED.to_owned())
    }

    /// Whether this is the title of a conversation without messages.
    pub fn is_untitled(&self) -> bool {
        self.0 == UNTITLED
    }

    /// Parses a title given by a user.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or contains control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        crate::text::parse_label("title", text, CONVERSATION_TITLE_MAX).map(Self)
    }

    /// Derives a title from the first words of the first question.
    pub fn of_question(question: &str) -> Self {
        let line: String = question.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            return Self::untitled();
        }
        const SHORT: usize = 80;
        if line.chars().count() <= SHORT {
            return Self(line);
        }
        let cut: String = line.chars().take(SHORT).collect();
        let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
        Self(format!("{words}…"))
    }

    /// The title.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationMessage {
    /// ID of the message.
    pub id: MessageId,
    /// Conversation it belongs to.
    pub conversation: ConversationId,
    /// Position in the conversation, starting at 0.
    pub ordinal: u32,
    /// Who wrote it.
    pub role: MessageRole,
    /// Text of the message.
    pub content: String,
    /// Time of the message; for an answer, the time it ended.
    pub at: DateTime<Utc>,
}

/// Who wrote a message.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageRole {
    /// The conversation's owner.
    User,
    /// An agent.
    Agent {
        /// Name of the agent.
        name: AgentName,
        /// Passages that the answer is based on, best first.
        sources: Vec<ScoredChunk>,
        /// Token usage.
        tokens: TokenUsage,
        /// Whether the answer is complete: it was not stopped and the back end did not fail.
        is_complete: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_derived_from_first_question() {
        let title = |text: &str| ConversationTitle::of_question(text).as_str().to_owned();
        assert_eq!(title("  What was\nthe revenue? "), "What was the revenue?");
        assert_eq!(title("\n"), "New conversation");
        let long = title(&"word ".repeat(40));
        assert!(long.ends_with("word…") && long.chars().count() <= 81);
        assert!(title(&"x".repeat(500)).chars().count() <= 81);
    }
}
