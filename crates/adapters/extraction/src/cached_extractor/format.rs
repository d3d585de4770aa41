//! Format of cached extractions.

use docent_domain::extraction::{ExtractedPage, Extraction, Metadata, OutlineEntry};
use docent_domain::recognition::{
    PageBox, Recognition, RecognitionFailure, RecognizedLine, RecognizedPage, RecognizedWord,
};
use docent_ports::text_extractor::PageText;
use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::de::DeserializeOwned;
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
    /// Whether a line with [`Context`] follows the pages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_context: bool,
}

/// Lines of context by digest.
type Context = Vec<([u8; 32], String)>;

/// The line of a page.
#[derive(Debug, Serialize, Deserialize)]
struct Page {
    number: u32,
    text: String,
    glyphs: u32,
    unmapped_glyphs: u32,
    truncated: bool,
    /// Missing if the page's image was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recognition: Option<RecognitionLine>,
    /// Missing in PDFs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// The recognition of a page. Exactly one of `lines` and `failure` is set.
#[derive(Debug, Serialize, Deserialize)]
struct RecognitionLine {
    recognizer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// Whether the line begins a paragraph, and its words: text, confidence, and edges left, top, right and bottom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<(bool, Vec<WordLine>)>>,
}

type WordLine = (String, u8, [u16; 4]);

impl From<Recognition> for RecognitionLine {
    fn from(Recognition { recognizer, result }: Recognition) -> Self {
        let word = |word: RecognizedWord| {
            let PageBox { left, top, right, bottom } = word.bounds;
            (word.text, word.confidence, [left, top, right, bottom])
        };
        let line = |line: RecognizedLine| {
            (line.begins_paragraph, line.words.into_iter().map(word).collect::<Vec<_>>())
        };
        match result {
            Ok(page) => {
                let lines = page.lines.into_iter().map(line).collect();
                Self { recognizer, failure: None, lines: Some(lines) }
            }
            Err(failure) => Self { recognizer, failure: Some(failure.as_str().to_owned()), lines: None },
        }
    }
}

impl RecognitionLine {
    fn recognition(self) -> io::Result<Recognition> {
        let word = |(text, confidence, [left, top, right, bottom]): WordLine| RecognizedWord {
            text,
            bounds: PageBox { left, top, right, bottom },
            confidence,
        };
        let line = |(begins_paragraph, words): (bool, Vec<WordLine>)| RecognizedLine {
            words: words.into_iter().map(word).collect(),
            begins_paragraph,
        };
        let result = match (self.failure, self.lines) {
            (None, Some(lines)) => Ok(RecognizedPage { lines: lines.into_iter().map(line).collect() }),
            (Some(code), None) => Err(RecognitionFailure::parse(&code).ok_or(io::ErrorKind::InvalidData)?),
            (None, None) | (Some(_), Some(_)) => return Err(io::ErrorKind::InvalidData.into()),
        };
        Ok(Recognition { recognizer: self.recognizer, result })
    }
}

impl From<ExtractedPage> for Page {
    fn from(page: ExtractedPage) -> Self {
        let ExtractedPage { number, text, glyphs, unmapped_glyphs, truncated, recognition, label } = page;
        let recognition = recognition.map(RecognitionLine::from);
        Self { number, text, glyphs, unmapped_glyphs, truncated, recognition, label }
    }
}

impl Page {
    fn extracted(self) -> io::Result<ExtractedPage> {
        let Self { number, text, glyphs, unmapped_glyphs, truncated, recognition, label } = self;
        let recognition = recognition.map(RecognitionLine::recognition).transpose()?;
        Ok(ExtractedPage { number, text, glyphs, unmapped_glyphs, truncated, recognition, label })
    }
}

/// Encodes an extraction as zlib-compressed JSON lines: a [`Head`], one [`Page`] per page, and its [`Context`] if there is
/// any.
pub(super) fn encode(extraction: &Extraction, extractor: &str) -> io::Result<Vec<u8>> {
    let Metadata { title, author, outline } = extraction.metadata.clone();
    let outline = outline.into_iter().map(|entry| (entry.level, entry.title, entry.page)).collect();
    let pages = extraction.pages.len();
    let has_context = !extraction.context.is_empty();
    let head = Head { extractor: extractor.to_owned(), pages, title, author, outline, has_context };
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    serde_json::to_writer(&mut encoder, &head)?;
    for page in &extraction.pages {
        encoder.write_all(b"\n")?;
        serde_json::to_writer(&mut encoder, &Page::from(page.clone()))?;
    }
    if has_context {
        encoder.write_all(b"\n")?;
        serde_json::to_writer(&mut encoder, &extraction.context.iter().collect::<Vec<_>>())?;
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
        pages.push(value::<Page>(&mut json)?.extracted()?);
    }
    let context = if head.has_context { value::<Context>(&mut json)? } else { Vec::new() };
    // The checksum is verified at the end of the stream.
    if json.read(&mut [0])? != 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let entry = |(level, title, page)| OutlineEntry { level, title, page };
    let outline = head.outline.into_iter().map(entry).collect();
    let metadata = Metadata { title: head.title, author: head.author, outline };
    Ok(Some(Extraction { pages, metadata, context: context.into_iter().collect() }))
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
    let page: Page = value(&mut json)?;
    if page.number != number {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(Some(PageText::found(pages, page.extracted()?)))
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

    fn extraction() -> Extraction {
        let page = |number, text: &str| ExtractedPage {
            number,
            text: text.to_owned(),
            glyphs: 9,
            unmapped_glyphs: 1,
            truncated: number == 2,
            recognition: None,
            label: None,
        };
        let outline = vec![OutlineEntry { level: 1, title: "Pumps".into(), page: Some(2) }];
        Extraction {
            pages: vec![page(1, "Two\nlines"), page(2, "\"quoted\" ünïcödé\u{0}")],
            metadata: Metadata { title: Some("T".into()), author: None, outline },
            ..Extraction::default()
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
    fn lines_of_context_are_unencoded_as_they_were() {
        let context =
            [([7; 32], "A \"manual\"".to_owned()), ([255; 32], String::new())].into_iter().collect();
        let described = Extraction { context, ..recognized() };
        let encoded = encode(&described, "a 1").unwrap();
        assert_eq!(decode(&*encoded, "a 1").unwrap(), Some(described));
        assert!(decode(&encoded[..encoded.len() - 1], "a 1").is_err());
        let page = decode_page(&*encoded, "a 1", 2).unwrap().unwrap();
        assert_eq!((page.pages, page.text.is_some()), (2, true));
    }

    #[test]
    fn extraction_of_another_extractor_is_not_used() {
        let encoded = encode(&extraction(), "a 1").unwrap();
        assert_eq!(decode(&*encoded, "a 2").unwrap(), None);
        assert_eq!(decode_page(&*encoded, "a 2", 1).unwrap(), None);
    }

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
