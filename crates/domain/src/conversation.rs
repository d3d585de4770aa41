//! Conversations and their messages.

use crate::access::{Chat, Grant};
use crate::chat::AgentName;
use crate::error::ValidationError;
use crate::fallback::FallbackCause;
use crate::feedback::Feedback;
use crate::id::{ApiKeyId, CollectionId, ConversationId, DocumentId, MessageId, UserId};
use crate::retrieval::ScoredChunk;
use crate::scope::Scope;
use crate::selection::Selection;
use crate::usage::TokenUsage;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// Maximum length of a [`ConversationTitle`] in characters.
pub const CONVERSATION_TITLE_MAX: usize = 200;
/// Maximum number of collections and of documents in a [`ConversationSelection`].
pub const CONVERSATION_SELECTION_MAX: usize = 100;

/// A conversation of an account with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// ID of the conversation.
    pub id: ConversationId,
    /// Account that owns it. Other accounts can only read it, and only if it is shared with them.
    pub owner: UserId,
    /// Title of the conversation.
    pub title: ConversationTitle,
    /// What its last question was limited to.
    pub selection: ConversationSelection,
    /// Whether it is listed before the others.
    pub is_pinned: bool,
    /// The API key that began it, if that key is limited to collections. Of such keys only this one can access it.
    pub limited_key: Option<ApiKeyId>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last message or title change.
    pub updated_at: DateTime<Utc>,
}

impl Conversation {
    /// Whether an actor with this permission can access it. An answer quotes documents of any collection of the account, so
    /// an API key that is limited to some has conversations of its own.
    pub fn is_open_to(&self, grant: &Grant<Chat>) -> bool {
        self.owner == grant.user() && grant.limited_key().is_none_or(|key| self.limited_key == Some(key))
    }

    /// Whether an actor of another account can read it, since it is shared with these collections. Conversations of its own
    /// account that are hidden from an API key stay hidden.
    pub fn is_readable_through(
        &self,
        grant: &Grant<Chat>,
        scope: &Scope,
        collections: &BTreeSet<CollectionId>,
    ) -> bool {
        self.owner != grant.user() && collections.iter().any(|id| scope.role_in(*id).is_some())
    }
}

/// Collections and documents that a question was limited to; all by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationSelection {
    /// The collections.
    pub collections: Option<Vec<CollectionId>>,
    /// The documents.
    pub documents: Option<Vec<DocumentId>>,
}

impl ConversationSelection {
    /// Whether nothing is chosen, so that all documents are searched.
    pub const fn is_everything(&self) -> bool {
        self.collections.is_none() && self.documents.is_none()
    }
}

impl From<&Selection> for ConversationSelection {
    /// Keeps at most [`CONVERSATION_SELECTION_MAX`] of each: a conversation can become narrower than its question, but
    /// never wider.
    fn from(selection: &Selection) -> Self {
        Self {
            collections: selection.collections.as_ref().map(|ids| first(ids)),
            documents: selection.documents.as_ref().map(|ids| first(ids)),
        }
    }
}

fn first<T: Copy>(ids: &[T]) -> Vec<T> {
    ids.iter().copied().take(CONVERSATION_SELECTION_MAX).collect()
}

/// The title of a conversation: trimmed, 1 to [`CONVERSATION_TITLE_MAX`] characters on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationTitle(String);

/// Maximum length of a title that is derived from a question, in characters.
const DERIVED_TITLE_MAX: usize = 60;
/// Shorter sentences, such as greetings, are no title of their own.
const SENTENCE_MIN: usize = 10;
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
    /// If it is empty after trimming, too long, or contains control or direction characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        crate::text::parse_label("title", text, CONVERSATION_TITLE_MAX).map(Self)
    }

    /// Derives a title from the first question: its first sentence that ends with a question mark or an exclamation mark,
    /// without a greeting before it, and at most [`DERIVED_TITLE_MAX`] characters.
    pub fn of_question(question: &str) -> Self {
        let line: String = question.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            return Self::untitled();
        }
        let mut sentences = line.split_inclusive(['?', '!', '？', '！']).map(str::trim);
        let title = sentences.find(|sentence| sentence.chars().count() >= SENTENCE_MIN).unwrap_or(&line);
        if title.chars().count() <= DERIVED_TITLE_MAX {
            return Self(title.to_owned());
        }
        let cut: String = title.chars().take(DERIVED_TITLE_MAX).collect();
        let words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
        Self(format!("{}…", words.trim_end_matches([',', ';', ':'])))
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
    /// When a later question replaced it. It is kept as an earlier version.
    pub replaced_at: Option<DateTime<Utc>>,
}

impl ConversationMessage {
    /// Removes what only the owner can see: feedback and earlier versions. Of a withheld message, also removes text, sources, token
    /// counts, and whether the answer was declined, interrupted or a fallback.
    pub fn show_to_reader(&mut self, is_withheld: bool) {
        let is_withheld = is_withheld || self.replaced_at.is_some();
        if is_withheld {
            self.content.clear();
        }
        if let MessageRole::Agent {
            sources,
            tokens,
            is_complete,
            is_declined,
            best_score,
            fallback,
            feedback,
            ..
        } = &mut self.role
        {
            *feedback = None;
            if is_withheld {
                sources.clear();
                (*tokens, *is_complete, *is_declined) = (TokenUsage::default(), true, false);
                (*best_score, *fallback) = (None, None);
            }
        }
    }
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
        /// Whether the agent declined to answer because the documents do not contain the answer.
        is_declined: bool,
        /// Score of its best passage, if scores of different questions are comparable.
        best_score: Option<f32>,
        /// Why the answer quotes documents, if the chat model could not answer.
        fallback: Option<FallbackCause>,
        /// Feedback of the owner.
        feedback: Option<Feedback>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_selection_becomes_narrower_and_not_wider() {
        let all: Vec<_> = (0..101).map(|n| DocumentId::from_uuid(uuid::Uuid::from_u128(n))).collect();
        let selection = Selection { documents: Some(all.clone()), ..Selection::default() };
        let kept = ConversationSelection::from(&selection);
        assert_eq!((kept.collections, kept.documents.as_deref()), (None, Some(&all[..100])));
        assert!(ConversationSelection::from(&Selection::default()).is_everything());
        let none = Selection { collections: Some(Vec::new()), ..Selection::default() };
        assert!(!ConversationSelection::from(&none).is_everything());
    }

    #[test]
    fn reader_sees_neither_feedback_nor_what_is_withheld() {
        let feedback =
            Feedback { rating: crate::feedback::Rating::Up, comment: None, at: DateTime::UNIX_EPOCH };
        let answer = ConversationMessage {
            id: MessageId::from_uuid(uuid::Uuid::from_u128(1)),
            conversation: ConversationId::from_uuid(uuid::Uuid::from_u128(2)),
            ordinal: 1,
            role: MessageRole::Agent {
                name: AgentName::parse("chat").unwrap(),
                sources: Vec::new(),
                tokens: TokenUsage::default(),
                is_complete: true,
                is_declined: false,
                best_score: None,
                fallback: Some(FallbackCause::Timeout),
                feedback: Some(feedback),
            },
            content: "Text".to_owned(),
            at: DateTime::UNIX_EPOCH,
            replaced_at: None,
        };
        let shown = |is_withheld, replaced_at| {
            let mut message = ConversationMessage { replaced_at, ..answer.clone() };
            message.show_to_reader(is_withheld);
            let MessageRole::Agent { feedback: None, fallback, .. } = message.role else { panic!() };
            (message.content, fallback)
        };
        let withheld = (String::new(), None);
        assert_eq!(shown(false, None), ("Text".to_owned(), Some(FallbackCause::Timeout)));
        assert_eq!(shown(true, None), withheld);
        assert_eq!(shown(false, Some(DateTime::UNIX_EPOCH)), withheld, "an earlier version");
    }

    #[test]
    fn shared_conversation_is_readable_through_a_role_of_another_account() {
        use crate::access::Actor;
        use crate::access::tests::user;
        use crate::user::User;
        let collection = |n| CollectionId::from_uuid(uuid::Uuid::from_u128(n));
        let owner = user(true, false, false);
        let other = User { id: UserId::generate(DateTime::UNIX_EPOCH, [2; 10]), ..owner.clone() };
        let conversation = Conversation {
            id: crate::id::ConversationId::from_uuid(uuid::Uuid::from_u128(9)),
            owner: owner.id,
            title: ConversationTitle::untitled(),
            selection: ConversationSelection::default(),
            is_pinned: false,
            limited_key: None,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        };
        let is_readable = |user: &User, roles: &[u128], shared: &[u128]| {
            let actor = Actor::of(user).unwrap();
            let role = |n: &u128| (collection(*n), crate::collection::CollectionRole::Viewer);
            let own = roles.iter().map(role).collect();
            let scope = Scope::of(&actor, crate::scope::AccountRoles { own, ..Default::default() });
            let shared = shared.iter().map(|n| collection(*n)).collect();
            conversation.is_readable_through(&actor.authorize().unwrap(), &scope, &shared)
        };
        assert!(is_readable(&other, &[5, 6], &[6, 7]));
        assert!(!is_readable(&other, &[5], &[6]));
        assert!(!is_readable(&other, &[5], &[]));
        assert!(!is_readable(&owner, &[5], &[5]), "its own are open to it or hidden from its key");
    }

    #[test]
    fn title_is_derived_from_first_question() {
        let title = |text: &str| ConversationTitle::of_question(text).as_str().to_owned();
        assert_eq!(title("  What was\nthe revenue? "), "What was the revenue?");
        assert_eq!(title("\n"), "New conversation");
        assert_eq!(
            title("Hello! How long is the warranty of pumps? I bought one."),
            "How long is the warranty of pumps?"
        );
        assert_eq!(title("Why? And how?"), "Why? And how?");
        assert_eq!(title("保証期間は何年ですか？ポンプの場合を教えてください。"), "保証期間は何年ですか？");
        let list = "Compare the revenue, the costs, the number of employees and sites, and the profit of the last five years";
        assert_eq!(title(list), "Compare the revenue, the costs, the number of employees and…");
        let long = title(&"word ".repeat(40));
        assert!(long.ends_with("word…") && long.chars().count() <= 61);
        assert!(title(&"x".repeat(500)).chars().count() <= 61);
    }
}
