//! Conversations, and what was said in them.

use crate::{
    chat::AgentName,
    error::ValidationError,
    id::{ConversationId, MessageId, UserId},
    retrieval::ScoredChunk,
    usage::TokenUsage,
};
use chrono::{DateTime, Utc};

/// The most characters of a [`ConversationTitle`].
pub const CONVERSATION_TITLE_MAX: usize = 200;

/// A conversation of an account with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// Whose it is; nobody else's request finds it.
    pub owner: UserId,
    /// What it is called.
    pub title: ConversationTitle,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// When something was last said in it, or it was renamed.
    pub updated_at: DateTime<Utc>,
}

/// What a conversation is called: trimmed, 1 to [`CONVERSATION_TITLE_MAX`] characters on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationTitle(String);

/// What a conversation is called before anything tells what it is about.
const UNTITLED: &str = "New conversation";

impl ConversationTitle {
    /// The title of a conversation in which nothing has been said.
    pub fn untitled() -> Self {
        Self(UNTITLED.to_owned())
    }

    /// Whether it says nothing of what the conversation is about.
    pub fn is_untitled(&self) -> bool {
        self.0 == UNTITLED
    }

    /// Parses a title that somebody chose.
    ///
    /// # Errors
    /// When it is empty after trimming, too long, or holds control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        crate::group::label("title", text, CONVERSATION_TITLE_MAX).map(Self)
    }

    /// The title of a conversation that begins with this question: its first words.
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

/// Something that was said in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationMessage {
    /// Its id.
    pub id: MessageId,
    /// Where it was said.
    pub conversation: ConversationId,
    /// Its place, from 0 on.
    pub ordinal: u32,
    /// Who said it.
    pub author: MessageRole,
    /// The words.
    pub content: String,
    /// When it was said: of an answer, when it was over.
    pub at: DateTime<Utc>,
}

/// Who said something.
#[derive(Clone, Debug, PartialEq)]
pub enum MessageRole {
    /// The conversation's owner.
    User,
    /// An agent.
    Agent {
        /// Which one.
        name: AgentName,
        /// What the answer rests on, best first.
        sources: Vec<ScoredChunk>,
        /// What it cost.
        tokens: TokenUsage,
        /// Whether it was said to its end; not when it was stopped, or the back end failed.
        is_complete: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_called_after_its_first_question() {
        let title = |text: &str| ConversationTitle::of_question(text).as_str().to_owned();
        assert_eq!(title("  What was\nthe revenue? "), "What was the revenue?");
        assert_eq!(title("\n"), "New conversation");
        let long = title(&"word ".repeat(40));
        assert!(long.ends_with("word…") && long.chars().count() <= 81);
        assert!(title(&"x".repeat(500)).chars().count() <= 81);
    }
}
