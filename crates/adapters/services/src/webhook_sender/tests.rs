//! Tests of the sender with a local receiver.

use super::*;
use docent_testkit::contract::webhook_sender::Subject;
use docent_testkit::wire::{FakeLlm, Reply, Request};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncWriteExt;

fn url(text: &str) -> WebhookUrl {
    WebhookUrl::parse(text).unwrap()
}

fn message(to: &str) -> WebhookMessage {
    WebhookMessage {
        url: url(to),
        id: "m1".to_owned(),
        timestamp: 1_767_225_600,
        signature: "v1,x".to_owned(),
        body: "{}".to_owned(),
    }
}

fn sender(hosts: AllowedHosts) -> HttpWebhookSender {
    HttpWebhookSender::new(hosts).unwrap()
}

/// A sender whose resolver returns these addresses, one list per lookup.
fn with_addresses(hosts: AllowedHosts, answers: &'static [&'static [&'static str]]) -> HttpWebhookSender {
    let lookups = Arc::new(AtomicUsize::new(0));
    let lookup: Lookup = Arc::new(move |_| {
        let position = lookups.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
        let addresses = answers[position].iter().map(|text| text.parse().unwrap()).collect();
        Box::pin(async move { Ok(addresses) })
    });
    HttpWebhookSender::with_lookup(hosts, lookup).unwrap()
}

/// Converts a request to the message it delivered.
fn received(base: &str, request: &Request) -> WebhookMessage {
    assert_eq!((request.method.as_str(), request.header("content-type")), ("POST", Some("application/json")));
    let header = |name| request.header(name).unwrap().to_owned();
    WebhookMessage {
        url: url(&format!("{base}{}", request.path)),
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp").parse().unwrap(),
        signature: header("webhook-signature"),
        body: String::from_utf8(request.body.clone()).unwrap(),
    }
}

async fn subject() -> (Subject, ()) {
    let receiver = Arc::new(FakeLlm::start().await);
    let base = format!("http://{}", receiver.address());
    let (answering, cutting, arrived) = (Arc::clone(&receiver), Arc::clone(&receiver), receiver);
    let subject = Subject {
        sender: Arc::new(sender(AllowedHosts::PublicAndPrivate)),
        careful: Arc::new(sender(AllowedHosts::Public)),
        url: url(&format!("{base}/hook")),
        answer: Box::new(move |answer| {
            let reply = Reply::json(answer.status, "").header("Location", "/elsewhere");
            answering.script(match answer.retry_after {
                Some(pause) => reply.header("Retry-After", &pause.as_secs().to_string()),
                None => reply,
            });
        }),
        cut: Box::new(move || cutting.script(Reply::raw(""))),
        arrived: Box::new(move || {
            arrived.requests().iter().map(|request| received(&base, request)).collect()
        }),
    };
    (subject, ())
}

docent_testkit::webhook_sender_contract!(subject());

#[tokio::test]
async fn invalid_or_forbidden_url_is_rejected() {
    let strict = with_addresses(AllowedHosts::Public, &[&["1.1.1.1"]]);
    for (text, reason) in [
        ("https://", "is not a valid URL"),
        ("https:///x", "is not a valid URL"),
        ("https://ada@example.org", "must not contain a user name or a password"),
        ("https://ada:hunter2@example.org", "must not contain a user name or a password"),
        ("http://example.org", "must begin with https://"),
        ("https://127.0.0.1", NOT_PUBLIC),
        ("https://127.1", NOT_PUBLIC),
        ("https://0x7f000001", NOT_PUBLIC),
        ("https://2130706433/x", NOT_PUBLIC),
        ("https://10.0.0.1:8443", NOT_PUBLIC),
        ("https://169.254.169.254/latest", NOT_PUBLIC),
        ("https://[::1]", NOT_PUBLIC),
        ("https://[::ffff:7f00:1]", NOT_PUBLIC),
        ("https://[64:ff9b::a9fe:a9fe]", NOT_PUBLIC),
        ("https://[fe80::1]", NOT_PUBLIC),
    ] {
        assert_eq!(
            strict.check(&url(text)).await.unwrap_err(),
            ValidationError::new("url", reason),
            "{text}"
        );
        let refused = strict.send(&message(text)).await.unwrap_err();
        assert_eq!(refused, DeliveryError::Refused(reason.to_owned()), "{text}");
    }
    assert!(strict.check(&url("https://example.org/x?y=z")).await.is_ok());
}

#[tokio::test]
async fn name_with_any_forbidden_address_is_rejected() {
    let strict = with_addresses(AllowedHosts::Public, &[&["1.1.1.1", "192.168.0.1"]]);
    let to = "https://example.org";
    assert_eq!(strict.check(&url(to)).await.unwrap_err(), ValidationError::new("url", NOT_RESOLVED));
    assert_eq!(strict.send(&message(to)).await, Err(DeliveryError::Unresolved));
}

// Invariant: No webhook reaches a host that is not public, even if its name resolves differently later.
#[tokio::test]
async fn dns_rebinding_is_rejected_on_delivery() {
    let strict = with_addresses(AllowedHosts::Public, &[&["1.1.1.1"], &["127.0.0.1"]]);
    let to = "https://rebinding.example.org";
    assert_eq!(strict.check(&url(to)).await, Ok(()));
    assert_eq!(strict.send(&message(to)).await, Err(DeliveryError::Unresolved));
}

#[tokio::test]
async fn metadata_services_are_forbidden_when_private_hosts_are_allowed() {
    let permissive = with_addresses(AllowedHosts::PublicAndPrivate, &[&["169.254.169.254"]]);
    for to in ["http://169.254.169.254/latest", "http://metadata.example.org"] {
        assert!(permissive.check(&url(to)).await.is_err(), "{to}");
        let refused = permissive.send(&message(to)).await;
        assert!(matches!(refused, Err(DeliveryError::Refused(_) | DeliveryError::Unresolved)), "{to}");
    }
}

#[tokio::test]
async fn unknown_and_inner_names_get_the_same_answer() {
    let lookup: Lookup = Arc::new(|_| Box::pin(async { Err(io::ErrorKind::NotFound.into()) }));
    let unknown = HttpWebhookSender::with_lookup(AllowedHosts::Public, lookup).unwrap();
    let inner = with_addresses(AllowedHosts::Public, &[&["10.0.0.1"]]);
    let to = "https://host.example.org";
    let rejected = Err(ValidationError::new("url", NOT_RESOLVED));
    for sender in [unknown, inner] {
        assert_eq!(sender.check(&url(to)).await, rejected);
        assert_eq!(sender.send(&message(to)).await, Err(DeliveryError::Unresolved));
    }
}

#[tokio::test]
async fn delivery_uses_the_port_of_the_url() {
    let receiver = FakeLlm::start().await;
    receiver.script(Reply::json(200, "{}"));
    let permissive = with_addresses(AllowedHosts::PublicAndPrivate, &[&["127.0.0.1"]]);
    let to = format!("http://receiver.example.org:{}/hook", receiver.address().port());
    assert_eq!(permissive.send(&message(&to)).await.unwrap().status, 200);
    assert_eq!(receiver.requests()[0].path, "/hook");
}

#[tokio::test]
async fn stopped_or_non_tls_receiver_is_unreachable() {
    let permissive = sender(AllowedHosts::PublicAndPrivate);
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let gone = permissive.send(&message(&format!("http://127.0.0.1:{port}"))).await;
    assert_eq!(gone, Err(DeliveryError::Unreachable));
    let plain = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let to = format!("https://{}", plain.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = plain.accept().await.unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let plain = permissive.send(&message(&to)).await;
    assert_eq!(plain, Err(DeliveryError::Unreachable));
}

#[tokio::test]
async fn silent_receiver_times_out_and_invalid_response_is_an_error() {
    let receiver = FakeLlm::start().await;
    let to = format!("http://{}/hook", receiver.address());
    let permissive = sender(AllowedHosts::PublicAndPrivate);
    receiver.script(Reply::raw("").stall());
    let impatient = permissive.clone().with_timeout(Duration::from_millis(50));
    assert_eq!(impatient.send(&message(&to)).await, Err(DeliveryError::Timeout));
    receiver.script(Reply::raw("SSH-2.0-OpenSSH\r\n\r\n"));
    assert_eq!(permissive.send(&message(&to)).await, Err(DeliveryError::InvalidResponse));
}

#[tokio::test]
async fn long_or_truncated_response_body_is_ignored() {
    let receiver = FakeLlm::start().await;
    let to = format!("http://{}/hook", receiver.address());
    let permissive = sender(AllowedHosts::PublicAndPrivate);
    receiver.script(Reply::json(200, "x".repeat(MAX_BODY)).header("Content-Length", "99999999").stall());
    assert_eq!(permissive.send(&message(&to)).await.unwrap().status, 200);
    receiver.script(Reply::json(500, "{").header("Content-Length", "99").cut());
    assert_eq!(permissive.send(&message(&to)).await.unwrap().status, 500);
}

#[tokio::test]
async fn retry_after_is_read_in_seconds_only() {
    let receiver = FakeLlm::start().await;
    let to = format!("http://{}/hook", receiver.address());
    let permissive = sender(AllowedHosts::PublicAndPrivate);
    for (header, pause) in
        [("7", Some(Duration::from_secs(7))), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)]
    {
        receiver.script(Reply::json(503, "").header("Retry-After", header));
        assert_eq!(permissive.send(&message(&to)).await.unwrap().retry_after, pause, "{header}");
    }
}
