//! Restores any entries as an archive. Sections are separated by lines of `%%`; each is a name, a line end and bytes. The
//! digests in the records and in the last entry are filled in, as a forger could.
#![no_main]

use docent_app::maintenance::backup::{BackupError, restore};
use docent_app::maintenance::progress::NoProgress;
use docent_app::settings::Settings;
use docent_fuzz::{installation, sections};
use docent_testkit::fakes::archive::FakeArchive;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

fuzz_target!(|data: &[u8]| {
    let archive = FakeArchive::default();
    archive.fill(entries(data));
    installation::runtime().block_on(async {
        let (app, ports, _) = installation::empty(Settings::default());
        let restored = restore(&app, &archive, &NoProgress).await;
        let sizes = ports.store.read().await.expect("a store").inventory().counts().await.expect("sizes");
        match restored {
            Ok(restored) => {
                assert_eq!((sizes.users, sizes.documents), (restored.users, restored.documents));
                assert!(restored.queued <= restored.documents);
                let again = restore(&app, &archive, &NoProgress).await;
                let is_empty = sizes.is_empty();
                assert!(is_empty || matches!(again, Err(BackupError::NotEmpty(_))), "only into an empty one");
            }
            Err(error) => {
                assert!(sizes.is_empty(), "a restore that failed leaves no records: {error}");
                let text = error.to_string();
                assert!(text.chars().count() < 1000 && !text.contains(char::is_control), "{text:?}");
            }
        }
    });
});

fn entries(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut entries = Vec::new();
    let (mut all, mut documents) = (Sha256::new(), 0_u64);
    let mut seen = Map::new();
    for section in sections(data) {
        let end = section.iter().position(|byte| *byte == b'\n').unwrap_or(section.len());
        let name = String::from_utf8_lossy(&section[..end]).into_owned();
        let mut bytes = section.get(end + 1..).unwrap_or_default().to_vec();
        let part =
            name.strip_prefix("documents/").and_then(|rest| rest.split_once('/')).map(|(_, part)| part);
        if part == Some("record.json") {
            documents += 1;
            if let Ok(Value::Object(mut record)) = serde_json::from_slice(&bytes) {
                record.insert("entries".to_owned(), Value::Object(std::mem::take(&mut seen)));
                bytes = Value::Object(record).to_string().into_bytes();
            }
        } else if let Some(part) = part {
            seen.insert(part.to_owned(), hex(Sha256::digest(&bytes).as_slice()).into());
        }
        all.update((name.len() as u64).to_be_bytes());
        all.update(&name);
        all.update((bytes.len() as u64).to_be_bytes());
        all.update(&bytes);
        entries.push((name, bytes));
    }
    let end = json!({ "entries": entries.len(), "documents": documents, "sha256": hex(&all.finalize()) });
    entries.push(("end.json".to_owned(), end.to_string().into_bytes()));
    entries
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
