//! Contract of every webhook sender.

use docent_domain::webhook::WebhookUrl;
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage, WebhookSender};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A sender that is allowed to reach a local receiver, and that receiver.
pub struct Subject {
    /// The sender.
    pub sender: Arc<dyn WebhookSender>,
    /// The same sender, restricted to public hosts.
    pub careful: Arc<dyn WebhookSender>,
    /// URL of the receiver.
    pub url: WebhookUrl,
    /// Sets the receiver's response to the next message.
    pub answer: Box<dyn Fn(ReceiverResponse) + Send>,
    /// Makes the receiver close the connection instead of responding to the next message.
    pub cut: Box<dyn Fn() + Send>,
    /// The messages received so far.
    pub arrived: Box<dyn Fn() -> Vec<WebhookMessage> + Send>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subject")
    }
}

const TAKEN: ReceiverResponse = ReceiverResponse { status: 204, retry_after: None };

fn message(url: &WebhookUrl, n: i64) -> WebhookMessage {
    WebhookMessage {
        url: url.clone(),
        id: format!("message-{n}"),
        timestamp: 1_767_225_600 + n,
        signature: format!("v1,c2lnbmF0dXJl v1,{n}"),
        body: format!("{{\"n\":{n},\"title\":\"Grüße 🐎\"}}"),
    }
}

crate::battery! {
    webhook_sender_contract in webhook_sender (Subject);

    async fn message_arrives_unchanged(subject) {
        let sent = [message(&subject.url, 1), message(&subject.url, 2)];
        for message in &sent {
            (subject.answer)(TAKEN);
            let answer = subject.sender.send(message).await.unwrap();
            assert_eq!(answer, TAKEN);
        }
        assert_eq!((subject.arrived)(), sent);
    }

    async fn responses_are_returned_and_redirects_not_followed(subject) {
        for status in [200, 301, 302, 307, 308, 400, 410, 429, 500, 503] {
            let retry_after = (status == 429).then(|| Duration::from_secs(90));
            let answer = ReceiverResponse { status, retry_after };
            (subject.answer)(answer);
            assert_eq!(subject.sender.send(&message(&subject.url, 1)).await.unwrap(), answer);
        }
        assert_eq!((subject.arrived)().len(), 10);
    }

    async fn closed_connection_is_an_error(subject) {
        (subject.cut)();
        assert_eq!(subject.sender.send(&message(&subject.url, 1)).await, Err(DeliveryError::InvalidResponse));
        (subject.answer)(TAKEN);
        assert_eq!(subject.sender.send(&message(&subject.url, 2)).await, Ok(TAKEN));
    }

    /// The host is refused both by the check and when sending, and receives nothing.
    async fn non_public_host_is_refused(subject) {
        assert_eq!(subject.sender.check(&subject.url).await, Ok(()));
        let refused = subject.careful.check(&subject.url).await.unwrap_err();
        assert_eq!(refused.field, "url");
        let refused = subject.careful.send(&message(&subject.url, 1)).await.unwrap_err();
        assert!(matches!(refused, DeliveryError::Refused(_)), "{refused:?}");
        assert!((subject.arrived)().is_empty());
    }
}
