//! Tests of the recognizer against a fake service.

use super::*;
use docent_testkit::contract::text_recognizer::Subject;
use docent_testkit::fakes::page_renderer::fake_scan;
use docent_testkit::wire::{FakeLlm, Reply};
use std::sync::Arc;

const TIMEOUT: Duration = Duration::from_secs(600);

fn url(fake: &FakeLlm) -> String {
    format!("http://{}/recognize", fake.address())
}

fn recognizer(fake: &FakeLlm) -> HttpRecognizer {
    HttpRecognizer::new(&url(fake), Some("key-very-secret"), TIMEOUT).unwrap()
}

mod contract {
    use super::*;

    docent_testkit::text_recognizer_contract!(async {
        let fake = FakeLlm::start().await;
        let scan = |lines: &[&str]| fake_scan(&lines.join("\n"));
        (Subject { recognizer: Arc::new(recognizer(&fake)), scan }, fake)
    });
}

async fn recognize(recognizer: &HttpRecognizer) -> Result<RecognizedPage, RecognitionError> {
    let languages = Languages::parse("deu+eng").unwrap();
    let scan =
        PageScan { png: &fake_scan("Pumps move water"), dpi: 300, is_picture: false, languages: &languages };
    recognizer.recognize(scan).await
}

#[tokio::test]
async fn image_languages_and_key_are_sent() {
    let fake = FakeLlm::start().await;
    assert_eq!(recognize(&recognizer(&fake)).await.unwrap().text(), "Pumps move water\n");
    let request = fake.requests().remove(0);
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/recognize"));
    assert_eq!(request.query, "languages=deu%2Beng&dpi=300");
    assert_eq!(request.header("content-type"), Some("image/png"));
    assert_eq!(request.header("authorization"), Some("Bearer key-very-secret"));
    assert_eq!(request.body, fake_scan("Pumps move water"));
}

#[tokio::test]
async fn fault_is_classified_and_remembered() {
    let cases = [
        (Reply::json(429, "{}"), FaultKind::RateLimited),
        (Reply::json(500, "Pumps move water"), FaultKind::Unavailable),
        (Reply::json(503, "{}"), FaultKind::Unavailable),
        (Reply::json(408, "{}"), FaultKind::Unavailable),
        (Reply::json(401, "key-very-secret"), FaultKind::Rejected),
        (Reply::json(404, "{}"), FaultKind::Rejected),
        (Reply::json(302, "{}").header("Location", "http://127.0.0.1:1/"), FaultKind::Rejected),
        (Reply::json(501, "{}"), FaultKind::Unconfigured),
        (Reply::json(200, "{").header("Content-Length", "100").cut(), FaultKind::Unavailable),
        (Reply::events(&["half"]).cut(), FaultKind::Unavailable),
        (Reply::events(&[]).reset(), FaultKind::Unavailable),
        (Reply::raw("nonsense\r\n\r\n"), FaultKind::Unavailable),
    ];
    let fake = FakeLlm::start().await;
    let recognizer = recognizer(&fake);
    for (reply, kind) in cases {
        fake.script(reply.clone());
        match recognize(&recognizer).await {
            Err(RecognitionError::Fault(fault)) => {
                assert_eq!((fault.component(), fault.kind()), (Component::Recognizer, kind), "{reply:?}");
                assert!(!fault.report().contains("secret") && !fault.report().contains("Pumps"), "{fault}");
            }
            other => panic!("{reply:?}: {other:?}"),
        }
        assert_eq!(recognizer.check(&Languages::default()).await.unwrap_err().kind(), kind);
        recognize(&recognizer).await.unwrap();
        recognizer.check(&Languages::default()).await.unwrap();
    }
}

#[tokio::test]
async fn refused_image_and_unusable_response_fail_the_page() {
    let fake = FakeLlm::start().await;
    let recognizer = recognizer(&fake);
    let endless = r#"{"width":1,"height":1,"lines":["#.to_owned() + &" ".repeat(MAX_RESPONSE);
    for reply in [
        Reply::json(400, "{}"),
        Reply::json(413, "{}"),
        Reply::json(415, "{}"),
        Reply::json(422, "{}"),
        Reply::json(200, "<html>"),
        Reply::json(200, ""),
        Reply::json(204, ""),
        Reply::json(200, endless),
    ] {
        fake.script(reply.clone());
        let result = recognize(&recognizer).await;
        let is_invalid = matches!(result, Err(RecognitionError::Page(RecognitionFailure::Invalid)));
        assert!(is_invalid, "{reply:?}: {result:?}");
        recognizer.check(&Languages::default()).await.unwrap();
    }
}

#[tokio::test]
async fn requested_pause_is_kept_within_bounds() {
    let fake = FakeLlm::start().await;
    let recognizer = recognizer(&fake);
    let pause = async |status, header: &str| {
        fake.script(Reply::json(status, "{}").header("Retry-After", header));
        match recognize(&recognizer).await {
            Err(RecognitionError::Fault(fault)) => fault.retry_after(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pause(429, "7").await, Some(Duration::from_secs(7)));
    assert_eq!(pause(503, " 0 ").await, Some(Duration::ZERO));
    assert_eq!(pause(429, "99999999").await, Some(MAX_PAUSE));
    assert_eq!(pause(429, "soon").await, None);
}

#[tokio::test]
async fn timeout_fails_the_page_and_several_in_a_row_are_a_fault() {
    let fake = FakeLlm::start().await;
    let recognizer = HttpRecognizer::new(&url(&fake), None, Duration::from_millis(50)).unwrap();
    for n in 1..=MAX_TIMEOUTS {
        let slow = if n == 1 { Reply::events(&["{"]) } else { Reply::events(&[]) };
        fake.script(slow.stall());
        match recognize(&recognizer).await {
            Err(RecognitionError::Page(RecognitionFailure::Timeout)) => assert!(n < MAX_TIMEOUTS),
            Err(RecognitionError::Fault(fault)) => {
                assert_eq!((n, fault.kind()), (MAX_TIMEOUTS, FaultKind::Timeout));
            }
            other => panic!("{other:?}"),
        }
    }
    let patient = HttpRecognizer { timeout: TIMEOUT, ..recognizer };
    recognize(&patient).await.unwrap();
    assert_eq!(patient.state.lock().unwrap().timeouts, 0);
}

#[tokio::test]
async fn stopped_service_is_unavailable() {
    let fake = FakeLlm::start().await;
    let recognizer = recognizer(&fake);
    fake.stop().await;
    let result = recognize(&recognizer).await;
    assert!(
        matches!(&result, Err(RecognitionError::Fault(fault)) if fault.kind() == FaultKind::Unavailable),
        "{result:?}"
    );
}

#[test]
fn name_has_the_host_without_path_and_key() {
    let recognizer = HttpRecognizer::new("http://ocr.example.org:9000/a?b=c", Some("key"), TIMEOUT).unwrap();
    assert_eq!(recognizer.name(), "http ocr.example.org:9000");
    assert!(HttpRecognizer::new("nonsense", None, TIMEOUT).is_err());
    assert!(HttpRecognizer::new("http://a/", Some("a\nb"), TIMEOUT).is_err());
}
