//! Tests of the readers of other formats than PDF in real worker processes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod hostile;

use docent_domain::document::{Failure, FailureCode};
use docent_domain::file_type::FileType;
use docent_extraction::{ExtractionLimits, WorkerExtractor};
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use docent_testkit::contract::text_extractor::pieces;
use hostile::{HIDDEN, TEXT};
use std::io::ErrorKind;
use std::net::TcpListener;

/// The text that a worker reads.
async fn extract(file_type: FileType, bytes: Vec<u8>) -> Result<String, Failure> {
    let limits = ExtractionLimits::default();
    let worker = WorkerExtractor::new(env!("CARGO_BIN_EXE_docent-extract-worker").into(), Vec::new(), limits);
    match worker.extract(file_type, pieces(bytes, 64 << 10)).await {
        Ok(extraction) => Ok(extraction.pages.into_iter().map(|page| page.text).collect()),
        Err(ExtractionError::Document(failure)) => Err(failure),
        Err(ExtractionError::Fault(fault)) => panic!("{}", fault.report()),
    }
}

#[tokio::test]
async fn hostile_files_are_read_or_fail_with_their_code() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    for file in hostile::files(&format!("http://{}", server.local_addr().unwrap())) {
        let (name, file_type) = (file.name, FileType::of_name(file.name).unwrap());
        match (extract(file_type, file.bytes).await, file.failure) {
            (Ok(text), None) => {
                assert!(text.contains(TEXT) && !text.contains(HIDDEN), "{name}: {text:.1000}");
            }
            (Err(failure), Some(code)) => assert_eq!(failure.code, code, "{name}: {}", failure.reason),
            (Ok(text), Some(code)) => panic!("{name}: {code} expected, {} bytes read", text.len()),
            (Err(failure), None) => panic!("{name}: {failure:?}"),
        }
        assert_eq!(server.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{name} was fetched");
    }
}

#[tokio::test]
async fn file_that_is_of_another_type_fails() {
    let pdf = b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n".to_vec();
    for file_type in [FileType::Docx, FileType::Pptx, FileType::Xlsx, FileType::Odt, FileType::Epub] {
        let failure = extract(file_type, pdf.clone()).await.unwrap_err();
        assert_eq!(failure.code, FailureCode::Unreadable, "{file_type:?}: {}", failure.reason);
    }
    let document = hostile::files("").into_iter().find(|file| file.name == "macro.docm").unwrap().bytes;
    assert_eq!(extract(FileType::Pdf, document.clone()).await.unwrap_err().code, FailureCode::NotAPdf);
    let failure = extract(FileType::Pptx, document.clone()).await.unwrap_err();
    assert_eq!(failure.code, FailureCode::WrongFileType);
    assert_eq!(failure.reason, "the content of the file is DOCX, not PPTX");
    for text in [FileType::Text, FileType::Markdown, FileType::Csv] {
        assert_eq!(extract(text, document.clone()).await.unwrap_err().code, FailureCode::Unreadable);
    }
}
