//! IDs that another program gave to files, such as those of a chat front end.

use crate::error::ValidationError;
use crate::id::DocumentId;
use std::fmt;

/// An ID that another program gave to a file, an agent or a person: 1 to [`ExternalId::MAX`] characters without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExternalId(String);

impl ExternalId {
    /// Maximum length in characters.
    pub const MAX: usize = 200;

    /// Parses an ID.
    ///
    /// # Errors
    /// If it is empty, too long or has control characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        if text.is_empty() || text.chars().count() > Self::MAX || text.chars().any(char::is_control) {
            let reason = format!("must have 1 to {} characters and no control characters", Self::MAX);
            return Err(ValidationError::new("id", reason));
        }
        Ok(Self(text.to_owned()))
    }

    /// The ID.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The ID that another program gave to the file of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalFile {
    /// The document.
    pub document: DocumentId,
    /// ID of the file there. The documents of one account have different ones.
    pub id: ExternalId,
    /// ID of the agent there whose users can search the file too.
    pub entity: Option<ExternalId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_ids_are_bounded() {
        for id in ["7d3f", "temp_file_id é", &"x".repeat(200)] {
            assert_eq!(ExternalId::parse(id).unwrap().as_str(), id);
        }
        for wrong in ["", "a\0", "a\nb", &"x".repeat(201)] {
            assert!(ExternalId::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
