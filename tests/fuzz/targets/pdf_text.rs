//! Reads any bytes as a PDF, as the extraction worker does, from the header to the bookmarks.
#![no_main]

use docent_fuzz::{ignore_library_panics, read_pdf};
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: ignore_library_panics(), |data: &[u8]| {
    read_pdf(data.to_vec());
});
