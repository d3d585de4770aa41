//! What every sender of webhooks' messages does.

use docent_domain::webhook::WebhookUrl;
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage, WebhookSender};
use std::{fmt, sync::Arc, time::Duration};

/// A sender that may reach a receiver on this machine, and what is at the other end.
pub struct Subject {
    /// The sender.
    pub sender: Arc<dyn WebhookSender>,
    /// The same one, which keeps to public hosts.
    pub careful: Arc<dyn WebhookSender>,
    /// Where the receiver is.
    pub url: WebhookUrl,
    /// Has the receiver answer the next message with this.
    pub answer: Box<dyn Fn(ReceiverResponse) + Send>,
    /// Has the receiver break off instead of answering the next message.
    pub cut: Box<dyn Fn() + Send>,
    /// The messages that the receiver was sent.
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

    /// What is sent arrives, byte by byte, with its headers.
    async fn messages_arrive_as_they_were_sent(subject) {
        let sent = [message(&subject.url, 1), message(&subject.url, 2)];
        for message in &sent {
            (subject.answer)(TAKEN);
            let answer = subject.sender.send(message).await.unwrap();
            assert_eq!(answer, TAKEN);
        }
        assert_eq!((subject.arrived)(), sent);
    }

    /// Every status is told as it came, redirections too, with when to come back.
    async fn answers_are_told_and_none_is_followed(subject) {
        for status in [200, 301, 302, 307, 308, 400, 410, 429, 500, 503] {
            let retry_after = (status == 429).then(|| Duration::from_secs(90));
            let answer = ReceiverResponse { status, retry_after };
            (subject.answer)(answer);
            assert_eq!(subject.sender.send(&message(&subject.url, 1)).await.unwrap(), answer);
        }
        assert_eq!((subject.arrived)().len(), 10);
    }

    /// A receiver that breaks off has not answered.
    async fn a_receiver_that_breaks_off_has_not_answered(subject) {
        (subject.cut)();
        assert_eq!(subject.sender.send(&message(&subject.url, 1)).await, Err(DeliveryError::InvalidResponse));
        (subject.answer)(TAKEN);
        assert_eq!(subject.sender.send(&message(&subject.url, 2)).await, Ok(TAKEN));
    }

    /// A host that is not public is refused beforehand and again when it is asked, and nothing is sent.
    async fn hosts_that_are_not_public_are_refused(subject) {
        assert_eq!(subject.sender.check(&subject.url).await, Ok(()));
        let refused = subject.careful.check(&subject.url).await.unwrap_err();
        assert_eq!(refused.field, "url");
        let refused = subject.careful.send(&message(&subject.url, 1)).await.unwrap_err();
        assert!(matches!(refused, DeliveryError::Refused(_)), "{refused:?}");
        assert!((subject.arrived)().is_empty());
    }
}
