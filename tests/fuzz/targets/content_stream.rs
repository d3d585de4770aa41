//! Reads a valid PDF with a hostile content stream, ToUnicode map, form, encoding and glyph, in this order, separated by
//! lines of `%%`. The interpreter and the text device are always reached.
#![no_main]

use docent_fuzz::pdf::{self, Parts};
use docent_fuzz::{ignore_library_panics, read_pdf, sections};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: ignore_library_panics(), |data: &[u8]| {
    let mut sections = sections(data);
    let mut next = || sections.next().unwrap_or_default();
    let parts = Parts { content: next(), to_unicode: next(), form: next(), encoding: next(), glyph: next() };
    let reading = read_pdf(pdf::with(&parts));
    assert_eq!(reading.failure, None, "the file around it is good");
    assert_eq!(reading.pages.len(), 1);
});
