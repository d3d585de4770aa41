//! Contract of every text recognizer.

use docent_domain::fault::FaultKind;
use docent_domain::recognition::{Languages, Orientation, RecognitionFailure, RecognizedPage};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use std::sync::Arc;

/// A recognizer, and images in the format that it reads.
pub struct Subject {
    /// The recognizer, with data for English.
    pub recognizer: Arc<dyn TextRecognizer>,
    /// Makes an image of a page with these lines of text, at [`DPI`].
    pub scan: fn(&[&str]) -> Vec<u8>,
}

/// Resolution of the images.
pub const DPI: u16 = 150;

/// Recognises an English page.
pub async fn recognize(subject: &Subject, png: &[u8]) -> Result<RecognizedPage, RecognitionError> {
    let languages = Languages::default();
    subject.recognizer.recognize(PageScan { png, dpi: DPI, is_picture: false, languages: &languages }).await
}

crate::battery! {
    text_recognizer_contract in text_recognizer (Subject);

    async fn lines_and_words_are_in_reading_order(subject) {
        let png = (subject.scan)(&["Pumps move water", "Valves close pipes"]);
        let page = recognize(&subject, &png).await.unwrap();
        let lines: Vec<String> = page.lines.iter().map(|line| line.text()).collect();
        assert_eq!(lines, ["Pumps move water", "Valves close pipes"]);
        assert!(page.lines[0].begins_paragraph);
        assert_eq!(page.orientation(), Orientation::Upright);
    }

    /// Boxes have an extent and do not overlap: words of a line are beside each other, lines below each other.
    async fn boxes_show_where_words_are(subject) {
        let page = recognize(&subject, &(subject.scan)(&["Pumps move water", "Valves close pipes"])).await.unwrap();
        for line in &page.lines {
            let boxes: Vec<_> = line.words.iter().map(|word| word.bounds).collect();
            assert!(boxes.iter().all(|bounds| bounds.left < bounds.right && bounds.top < bounds.bottom));
            assert!(boxes.is_sorted_by(|a, b| a.right < b.left), "{boxes:?}");
        }
        let (first, second) = (page.lines[0].words[0].bounds, page.lines[1].words[0].bounds);
        assert!(first.bottom < second.top, "{first:?} {second:?}");
    }

    async fn clear_text_has_high_confidence(subject) {
        let page = recognize(&subject, &(subject.scan)(&["Pumps move water"])).await.unwrap();
        assert!((80..=100).contains(&page.confidence()), "{}", page.confidence());
    }

    async fn blank_page_has_no_lines(subject) {
        let page = recognize(&subject, &(subject.scan)(&[])).await.unwrap();
        assert_eq!(page, RecognizedPage::default());
    }

    /// The next page is not affected.
    async fn invalid_image_fails_as_page(subject) {
        for bytes in [&b""[..], b"GIF89a", b"\x89PNG"] {
            match recognize(&subject, bytes).await {
                Err(RecognitionError::Page(RecognitionFailure::Invalid)) => {}
                other => panic!("{bytes:?}: {other:?}"),
            }
        }
        recognize(&subject, &(subject.scan)(&["Pumps"])).await.unwrap();
    }

    async fn unknown_language_is_a_fault(subject) {
        let languages = Languages::parse("xxx").unwrap();
        let png = (subject.scan)(&["Pumps"]);
        match subject.recognizer.recognize(PageScan { png: &png, dpi: DPI, is_picture: false, languages: &languages }).await {
            Err(RecognitionError::Fault(fault)) => assert_eq!(fault.kind(), FaultKind::Unconfigured),
            other => panic!("{other:?}"),
        }
        let fault = subject.recognizer.check(&languages).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Unconfigured);
    }

    async fn check_succeeds_and_recognizer_has_name(subject) {
        subject.recognizer.check(&Languages::default()).await.unwrap();
        assert!(!subject.recognizer.name().is_empty());
    }

    async fn concurrent_pages_do_not_mix(subject) {
        let texts = ["Pumps", "Valves", "Water", "Pipes"];
        let scans: Vec<Vec<u8>> = texts.iter().map(|text| (subject.scan)(&[text])).collect();
        let runs = scans.iter().map(|png| recognize(&subject, png));
        for (text, page) in texts.iter().zip(futures::future::join_all(runs).await) {
            assert_eq!(page.unwrap().text().trim(), *text);
        }
    }
}
