//! Reads any bytes as a file of the type that the first byte selects, as the extraction worker does.
#![no_main]

use docent_domain::extraction::LABEL_MAX;
use docent_domain::file_type::{FileType, detect};
use docent_extraction::fuzzing::{TEXT_BYTES, read_as};
use docent_fuzz::ignore_library_panics;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: ignore_library_panics(), |data: &[u8]| {
    let Some((selector, bytes)) = data.split_first() else { return };
    detect(bytes, "file.md");
    let file_type = FileType::ALL[usize::from(*selector) % FileType::ALL.len()];
    let reading = read_as(file_type, bytes.to_vec());
    assert_ne!(reading.complete.is_some(), reading.failure.is_some(), "a reading is either complete or failed");
    assert!(reading.pages.iter().map(|page| page.text.len()).sum::<usize>() <= TEXT_BYTES);
    for (page, number) in reading.pages.iter().zip(1..) {
        assert_eq!(page.number, number);
        assert!(!page.text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
        let label = page.label.as_deref().expect("a label");
        assert!(!label.is_empty() && label.chars().count() <= LABEL_MAX && !label.contains(char::is_control), "{label:?}");
    }
});
