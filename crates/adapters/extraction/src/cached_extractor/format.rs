//! Format of cached extractions.

use crate::page_line::PageLine;
use docent_domain::extraction::{Extraction, Metadata, OutlineEntry};
use docent_ports::text_extractor::PageText;
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};

/// Maximum number of decoded bytes. No extraction is larger, because extractors limit the text.
const MAX_DECODED: u64 = 512 << 20;

/// The first line: the extractor, the number of pages that follow, and the metadata.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    extractor: String,
    pages: usize,
    title: Option<String>,
    author: Option<String>,
    outline: Vec<(u32, String, Option<u32>)>,
    /// Whether another line follows the pages. Earlier versions wrote one, which has no meaning any more.
    #[serde(default, skip_serializing)]
    has_context: bool,
}

/// Encodes an extraction as zlib-compressed JSON lines: a [`Head`], and one [`PageLine`] per page.
pub(super) fn encode(extraction: &Extraction, extractor: &str) -> io::Result<Vec<u8>> {
    let Metadata { title, author, outline } = extraction.metadata.clone();
    let outline = outline.into_iter().map(|entry| (entry.level, entry.title, entry.page)).collect();
    let pages = extraction.pages.len();
    let head = Head { extractor: extractor.to_owned(), pages, title, author, outline, has_context: false };
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut encoder, &head)?;
    for page in &extraction.pages {
        encoder.write_all(b"\n")?;
        serde_json::to_writer(&mut encoder, &PageLine::from(page.clone()))?;
    }
    encoder.finish()
}

/// Decodes the output of [`encode`]; `None` if another extractor, or another version of it, extracted the text.
pub(super) fn decode(encoded: impl Read, extractor: &str) -> io::Result<Option<Extraction>> {
    let mut json = inflate(encoded);
    let head: Head = value(&mut json)?;
    if head.extractor != extractor {
        return Ok(None);
    }
    let mut pages = Vec::new();
    for _ in 0..head.pages {
        pages.push(value::<PageLine>(&mut json)?.extracted()?);
    }
    if head.has_context {
        value::<IgnoredAny>(&mut json)?;
    }
    // The checksum is verified at the end of the stream.
    if json.read(&mut [0])? != 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let entry = |(level, title, page)| OutlineEntry { level, title, page };
    let outline = head.outline.into_iter().map(entry).collect();
    let metadata = Metadata { title: head.title, author: head.author, outline };
    Ok(Some(Extraction { pages, metadata }))
}

/// Decodes one page, counted from 1, like [`decode`]. Reads no further than that page and holds no other one.
pub(super) fn decode_page(encoded: impl Read, extractor: &str, number: u32) -> io::Result<Option<PageText>> {
    let mut json = inflate(encoded);
    let head: Head = value(&mut json)?;
    if head.extractor != extractor {
        return Ok(None);
    }
    let pages = u32::try_from(head.pages).unwrap_or(u32::MAX);
    // Pages are numbered from 1 in their order.
    if number == 0 || number > pages {
        return Ok(Some(PageText { pages, ..PageText::default() }));
    }
    for _ in 1..number {
        json.skip_until(b'\n')?;
    }
    let page = value::<PageLine>(&mut json)?.extracted()?;
    if page.number != number {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(PageText::found(pages, page)))
}

fn inflate(encoded: impl Read) -> impl BufRead {
    BufReader::new(ZlibDecoder::new(BufReader::new(encoded)).take(MAX_DECODED))
}

/// Reads the value on the next line.
fn value<T: DeserializeOwned>(json: &mut impl BufRead) -> io::Result<T> {
    let mut line = Vec::new();
    json.read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::extraction::{ExtractedPage, Picture};
    use docent_domain::picture_description::PictureDescription;
    use docent_domain::recognition::{
        PageBox, Recognition, RecognitionFailure, RecognizedLine, RecognizedPage, RecognizedWord,
    };

    fn extraction() -> Extraction {
        let page = |number, text: &str| ExtractedPage {
            number,
            text: text.to_owned(),
            glyphs: 9,
            unmapped_glyphs: 1,
            truncated: number == 2,
            ..ExtractedPage::default()
        };
        let outline = vec![OutlineEntry { level: 1, title: "Pumps".into(), page: Some(2) }];
        Extraction {
            pages: vec![page(1, "Two\nlines"), page(2, "\"quoted\" ünïcödé\u{0}")],
            metadata: Metadata { title: Some("T".into()), author: None, outline },
        }
    }

    #[test]
    fn an_extraction_is_unencoded_as_it_was() {
        for extraction in [extraction(), Extraction::default()] {
            let encoded = encode(&extraction, "a 1").unwrap();
            assert_eq!(decode(&*encoded, "a 1").unwrap(), Some(extraction));
        }
    }

    fn recognized() -> Extraction {
        let bounds = PageBox { left: 1, top: 2, right: 3, bottom: 10_000 };
        let word = RecognizedWord { text: "wörd".into(), bounds, confidence: 97 };
        let lines = vec![RecognizedLine { words: vec![word], begins_paragraph: true }];
        let mut extraction = extraction();
        let results = [Ok(RecognizedPage { lines }), Err(RecognitionFailure::Timeout)];
        for (page, result) in extraction.pages.iter_mut().zip(results) {
            page.set_recognition(Recognition { recognizer: "ocr 1 (eng)".into(), result });
        }
        extraction
    }

    #[test]
    fn recognised_pages_are_unencoded_as_they_were() {
        let encoded = encode(&recognized(), "a 1").unwrap();
        assert_eq!(decode(&*encoded, "a 1").unwrap(), Some(recognized()));
        let page = decode_page(&*encoded, "a 1", 1).unwrap().unwrap();
        assert_eq!(page.text.as_deref(), Some("wörd\n"));
        assert_eq!(page.recognized.unwrap().lines[0].words[0].confidence, 97);
        assert_eq!(decode_page(&*encoded, "a 1", 2).unwrap().unwrap().recognized, None);
    }

    #[test]
    fn line_of_earlier_versions_after_the_pages_is_ignored() {
        let lines = [
            r#"{"extractor":"a 1","pages":1,"title":null,"author":null,"outline":[],"has_context":true}"#,
            r#"{"number":1,"text":"Two","glyphs":9,"unmapped_glyphs":1,"truncated":false}"#,
            r#"[[[7,7],"A manual"]]"#,
        ];
        let encode = |lines: &[&str]| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(lines.join("\n").as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let read = decode(&*encode(&lines), "a 1").unwrap().unwrap();
        assert_eq!((read.pages.len(), read.pages[0].text.as_str()), (1, "Two"));
        assert!(decode(&*encode(&lines[..2]), "a 1").is_err());
    }

    #[test]
    fn extraction_of_another_extractor_is_not_used() {
        let encoded = encode(&extraction(), "a 1").unwrap();
        assert_eq!(decode(&*encoded, "a 2").unwrap(), None);
        assert_eq!(decode_page(&*encoded, "a 2", 1).unwrap(), None);
    }

    // Invariant: No read holds more than a bounded part of a conversation or a document in memory.
    #[test]
    fn page_is_decoded_without_what_follows_it() {
        let mut long = extraction();
        let filler = |n: u32| ExtractedPage {
            number: n,
            text: (0..500).map(|word| format!("{} ", word * n * 7919 % 65_521)).collect(),
            ..ExtractedPage::default()
        };
        long.pages.extend((3..200).map(filler));
        let encoded = encode(&long, "a 1").unwrap();
        // The end is missing.
        let start = &encoded[..encoded.len() / 2];
        let page = decode_page(start, "a 1", 2).unwrap().unwrap();
        assert_eq!((page.pages, page.text.as_ref()), (199, Some(&long.pages[1].text)));
        assert!(decode_page(start, "a 1", 199).is_err());
        for missing in [0, 200, u32::MAX] {
            assert_eq!(decode_page(start, "a 1", missing).unwrap().unwrap().text, None);
        }
    }

    #[test]
    fn truncated_or_changed_data_is_rejected() {
        let encoded = encode(&extraction(), "a 1").unwrap();
        for end in 0..encoded.len() {
            assert!(decode(&encoded[..end], "a 1").is_err(), "cut at {end}");
        }
        for at in 0..encoded.len() {
            let mut changed = encoded.clone();
            changed[at] ^= 0x10;
            let read = decode(&*changed, "a 1");
            assert!(!matches!(read, Ok(Some(read)) if read != extraction()), "changed at {at}");
        }
    }

    /// Installations have stored extractions in this format.
    // Invariant: The bytes of webhook messages and of cached extractions do not change between versions.
    #[test]
    fn encoded_text_is_json_lines() {
        let encoded = encode(&extraction(), "a 1").unwrap();
        let mut text = String::new();
        ZlibDecoder::new(&*encoded).read_to_string(&mut text).unwrap();
        let lines = [
            r#"{"extractor":"a 1","pages":2,"title":"T","author":null,"outline":[[1,"Pumps",2]]}"#,
            r#"{"number":1,"text":"Two\nlines","glyphs":9,"unmapped_glyphs":1,"truncated":false}"#,
            r#"{"number":2,"text":"\"quoted\" ünïcödé\u0000","glyphs":9,"unmapped_glyphs":1,"truncated":true}"#,
        ];
        assert_eq!(text, lines.join("\n"));
        let mut labelled = extraction();
        labelled.pages[0].label = Some("Setup › Network".to_owned());
        let encoded = encode(&labelled, "a 1").unwrap();
        let mut text = String::new();
        ZlibDecoder::new(&*encoded).read_to_string(&mut text).unwrap();
        assert!(text.contains(r#""truncated":false,"label":"Setup › Network"}"#), "{text}");
        assert_eq!(decode(&*encoded, "a 1").unwrap(), Some(labelled));
        let mut pictured = extraction();
        let place = PageBox { left: 1, top: 2, right: 3, bottom: 10_000 };
        pictured.pages[0].pictures = vec![Picture { place, at: 4 }];
        pictured.pages[0].own_text = Some("Two".to_owned());
        pictured.pages[0].lacks_results = true;
        let text = Some("A chart.".to_owned());
        pictured.pages[0].set_description(Some(PictureDescription { model: "eye".to_owned(), text }));
        let encoded = encode(&pictured, "a 1").unwrap();
        let mut text = String::new();
        ZlibDecoder::new(&*encoded).read_to_string(&mut text).unwrap();
        let end = r#""truncated":false,"pictures":[[[1,2,3,10000],4]],"own_text":"Two","description":["eye","A chart."],"lacks_results":true}"#;
        assert!(text.contains(end), "{text}");
        assert_eq!(decode(&*encoded, "a 1").unwrap(), Some(pictured));
        let encoded = encode(&recognized(), "a 1").unwrap();
        let mut text = String::new();
        ZlibDecoder::new(&*encoded).read_to_string(&mut text).unwrap();
        let recognitions = [
            r#""recognition":{"recognizer":"ocr 1 (eng)","lines":[[true,[["wörd",97,[1,2,3,10000]]]]]}}"#,
            r#""recognition":{"recognizer":"ocr 1 (eng)","failure":"timeout"}}"#,
        ];
        for (line, end) in text.lines().skip(1).zip(recognitions) {
            assert!(line.ends_with(end), "{line}");
        }
    }
}
