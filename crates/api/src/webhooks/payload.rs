//! Body of webhook messages.

use crate::documents::report::FailureView;
use crate::documents::response::DocumentResponse;
use crate::timestamp::rfc3339;
use docent_domain::document::{Document, DocumentState};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::webhook::WebhookPayload;
use serde::Serialize;

#[derive(Serialize)]
struct Message<'a> {
    r#type: &'static str,
    timestamp: String,
    data: Data<'a>,
}

/// The subject of the event; empty for test messages.
#[derive(Default, Serialize)]
struct Data<'a> {
    /// The response of `GET /documents/{doc_id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<DocumentResponse<'a>>,
    /// The failure in the response of `GET /documents/{doc_id}/report`.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureView<'a>>,
}

impl<'a> From<&'a Document> for Data<'a> {
    fn from(document: &'a Document) -> Self {
        let failure = match &document.state {
            DocumentState::Failed(failed) => Some(FailureView::from(&failed.failure)),
            DocumentState::Ingested(_) => document.failed_replacement().map(FailureView::from),
            DocumentState::Pending(_) => None,
        };
        Self { document: Some(document.into()), failure }
    }
}

/// Serializes the body of a webhook message.
///
/// # Errors
/// None in practice: the values can always be written as JSON.
pub fn webhook_body(payload: &WebhookPayload<'_>) -> Result<String> {
    let message = Message {
        r#type: payload.event.name(),
        timestamp: rfc3339(payload.at),
        data: payload.document.map(Data::from).unwrap_or_default(),
    };
    serde_json::to_string(&message).map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "serializing a webhook message").caused_by(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use docent_domain::document::{Failure, FailureCode};
    use docent_domain::extraction::Coverage;
    use docent_domain::id::{CollectionId, DocumentId, UserId};
    use docent_domain::text::Title;
    use docent_domain::webhook::WebhookEvent;

    /// Deliveries are stored, signed and sent as these bytes.
    // Invariant: The bytes of webhook messages and of cached extractions do not change between versions.
    #[test]
    fn bodies_are_compact_json_in_a_fixed_order() {
        let id = "01900000-0000-7000-8000-000000000001";
        let document = || {
            let (id, owner): (DocumentId, UserId) = (id.parse().unwrap(), id.parse().unwrap());
            let title = Title::parse("A \"title\"").unwrap();
            Document::new(id, owner, CollectionId::EVERYONE, title, None, DateTime::UNIX_EPOCH)
        };
        let body = |event, document| {
            webhook_body(&WebhookPayload { event, at: DateTime::UNIX_EPOCH, document }).unwrap()
        };
        let expected = |event, data: &str| {
            format!(r#"{{"type":"{event}","timestamp":"1970-01-01T00:00:00.000000Z","data":{{{data}}}}}"#)
        };
        assert_eq!(body(WebhookEvent::Ping, None), expected("ping", ""));
        let view = |status, vector_doc_id: &str| {
            format!(
                r#""document":{{"id":"{id}","title":"A \"title\"","status":"{status}","vector_doc_id":{vector_doc_id}}}"#
            )
        };
        let ingested = document().ingested(Coverage::default(), DateTime::UNIX_EPOCH).unwrap();
        let data = view("ingested", &format!(r#""{id}""#));
        let event = WebhookEvent::DocumentIngested;
        assert_eq!(body(event, Some(&ingested)), expected("document.ingested", &data));
        let failure = Failure::because(FailureCode::FileMissing, "no \"file\"");
        let failed = document().failed(failure, None, DateTime::UNIX_EPOCH).unwrap();
        let failure =
            r#""failure":{"code":"file_missing","reason":"no \"file\"","advice":"upload it again"}"#;
        let data = format!("{},{failure}", view("failed", "null"));
        assert_eq!(body(WebhookEvent::DocumentFailed, Some(&failed)), expected("document.failed", &data));
    }
}
