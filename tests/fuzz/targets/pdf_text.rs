//! Any bytes as a PDF: the way of the extraction worker, from the header to bookmarks.
#![no_main]

use docent_fuzz::{let_libraries_panic, read_pdf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: let_libraries_panic(), |data: &[u8]| {
    read_pdf(data.to_vec());
});
