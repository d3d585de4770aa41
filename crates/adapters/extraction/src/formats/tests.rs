//! Files that tests build.

use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Builds a ZIP archive of these entries.
pub(super) fn archive(entries: &[(&str, &str)]) -> Vec<u8> {
    let entries: Vec<(&str, &[u8])> =
        entries.iter().map(|(name, content)| (*name, content.as_bytes())).collect();
    archive_of_bytes(&entries)
}

pub(super) fn archive_of_bytes(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Changes bytes of files of every type and cuts them: each is read or fails, and nothing panics.
#[test]
fn changed_files_are_read_or_fail() {
    use super::read;
    use crate::reader::tests::LIMITS;
    use docent_domain::extraction::Extraction;
    use docent_domain::file_type::FileType;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/fuzz/seeds/file_formats");
    let mut read_types = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let seed = std::fs::read(entry.unwrap().path()).unwrap();
        let (selector, bytes) = seed.split_first().unwrap();
        let file_type = FileType::ALL[usize::from(*selector)];
        let pages = |bytes: &[u8]| {
            let mut extraction = Extraction::default();
            read(file_type, bytes.to_vec(), LIMITS, &mut extraction).map(|()| extraction.pages)
        };
        let whole = pages(bytes).unwrap();
        assert!(whole.iter().all(|page| page.label.is_some()) && !whole.is_empty(), "{file_type:?}");
        read_types.insert(file_type);
        let mut state = 1_u32;
        for round in 0..400 {
            let mut changed = bytes.to_vec();
            for _ in 0..=round % 4 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = usize::try_from(state >> 8).unwrap() % changed.len();
                changed[at] = state.to_le_bytes()[3];
            }
            let _ = pages(&changed);
            let _ = pages(&changed[..usize::try_from(state >> 8).unwrap() % changed.len()]);
        }
    }
    assert_eq!(read_types.len(), FileType::ALL.len() - 1, "every type but PDF has a seed");
}
