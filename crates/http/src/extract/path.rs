//! IDs in the path.

use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use docent_domain::id::{
    CollectionId, ConversationId, DocumentId, MessageId, StreamId, WebhookDeliveryId, WebhookId,
};
use std::future::{Ready, ready};
use std::str::FromStr;

/// An ID that can be in a path.
pub trait IdInPath: FromStr {
    /// Name of the path parameter.
    const PARAMETER: &'static str = "id";
}

impl IdInPath for CollectionId {}
impl IdInPath for ConversationId {}
impl IdInPath for StreamId {}
impl IdInPath for WebhookId {}

impl IdInPath for DocumentId {
    const PARAMETER: &'static str = "doc_id";
}

impl IdInPath for MessageId {
    const PARAMETER: &'static str = "message";
}

impl IdInPath for WebhookDeliveryId {
    const PARAMETER: &'static str = "delivery";
}

/// The ID of a record in the path. Handlers call [`PathId::parse`] after authorization, so that unauthorized clients
/// receive 401 or 403 for every path.
pub struct PathId<Id>(Option<Id>);

impl<Id: IdInPath> PathId<Id> {
    /// Returns the ID.
    ///
    /// # Errors
    /// 422 if it is invalid.
    pub fn parse(self) -> Result<Id, ApiError> {
        self.0.ok_or_else(|| ApiError::invalid_field(&["path", Id::PARAMETER], "must be a UUID"))
    }
}

impl<Id: IdInPath> FromRequest for PathId<Id> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let text = request.match_info().get(Id::PARAMETER);
        ready(Ok(Self(text.and_then(|text| text.parse().ok()))))
    }
}
