//! A valid PDF around a hostile content stream, map of characters, form, encoding and drawn glyph, in this
//! order and apart by lines of `%%`: the interpreter and the text device are always reached.
#![no_main]

use docent_fuzz::{
    let_libraries_panic,
    pdf::{self, Parts},
    read_pdf, sections,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: let_libraries_panic(), |data: &[u8]| {
    let mut sections = sections(data);
    let mut next = || sections.next().unwrap_or_default();
    let parts = Parts { content: next(), to_unicode: next(), form: next(), encoding: next(), glyph: next() };
    let reading = read_pdf(pdf::with(&parts));
    assert_eq!(reading.failure, None, "the file around it is good");
    assert_eq!(reading.pages.len(), 1);
});
