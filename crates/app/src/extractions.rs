//! What was read out of files, kept for further documents and tries with the same bytes.
//!
//! It lies packed in the blob store under the digest of the file, which is ours and not the uploader's, and
//! goes with the last document that has the file. Whatever is wrong with it, the file is read again.

use crate::{App, ingest::IngestError};
use bytes::{Bytes, BytesMut};
use docent_domain::{
    document::{BlobKey, FailureCode, StoredFile},
    extraction::{ExtractedPage, Extraction, Metadata, OutlineEntry},
    fault::{Component, Fault, FaultKind, Result},
    metrics::Cache,
};
use docent_ports::text_extractor::ExtractionError;
use flate2::{Compression, bufread::ZlibDecoder, write::ZlibEncoder};
use futures::TryStreamExt;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, BufReader, Read, Write};
use tokio::task::spawn_blocking;

/// More than an extraction takes, packed and unpacked: its text is bounded by the extractor.
const MAX_PACKED: usize = 256 << 20;
const MAX_UNPACKED: u64 = 512 << 20;

/// The text of a file: what was kept of it, or else what the extractor reads. Of several who ask for the same
/// bytes at once, one reads.
///
/// # Errors
/// When the file cannot be read. One that was kept in vain, or cannot be kept, is no error.
pub(crate) async fn extraction(app: &App, file: &StoredFile) -> Result<Extraction, IngestError> {
    let key = BlobKey::of_extraction(&file.sha256);
    let _turn = app.process.running.lock_extraction(key.as_str()).await;
    match find(app, &key).await {
        Ok(Some(extraction)) => {
            app.recorder.cache_lookups(Cache::Extractions, 1, 0);
            return Ok(extraction);
        }
        Ok(None) => {}
        // The blob store is about to be asked for the file; a fault that stays is counted then.
        Err(fault) => {
            tracing::warn!(fault = %fault.report(), "what was read out of a file before cannot be used")
        }
    }
    app.recorder.cache_lookups(Cache::Extractions, 0, 1);
    let Some(bytes) = app.blobs.open(&file.blob).await? else {
        return Err(IngestError::of(FailureCode::FileMissing, None));
    };
    let extraction = app.extractor.extract(bytes).await.map_err(|error| match error {
        ExtractionError::Document(failure) => IngestError::Document(failure, None),
        ExtractionError::Fault(fault) => fault.into(),
    })?;
    let name = app.extractor.name();
    let pack = spawn_blocking(move || (pack(&extraction, name), extraction));
    let (packed, extraction) = pack.await.map_err(|error| internal("packing a text").caused_by(error))?;
    let kept = async {
        keep(app, &key, packed.map_err(|error| internal("packing a text").caused_by(error))?).await?;
        // Its document may have been deleted meanwhile, by a process that found nothing to remove yet.
        forget(app, &file.sha256).await
    };
    if let Err(fault) = kept.await {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "what was read out of a file could not be kept");
    }
    Ok(extraction)
}

/// Removes what was read out of these bytes, unless there is a document that has them.
///
/// # Errors
/// When a store does not work. May be repeated.
pub(crate) async fn forget(app: &App, sha256: &[u8; 32]) -> Result<()> {
    if !app.store.read_latest().await?.documents().has_file(sha256).await? {
        app.blobs.delete(&BlobKey::of_extraction(sha256)).await?;
    }
    Ok(())
}

async fn find(app: &App, key: &BlobKey) -> Result<Option<Extraction>> {
    let Some(mut pieces) = app.blobs.open(key).await? else { return Ok(None) };
    let mut packed = BytesMut::new();
    while let Some(piece) = pieces.try_next().await? {
        if packed.len() + piece.len() > MAX_PACKED {
            return Err(internal("an extraction larger than any"));
        }
        packed.extend_from_slice(&piece);
    }
    let name = app.extractor.name();
    let unpacked = spawn_blocking(move || unpack(&packed, name)).await;
    let unpacked = unpacked.map_err(|error| internal("unpacking a text").caused_by(error))?;
    unpacked.map_err(|error| internal("unpacking a text").caused_by(error))
}

async fn keep(app: &App, key: &BlobKey, packed: Vec<u8>) -> Result<()> {
    let mut writer = app.blobs.create(key).await?;
    match writer.write(Bytes::from(packed)).await {
        Ok(()) => writer.finish().await,
        Err(fault) => {
            let _ = writer.abort().await;
            Err(fault)
        }
    }
}

fn internal(message: &'static str) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, message)
}

/// The beginning: who read the file, and how many pages follow.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    extractor: String,
    pages: usize,
    title: Option<String>,
    author: Option<String>,
    outline: Vec<(u32, String, Option<u32>)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Page {
    number: u32,
    text: String,
    glyphs: u32,
    unmapped_glyphs: u32,
    truncated: bool,
}

/// JSON values one after the other, packed: a [`Head`], and a [`Page`] each.
fn pack(extraction: &Extraction, extractor: &str) -> io::Result<Vec<u8>> {
    let Metadata { title, author, outline } = extraction.metadata.clone();
    let outline = outline.into_iter().map(|entry| (entry.level, entry.title, entry.page)).collect();
    let pages = extraction.pages.len();
    let head = Head { extractor: extractor.to_owned(), pages, title, author, outline };
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut packed, &head)?;
    for page in &extraction.pages {
        let ExtractedPage { number, text, glyphs, unmapped_glyphs, truncated } = page.clone();
        packed.write_all(b"\n")?;
        serde_json::to_writer(&mut packed, &Page { number, text, glyphs, unmapped_glyphs, truncated })?;
    }
    packed.finish()
}

/// Reads what [`pack`] wrote; none when another extractor, or another version of it, had read the file.
fn unpack(packed: &[u8], extractor: &str) -> io::Result<Option<Extraction>> {
    let mut json = BufReader::new(ZlibDecoder::new(packed).take(MAX_UNPACKED));
    let head: Head = value(&mut json)?;
    if head.extractor != extractor {
        return Ok(None);
    }
    let mut pages = Vec::new();
    for _ in 0..head.pages {
        let Page { number, text, glyphs, unmapped_glyphs, truncated } = value(&mut json)?;
        pages.push(ExtractedPage { number, text, glyphs, unmapped_glyphs, truncated });
    }
    // Only the end tells whether all of it is what was written.
    if json.read(&mut [0])? != 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let entry = |(level, title, page)| OutlineEntry { level, title, page };
    let outline = head.outline.into_iter().map(entry).collect();
    Ok(Some(Extraction { pages, metadata: Metadata { title: head.title, author: head.author, outline } }))
}

/// The next value, which ends with its line.
fn value<T: DeserializeOwned>(json: &mut impl io::BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    json.read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extraction() -> Extraction {
        let page = |number, text: &str| ExtractedPage {
            number,
            text: text.to_owned(),
            glyphs: 9,
            unmapped_glyphs: 1,
            truncated: number == 2,
        };
        let outline = vec![OutlineEntry { level: 1, title: "Pumps".into(), page: Some(2) }];
        Extraction {
            pages: vec![page(1, "Two\nlines"), page(2, "\"quoted\" ünïcödé\u{0}")],
            metadata: Metadata { title: Some("T".into()), author: None, outline },
        }
    }

    #[test]
    fn an_extraction_is_unpacked_as_it_was() {
        for extraction in [extraction(), Extraction::default()] {
            let packed = pack(&extraction, "a 1").unwrap();
            assert_eq!(unpack(&packed, "a 1").unwrap(), Some(extraction));
        }
    }

    #[test]
    fn another_extractor_begins_anew() {
        let packed = pack(&extraction(), "a 1").unwrap();
        assert_eq!(unpack(&packed, "a 2").unwrap(), None);
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error() {
        let packed = pack(&extraction(), "a 1").unwrap();
        for end in 0..packed.len() {
            assert!(unpack(&packed[..end], "a 1").is_err(), "cut at {end}");
        }
        for at in 0..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 0x10;
            let read = unpack(&changed, "a 1");
            assert!(!matches!(read, Ok(Some(read)) if read != extraction()), "changed at {at}");
        }
    }
}
