//! Tests of extraction by feature.

mod drawing;
mod files;
mod fixtures;
mod hostile;
mod marked_content;
mod reading;
mod text_device;

use super::document::{DocumentLimits, read};
use super::limits::PageLimits;
use super::samples::{Sample, line, numbers, show, string};
use crate::reader::{Sink, Stopped};
use docent_domain::document::FailureCode;
use docent_domain::extraction::{ExtractedPage, Extraction, Metadata, OutlineEntry, PageQuality};
use lopdf::{Dictionary, Object, dictionary};
use std::io;

impl Sink for Extraction {
    fn page(&mut self, page: ExtractedPage) -> io::Result<()> {
        self.pages.push(page);
        Ok(())
    }

    fn complete(&mut self, pages: u32) -> io::Result<()> {
        assert_eq!(self.pages.len(), pages as usize);
        Ok(())
    }

    fn metadata(&mut self, metadata: Metadata) -> io::Result<()> {
        self.metadata = metadata;
        Ok(())
    }
}

fn default_limits() -> DocumentLimits {
    DocumentLimits { pages: 100, text_bytes: 1 << 20, page: PageLimits::default() }
}

fn extract_within(pdf: Vec<u8>, limits: &DocumentLimits) -> Result<Extraction, FailureCode> {
    let mut extraction = Extraction::default();
    match read(pdf, limits, &mut extraction) {
        Ok(()) => Ok(extraction),
        Err(Stopped::Document(failure)) => Err(failure.code),
        Err(Stopped::Sink(error)) => panic!("{error}"),
    }
}

fn extract(pdf: Vec<u8>) -> Result<Extraction, FailureCode> {
    extract_within(pdf, &default_limits())
}

fn first_page(sample: Sample) -> ExtractedPage {
    extract(sample.bytes()).unwrap().pages.remove(0)
}

/// Extracts the text of a page with this content.
fn text(content: &str) -> String {
    first_page(Sample::new().page(content)).text
}

/// Builds a file with a classic cross-reference table.
fn by_hand(text: &str) -> String {
    let content = line(72, 700, text);
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R >>".to_owned(),
        format!("<< /Length {} >> stream\n{content}\nendstream", content.len()),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = "xref\n0 5\n0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(objects) {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{number} 0 obj\n{object}\nendobj\n");
    }
    let start = pdf.len();
    format!("{pdf}{table}trailer << /Size 5 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n")
}
