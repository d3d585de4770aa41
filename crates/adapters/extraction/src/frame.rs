//! The protocol between worker and parent: JSON values prefixed with their length as a big-endian `u32`.
//! The parent sends one [`Request`] and then the file; the worker responds with [`Frame`]s.

use super::limits::ExtractionLimits;
use super::page_line::PageLine;
use super::sandbox::Sandbox;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{Metadata, OutlineEntry};
use docent_domain::page_words::PageWord;
use docent_domain::recognition::{PageBox, RecognizedLine, RecognizedWord};
use docent_ports::page_renderer::{ImageSize, PageImageRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Maximum size of a frame; a page has at most 4 MiB of text, which JSON escapes may enlarge sixfold.
const MAX_FRAME: usize = 32 << 20;

/// The worker's limits and task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) memory_bytes: u64,
    pub(super) cpu_seconds: u64,
    pub(super) file_bytes: u64,
    pub(super) pages: u32,
    pub(super) text_bytes: u64,
    pub(super) task: Task,
}

/// What the worker does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// Extracts the text of all pages of a file of this type.
    Text { file_type: String },
    /// Renders a page, or the pictures on a page of a file other than a PDF.
    Image(DrawingRequest),
    /// Finds the words of a page, counted from 1.
    Words { page: u32 },
    /// Reports its sandbox, without reading a file.
    SandboxCheck,
    /// Becomes this program, under the same limits. The rest of standard input is for the program.
    Program(ProgramRequest),
}

impl Request {
    pub(super) fn new(limits: &ExtractionLimits, task: Task) -> Self {
        let ExtractionLimits { file_bytes, pages, text_bytes, memory_bytes, cpu, .. } = *limits;
        Self { memory_bytes, cpu_seconds: cpu.as_secs(), file_bytes, pages, text_bytes, task }
    }
}

/// The program to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ProgramRequest {
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    /// The whole environment.
    pub(super) env: Vec<(String, String)>,
}

/// The page to render.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DrawingRequest {
    pub(super) file_type: String,
    /// Counted from 1.
    pub(super) page: u32,
    pub(super) size: SizeFrame,
    /// Text whose lines are highlighted.
    pub(super) marked: Option<String>,
    /// Recognised lines in which it is looked for too.
    pub(super) recognized: Option<Vec<LineFrame>>,
    /// The parts that the image shows; empty for the whole page.
    pub(super) parts: Vec<Edges>,
}

/// Edges in ten-thousandths of the page: left, top, right, bottom.
pub(super) type Edges = [u16; 4];

pub(super) fn edges(bounds: PageBox) -> Edges {
    let PageBox { left, top, right, bottom } = bounds;
    [left, top, right, bottom]
}

fn page_box([left, top, right, bottom]: Edges) -> PageBox {
    PageBox { left, top, right, bottom }
}

/// Size of an image.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum SizeFrame {
    /// In colour, of this width in pixels.
    Width(u16),
    /// In shades of grey, with this resolution in dots per inch.
    Scan { dpi: u16 },
}

/// A recognised line: its text, and the edges of its words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LineFrame {
    pub(super) text: String,
    pub(super) boxes: Vec<Edges>,
}

impl From<&PageImageRequest> for DrawingRequest {
    fn from(request: &PageImageRequest) -> Self {
        let PageImageRequest { file_type, page, size, marked, recognized, parts } = request;
        let size = match size {
            ImageSize::Width(width) | ImageSize::Description { width } => SizeFrame::Width(width.get()),
            ImageSize::Scan { dpi } => SizeFrame::Scan { dpi: dpi.get() },
        };
        let line = |line: &RecognizedLine| {
            let edges = |word: &RecognizedWord| edges(word.bounds);
            LineFrame { text: line.text(), boxes: line.words.iter().map(edges).collect() }
        };
        let recognized = recognized.as_ref().map(|page| page.lines.iter().map(line).collect());
        let parts = parts.iter().copied().map(edges).collect();
        let (file_type, marked) = (file_type.as_str().to_owned(), marked.clone());
        Self { file_type, page: page.get(), size, marked, recognized, parts }
    }
}

/// A message from the worker. `Complete` follows the last page; without it, pages are missing. `Image` is followed by
/// the given number of bytes of PNG data.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Frame {
    Page(PageLine),
    Complete { pages: u32 },
    Metadata(MetadataFrame),
    Image { bytes: u32 },
    Words { lines: Vec<Vec<WordFrame>> },
    NoSuchPage,
    Sandbox(Sandbox),
    Failed { code: String, reason: String },
}

/// A word and its edges.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WordFrame(pub(super) String, pub(super) Edges);

impl From<WordFrame> for PageWord {
    fn from(WordFrame(text, edges): WordFrame) -> Self {
        Self { text, bounds: page_box(edges) }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MetadataFrame {
    title: Option<String>,
    author: Option<String>,
    outline: Vec<(u32, String, Option<u32>)>,
}

impl From<Metadata> for MetadataFrame {
    fn from(metadata: Metadata) -> Self {
        let Metadata { title, author, outline } = metadata;
        let outline = outline.into_iter().map(|entry| (entry.level, entry.title, entry.page)).collect();
        Self { title, author, outline }
    }
}

impl From<MetadataFrame> for Metadata {
    fn from(metadata: MetadataFrame) -> Self {
        let MetadataFrame { title, author, outline } = metadata;
        let entry = |(level, title, page)| OutlineEntry { level, title, page };
        Self { title, author, outline: outline.into_iter().map(entry).collect() }
    }
}

impl Frame {
    pub(super) fn failed(failure: Failure) -> Self {
        Self::Failed { code: failure.code.as_str().to_owned(), reason: failure.reason }
    }
}

/// Converts the failure in a frame; `None` for an unknown code.
pub(super) fn failure(code: &str, reason: String) -> Option<Failure> {
    FailureCode::parse(code).map(|code| Failure::because(code, reason))
}

/// Writes a value with its length.
pub(super) fn write(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let json = serde_json::to_vec(value)?;
    let length = u32::try_from(json.len()).ok().filter(|_| json.len() <= MAX_FRAME);
    let length = length.ok_or_else(|| io::Error::other("the frame is too long"))?;
    out.write_all(&length.to_be_bytes())?;
    out.write_all(&json)
}

/// Reads a value that [`write`] wrote.
pub(super) fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let mut json = vec![0; checked(u32::from_be_bytes(length))?];
    input.read_exact(&mut json)?;
    parse(&json)
}

/// Reads the next value, `None` at the end of the stream. A truncated value is
/// [`io::ErrorKind::UnexpectedEof`], an invalid one [`io::ErrorKind::InvalidData`].
pub(super) async fn next<T: DeserializeOwned>(input: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    if input.read(&mut length[..1]).await? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..]).await?;
    let mut json = vec![0; checked(u32::from_be_bytes(length))?];
    input.read_exact(&mut json).await?;
    parse(&json).map(Some)
}

fn parse<T: DeserializeOwned>(json: &[u8]) -> io::Result<T> {
    serde_json::from_slice(json).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn checked(length: u32) -> io::Result<usize> {
    let length = length as usize;
    if length > MAX_FRAME { Err(io::ErrorKind::InvalidData.into()) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::extraction::{ExtractedPage, Picture};

    #[tokio::test]
    async fn frames_round_trip() {
        let page = ExtractedPage {
            number: 3,
            text: "a\n\"ü\"".into(),
            truncated: true,
            pictures: vec![Picture { place: PageBox { left: 1, top: 2, right: 3, bottom: 4 }, at: 5 }],
            lacks_results: true,
            ..ExtractedPage::default()
        };
        let entry = OutlineEntry { level: 1, title: "Pumps".into(), page: Some(2) };
        let metadata = Metadata { title: Some("T".into()), author: None, outline: vec![entry] };
        let mut pipe = Vec::new();
        write(&mut pipe, &Frame::Page(page.clone().into())).unwrap();
        write(&mut pipe, &Frame::Metadata(metadata.clone().into())).unwrap();
        let mut pipe = &pipe[..];
        let Some(Frame::Page(frame)) = next(&mut pipe).await.unwrap() else { panic!("no page") };
        assert_eq!(frame.extracted().unwrap(), page);
        let Some(Frame::Metadata(frame)) = next(&mut pipe).await.unwrap() else { panic!("no metadata") };
        assert_eq!(Metadata::from(frame), metadata);
        assert!(next::<Frame>(&mut pipe).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn truncated_and_oversized_frames_are_errors() {
        let mut pipe = Vec::new();
        write(&mut pipe, &Frame::Complete { pages: 1 }).unwrap();
        for end in 1..pipe.len() {
            let error = next::<Frame>(&mut &pipe[..end]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
        let error = next::<Frame>(&mut &b"garbage"[..]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
