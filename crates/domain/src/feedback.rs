//! Feedback of accounts on answers.

use crate::error::ValidationError;
use chrono::{DateTime, Utc};

/// Maximum length of a [`FeedbackComment`] in characters.
pub const FEEDBACK_COMMENT_MAX: usize = 2000;

/// What the owner of a conversation thinks of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Whether the answer was good.
    pub rating: Rating,
    /// Comment of the owner.
    pub comment: Option<FeedbackComment>,
    /// Time of the feedback.
    pub at: DateTime<Utc>,
}

/// Whether an answer was good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rating {
    /// Thumbs up.
    Up,
    /// Thumbs down.
    Down {
        /// What was wrong, if given.
        reason: Option<FeedbackReason>,
    },
}

impl Rating {
    /// Returns the rating with this name.
    ///
    /// # Errors
    /// For an unknown name, and for a reason with the rating `up`.
    pub fn parse(name: &str, reason: Option<FeedbackReason>) -> Result<Self, ValidationError> {
        match (name, reason) {
            ("up", None) => Ok(Self::Up),
            ("up", Some(_)) => Err(ValidationError::new("reason", "is only possible with the rating down")),
            ("down", reason) => Ok(Self::Down { reason }),
            _ => Err(ValidationError::new("rating", "must be up or down")),
        }
    }

    /// Name of the rating: `up` or `down`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down { .. } => "down",
        }
    }

    /// What was wrong, if given.
    pub const fn reason(self) -> Option<FeedbackReason> {
        match self {
            Self::Up => None,
            Self::Down { reason } => reason,
        }
    }
}

/// What was wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackReason {
    /// The answer is wrong.
    Incorrect,
    /// Something is missing.
    Incomplete,
    /// The answer is about something else.
    OffTopic,
    /// The passages are not the right ones.
    WrongSources,
    /// The answer or its documents are out of date.
    Outdated,
    /// Something else.
    Other,
}

impl FeedbackReason {
    /// All reasons.
    pub const ALL: &[Self] =
        &[Self::Incorrect, Self::Incomplete, Self::OffTopic, Self::WrongSources, Self::Outdated, Self::Other];

    /// Name of the reason.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Incorrect => "incorrect",
            Self::Incomplete => "incomplete",
            Self::OffTopic => "off_topic",
            Self::WrongSources => "wrong_sources",
            Self::Outdated => "outdated",
            Self::Other => "other",
        }
    }

    /// Label of the reason for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Incorrect => "Incorrect",
            Self::Incomplete => "Incomplete",
            Self::OffTopic => "Off topic",
            Self::WrongSources => "Wrong sources",
            Self::Outdated => "Outdated",
            Self::Other => "Other",
        }
    }

    /// Returns the reason with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|reason| reason.name() == name)
    }
}

/// A comment on an answer: trimmed, 1 to [`FEEDBACK_COMMENT_MAX`] characters, possibly on several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedbackComment(String);

impl FeedbackComment {
    /// Parses a comment.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or contains control characters other than line breaks and tabs.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let invalid = |reason: String| Err(ValidationError::new("comment", reason));
        let text = text.trim();
        if text.is_empty() {
            return invalid("must not be empty".to_owned());
        }
        if text.chars().count() > FEEDBACK_COMMENT_MAX {
            return invalid(format!("must have at most {FEEDBACK_COMMENT_MAX} characters"));
        }
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            return invalid("must not contain control characters".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_is_rejected_with_the_rating_up() {
        let reason = Some(FeedbackReason::Outdated);
        assert_eq!(Rating::parse("down", reason), Ok(Rating::Down { reason }));
        assert_eq!(Rating::parse("up", None), Ok(Rating::Up));
        assert_eq!(Rating::parse("up", reason).unwrap_err().field, "reason");
        assert_eq!(Rating::parse("sideways", None).unwrap_err().field, "rating");
    }

    #[test]
    fn reason_round_trips_through_name() {
        for reason in FeedbackReason::ALL {
            assert_eq!(FeedbackReason::parse(reason.name()), Some(*reason));
        }
        assert_eq!(FeedbackReason::parse("Outdated"), None);
    }

    #[test]
    fn comment_is_trimmed_and_limited() {
        let parsed = |text: &str| FeedbackComment::parse(text).map(|comment| comment.0);
        assert_eq!(parsed(" Page 3\nis newer. ").unwrap(), "Page 3\nis newer.");
        assert!(parsed(&"é".repeat(FEEDBACK_COMMENT_MAX)).is_ok());
        for invalid in [" ", &"é".repeat(FEEDBACK_COMMENT_MAX + 1), "a\0b"] {
            assert_eq!(parsed(invalid).unwrap_err().field, "comment");
        }
    }
}
