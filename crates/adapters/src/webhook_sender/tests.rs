//! Tests of the sender with a local receiver.

use super::*;
use docent_testkit::{
    contract::webhook_sender::Subject,
    wire::{FakeLlm, Reply, Request},
};
use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicUsize, Ordering},
};
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

fn sender(reach: Reach) -> HttpWebhookSender {
    HttpWebhookSender::new(reach).unwrap()
}

/// A sender whose resolver returns these addresses, one list per lookup.
fn misled(reach: Reach, answers: &'static [&'static [&'static str]]) -> HttpWebhookSender {
    let asked = Arc::new(AtomicUsize::new(0));
    let lookup: Lookup = Arc::new(move |_| {
        let place = asked.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
        let addresses = answers[place].iter().map(|text| text.parse().unwrap()).collect();
        Box::pin(async move { Ok(addresses) })
    });
    HttpWebhookSender::with_lookup(reach, lookup).unwrap()
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
        sender: Arc::new(sender(Reach::PrivateToo)),
        careful: Arc::new(sender(Reach::Public)),
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
async fn what_can_be_seen_to_be_wrong_is_refused_at_once() {
    let careful = misled(Reach::Public, &[&["1.1.1.1"]]);
    for (text, reason) in [
        ("https://", "is no URL"),
        ("https://ada@example.org", "must not hold a user name or a password"),
        ("https://ada:hunter2@example.org", "must not hold a user name or a password"),
        ("http://example.org", "must begin with https://"),
        ("https://127.0.0.1", OUT_OF_REACH),
        ("https://127.1", OUT_OF_REACH),
        ("https://0x7f000001", OUT_OF_REACH),
        ("https://2130706433/x", OUT_OF_REACH),
        ("https://10.0.0.1:8443", OUT_OF_REACH),
        ("https://169.254.169.254/latest", OUT_OF_REACH),
        ("https://[::1]", OUT_OF_REACH),
        ("https://[::ffff:7f00:1]", OUT_OF_REACH),
        ("https://[64:ff9b::a9fe:a9fe]", OUT_OF_REACH),
        ("https://[fe80::1]", OUT_OF_REACH),
    ] {
        assert_eq!(
            careful.check(&url(text)).await.unwrap_err(),
            ValidationError::new("url", reason),
            "{text}"
        );
        let refused = careful.send(&message(text)).await.unwrap_err();
        assert_eq!(refused, DeliveryError::Refused(reason.to_owned()), "{text}");
    }
    assert!(careful.check(&url("https://example.org/x?y=z")).await.is_ok());
}

#[tokio::test]
async fn a_name_that_leads_out_of_reach_is_refused_whatever_else_it_leads_to() {
    let careful = misled(Reach::Public, &[&["1.1.1.1", "192.168.0.1"]]);
    let to = "https://example.org";
    assert_eq!(careful.check(&url(to)).await.unwrap_err(), ValidationError::new("url", OUT_OF_REACH));
    assert!(matches!(careful.send(&message(to)).await, Err(DeliveryError::Refused(_))));
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_once_it_is_asked_is_refused_then() {
    let careful = misled(Reach::Public, &[&["1.1.1.1"], &["127.0.0.1"]]);
    let to = "https://rebinding.example.org";
    assert_eq!(careful.check(&url(to)).await, Ok(()));
    let refused = careful.send(&message(to)).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("the address {OUT_OF_REACH}"));
}

#[tokio::test]
async fn credentials_of_clouds_stay_out_of_reach_where_private_hosts_are_allowed() {
    let lax = misled(Reach::PrivateToo, &[&["169.254.169.254"]]);
    for to in ["http://169.254.169.254/latest", "http://metadata.example.org"] {
        assert!(lax.check(&url(to)).await.is_err(), "{to}");
        assert!(matches!(lax.send(&message(to)).await, Err(DeliveryError::Refused(_))), "{to}");
    }
}

#[tokio::test]
async fn a_name_that_leads_nowhere_may_be_written_down_and_is_told() {
    let lookup: Lookup = Arc::new(|_| Box::pin(async { Err(io::ErrorKind::NotFound.into()) }));
    let careful = HttpWebhookSender::with_lookup(Reach::Public, lookup).unwrap();
    assert_eq!(careful.check(&url("https://nowhere.example.org")).await, Ok(()));
    assert_eq!(careful.send(&message("https://nowhere.example.org")).await, Err(DeliveryError::Unresolved));
}

#[tokio::test]
async fn a_name_is_asked_for_at_the_port_of_its_address() {
    let receiver = FakeLlm::start().await;
    receiver.script(Reply::json(200, "{}"));
    let lax = misled(Reach::PrivateToo, &[&["127.0.0.1"]]);
    let to = format!("http://receiver.example.org:{}/hook", receiver.address().port());
    assert_eq!(lax.send(&message(&to)).await.unwrap().status, 200);
    assert_eq!(receiver.requests()[0].path, "/hook");
}

#[tokio::test]
async fn who_is_not_there_or_speaks_no_tls_is_unreachable() {
    let lax = sender(Reach::PrivateToo);
    let port = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let gone = lax.send(&message(&format!("http://127.0.0.1:{port}"))).await;
    assert_eq!(gone, Err(DeliveryError::Unreachable));
    let plain = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let to = format!("https://{}", plain.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = plain.accept().await.unwrap();
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let plain = lax.send(&message(&to)).await;
    assert_eq!(plain, Err(DeliveryError::Unreachable));
}

#[tokio::test]
async fn who_says_nothing_is_given_up_and_who_says_nonsense_has_not_answered() {
    let receiver = FakeLlm::start().await;
    let to = format!("http://{}/hook", receiver.address());
    let lax = sender(Reach::PrivateToo);
    receiver.script(Reply::raw("").stall());
    let hasty = lax.clone().giving_up_after(Duration::from_millis(50));
    assert_eq!(hasty.send(&message(&to)).await, Err(DeliveryError::Timeout));
    receiver.script(Reply::raw("SSH-2.0-OpenSSH\r\n\r\n"));
    assert_eq!(lax.send(&message(&to)).await, Err(DeliveryError::InvalidResponse));
}

#[tokio::test]
async fn little_of_an_answer_is_read_and_one_that_breaks_off_is_one() {
    let receiver = FakeLlm::start().await;
    let to = format!("http://{}/hook", receiver.address());
    let lax = sender(Reach::PrivateToo);
    receiver.script(Reply::json(200, "x".repeat(ANSWER_MAX)).header("Content-Length", "99999999").stall());
    assert_eq!(lax.send(&message(&to)).await.unwrap().status, 200);
    receiver.script(Reply::json(500, "{").header("Content-Length", "99").cut());
    assert_eq!(lax.send(&message(&to)).await.unwrap().status, 500);
}

#[tokio::test]
async fn only_seconds_are_read_of_when_to_come_back() {
    let receiver = FakeLlm::start().await;
    let to = format!("http://{}/hook", receiver.address());
    let lax = sender(Reach::PrivateToo);
    for (header, pause) in
        [("7", Some(Duration::from_secs(7))), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None)]
    {
        receiver.script(Reply::json(503, "").header("Retry-After", header));
        assert_eq!(lax.send(&message(&to)).await.unwrap().retry_after, pause, "{header}");
    }
}
