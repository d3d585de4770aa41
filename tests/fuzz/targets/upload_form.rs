//! Reads any bytes as the body of an upload, in pieces cut anywhere, with the handler's form parser. The first eight
//! bytes are the lengths of the pieces; the next line is the content type.
#![no_main]

use bytes::Bytes;
use docent_app::settings::Settings;
use docent_domain::access::Actor;
use docent_fuzz::{cut, installation};
use docent_http::fuzzing::UploadForms;
use docent_http::settings::{HttpSettings, SessionKey};
use docent_testkit::builders;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use std::sync::Arc;

const MAX_UPLOAD: u64 = 2048;

fuzz_target!(|data: &[u8]| {
    let Some((lengths, rest)) = data.split_at_checked(8) else { return };
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let Ok(content_type) = rest[..end].try_into() else { return };
    let body = rest.get(end + 1..).unwrap_or_default();
    installation::runtime().block_on(async {
        let settings = Settings { max_upload_bytes: MAX_UPLOAD, ..Settings::default() };
        let (app, ports, blobs) = installation::empty(settings);
        let uploader = builders::user(1);
        let mut work = ports.store.begin().await.expect("a store");
        assert!(work.users().insert(&uploader).await.expect("an account"));
        work.commit().await.expect("an account");
        let actor = Actor::of(&uploader).expect("an active account");
        let settings = HttpSettings::new("Docent", SessionKey::derive(&[7; 32]));
        let forms = UploadForms::new(Arc::clone(&app), settings).expect("templates that are whole");
        let pieces = cut(body, lengths).into_iter().map(Bytes::copy_from_slice).collect();
        let uploaded = forms.upload(actor.authorize().expect("any account may"), content_type, pieces).await;
        let files = blobs.keys();
        let mut reader = ports.store.read().await.expect("a store");
        let recorded = reader.documents().counts().await.expect("counts").pending;
        match uploaded {
            Ok(document) => {
                let file = document.file.expect("an upload has a file");
                assert!(file.bytes <= MAX_UPLOAD.min(body.len() as u64));
                assert_eq!((files, recorded), (vec![file.blob.as_str().to_owned()], 1));
                for name in [file.name.as_str(), document.title.as_str()] {
                    assert!(!name.contains(['/', '\\']) && !matches!(name, "." | ".."), "{name:?} is a path");
                    assert!(name.chars().count() <= 500 && !name.contains(char::is_control), "{name:?}");
                    assert_eq!(name, name.trim());
                }
                assert!(!document.title.as_str().is_empty());
            }
            Err(status) => {
                let known = BTreeSet::from([400, 408, 413, 415, 422]);
                assert!(known.contains(&status), "a refusal with {status}");
                assert_eq!((files.len(), recorded), (0, 0), "what is refused leaves nothing");
            }
        }
    });
});
