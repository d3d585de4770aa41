//! IDs of the OpenAI API: a prefix and the 32 digits of a UUID.

use docent_app::error::Error;
use docent_domain::id::{CollectionId, DocumentId, FileBatchId, ResponseId};
use docent_domain::permission::RecordKind;
use docent_http::ApiError;
use std::fmt::Display;
use std::str::FromStr;

/// An ID that clients of the OpenAI API see with a prefix.
pub(crate) trait ClientId: Copy + Display + FromStr {
    /// The prefix.
    const PREFIX: &'static str;

    /// The error of an unknown ID.
    fn unknown() -> Error;
}

impl ClientId for DocumentId {
    const PREFIX: &'static str = "file-";

    fn unknown() -> Error {
        Error::NotFound(RecordKind::Document)
    }
}

impl ClientId for CollectionId {
    const PREFIX: &'static str = "vs_";

    fn unknown() -> Error {
        Error::NotFound(RecordKind::Collection)
    }
}

impl ClientId for FileBatchId {
    const PREFIX: &'static str = "vsfb_";

    fn unknown() -> Error {
        Error::BatchNotFound
    }
}

impl ClientId for ResponseId {
    const PREFIX: &'static str = "resp_";

    fn unknown() -> Error {
        Error::ResponseNotFound
    }
}

/// The ID as clients of the OpenAI API see it.
pub(crate) fn encode<Id: ClientId>(id: Id) -> String {
    format!("{}{}", Id::PREFIX, id.to_string().replace('-', ""))
}

/// Decodes an ID. The prefix can be missing, so that IDs of the other paths are known here too.
pub(crate) fn decode<Id: ClientId>(text: &str) -> Option<Id> {
    text.strip_prefix(Id::PREFIX).unwrap_or(text).parse().ok()
}

/// Decodes an ID of a path or a body.
///
/// # Errors
/// 404 for a malformed ID, as for an unknown one.
pub(crate) fn require<Id: ClientId>(text: &str) -> Result<Id, ApiError> {
    decode(text).ok_or_else(|| Id::unknown().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_has_a_prefix_that_can_be_missing() {
        let id: DocumentId = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e".parse().unwrap();
        assert_eq!(encode(id), "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e");
        assert_eq!((decode(&encode(id)), decode(&id.to_string())), (Some(id), Some(id)));
        assert_eq!(encode(CollectionId::EVERYONE), "vs_00000000000000000000000000000001");
        for wrong in ["", "file-", "file-x", "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e"] {
            assert_eq!(decode::<DocumentId>(wrong), None, "{wrong:?}");
            assert_eq!(require::<DocumentId>(wrong).unwrap_err().status(), 404, "{wrong:?}");
        }
    }
}
