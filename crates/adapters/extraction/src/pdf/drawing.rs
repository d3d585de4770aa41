//! Renders one page of a PDF, and finds its words. Runs in the worker.

use super::document::{PageReader, open};
use super::limits::PageLimits;
use super::line::Line;
use super::marks;
use super::pictures::page_box;
use crate::frame::{DrawingRequest, Edges, LineFrame, SizeFrame, WordFrame, edges};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::page_words::WORDS_MAX;
use docent_domain::recognition::PageBox;
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::PremulRgba8;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};
use hayro_interpret::InterpreterSettings;
use hayro_interpret::kurbo::Rect;
use hayro_syntax::Pdf;
use hayro_syntax::page::Page;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum side length of an image in pixels; larger pages are scaled down.
const MAX_SIDE: f32 = 8192.0;
/// Maximum side length of an image to recognise text on: 300 dots per inch up to A3 and Tabloid.
const MAX_SCAN_SIDE: f32 = 5200.0;
const POINTS_PER_INCH: f32 = 72.0;
/// Factors of green and blue in highlighted areas, in parts of 256: white turns yellow, black stays black.
const HIGHLIGHT: (u16, u16) = (236, 110);
/// Margin of a highlight around the letters, in pixels.
const MARGIN: f64 = 2.0;

/// Why a page could not be rendered.
#[derive(Debug)]
pub(crate) enum RenderFailure {
    NoSuchPage,
    Document(Failure),
}

/// Renders a page as PNG.
pub(crate) fn draw(bytes: Vec<u8>, drawing: &DrawingRequest) -> Result<Vec<u8>, RenderFailure> {
    on_page_of(bytes, drawing.page, |pdf, page| render_png(pdf, page, drawing))
}

/// Finds the words of a page, counted from 1, with their places.
pub(crate) fn words(bytes: Vec<u8>, page: u32) -> Result<Vec<Vec<WordFrame>>, RenderFailure> {
    on_page_of(bytes, page, |pdf, page| {
        let (width, height) = page.render_dimensions();
        let limits = PageLimits::default();
        let lines = PageReader::new(pdf, &limits).interpret_words(page);
        let size = (f64::from(width), f64::from(height));
        let frame = |(text, bounds): (String, Rect)| WordFrame(text, edges(page_box(bounds, size)));
        let mut left = WORDS_MAX;
        let mut framed = |line: Vec<(String, Rect)>| {
            let words: Vec<WordFrame> = line.into_iter().take(left).map(frame).collect();
            left -= words.len();
            words
        };
        Some(lines.into_iter().map(&mut framed).filter(|line| !line.is_empty()).collect())
    })
}

/// Opens a PDF and handles a page of it, counted from 1.
fn on_page_of<T>(
    bytes: Vec<u8>,
    number: u32,
    handle: impl FnOnce(&Pdf, &Page<'_>) -> Option<T>,
) -> Result<T, RenderFailure> {
    let pdf = open(bytes).map_err(RenderFailure::Document)?;
    let index = (number as usize).checked_sub(1);
    let page = index.and_then(|index| pdf.pages().get(index)).ok_or(RenderFailure::NoSuchPage)?;
    let crashed = || RenderFailure::Document(Failure::of(FailureCode::ExtractionCrashed));
    catch_unwind(AssertUnwindSafe(|| handle(&pdf, page))).unwrap_or(None).ok_or_else(crashed)
}

fn render_png(pdf: &Pdf, page: &Page<'_>, drawing: &DrawingRequest) -> Option<Vec<u8>> {
    let (width, height) = page.render_dimensions();
    // A page without extent is rendered as a single point.
    let (width, height) = (width.max(1.0), height.max(1.0));
    let scale = match drawing.size {
        SizeFrame::Width(pixels) => f32::from(pixels) / width,
        SizeFrame::Scan { dpi } => {
            (f32::from(dpi) / POINTS_PER_INCH).min(MAX_SCAN_SIDE / height).min(MAX_SCAN_SIDE / width)
        }
    };
    let scale = scale.min(MAX_SIDE / height).min(MAX_SIDE / width);
    // At least one pixel in each direction.
    let (x_scale, y_scale) = (scale.max(1.0 / width), scale.max(1.0 / height));
    let size = PixmapSettings { x_scale, y_scale, bg_color: WHITE };
    let (settings, cache) = (InterpreterSettings::default(), RenderCache::new());
    let mut pixmap = render(page, &cache, &settings, &RenderSettings::default(), &size);
    if let Some(text) = &drawing.marked {
        let mut lines = own_lines(pdf, page);
        let recognized = drawing.recognized.iter().flatten();
        lines.extend(recognized.map(|line| on_page(line, (width, height))));
        for bounds in marks::bounds_of(&lines, text) {
            highlight(&mut pixmap, bounds.scale_from_origin(f64::from(scale)));
        }
    }
    match drawing.size {
        SizeFrame::Width(_) => pixmap.into_png().ok(),
        SizeFrame::Scan { .. } if drawing.parts.is_empty() => GrayImage::of(&pixmap).png().ok(),
        SizeFrame::Scan { .. } => {
            let image = GrayImage::of(&pixmap);
            let own = own_lines(pdf, page).into_iter().flat_map(|line| line.boxes);
            let own: Vec<Rect> = own.map(|word| word.scale_from_origin(f64::from(scale))).collect();
            image.parts(&drawing.parts, &own).png().ok()
        }
    }
}

fn own_lines(pdf: &Pdf, page: &Page<'_>) -> Vec<Line> {
    PageReader::new(pdf, &PageLimits::default()).interpret(page).0.lines
}

/// A recognised line in points of the page.
fn on_page(line: &LineFrame, (width, height): (f32, f32)) -> Line {
    let scale = |at: u16, size: f32| f64::from(at) * f64::from(size) / f64::from(PageBox::UNITS);
    let bounds = |[left, top, right, bottom]: &Edges| {
        Rect::new(scale(*left, width), scale(*top, height), scale(*right, width), scale(*bottom, height))
    };
    let boxes = line.boxes.iter().map(bounds).collect();
    Line { text: line.text.clone(), begins_paragraph: false, boxes }
}

/// An image in shades of grey.
struct GrayImage {
    width: usize,
    pixels: Vec<u8>,
}

impl GrayImage {
    /// Converts an opaque image.
    fn of(pixmap: &Pixmap) -> Self {
        // The weights of ITU-R BT.601, in parts of 256.
        let luma = |pixel: &PremulRgba8| {
            let sum = u32::from(pixel.r) * 77 + u32::from(pixel.g) * 150 + u32::from(pixel.b) * 29;
            (sum >> 8) as u8
        };
        Self { width: pixmap.width().into(), pixels: pixmap.data().iter().map(luma).collect() }
    }

    fn height(&self) -> usize {
        self.pixels.len() / self.width.max(1)
    }

    /// The smallest image that contains these parts, without what is between them and without these words.
    fn parts(&self, parts: &[Edges], words: &[Rect]) -> Self {
        let size = (self.width, self.height());
        let ranges: Vec<_> = parts.iter().map(|part| pixels_of(*part, size)).collect();
        let union = ranges.iter().cloned().reduce(|(x, y), (other_x, other_y)| {
            (
                x.start.min(other_x.start)..x.end.max(other_x.end),
                y.start.min(other_y.start)..y.end.max(other_y.end),
            )
        });
        let (columns, rows) = union.unwrap_or((0..0, 0..0));
        let width = columns.len();
        let mut pixels = vec![u8::MAX; width * rows.len()];
        for (part_columns, part_rows) in ranges {
            for row in part_rows {
                let from = row * self.width;
                let to = (row - rows.start) * width + (part_columns.start - columns.start);
                let part = &self.pixels[from + part_columns.start..from + part_columns.end];
                pixels[to..to + part.len()].copy_from_slice(part);
            }
        }
        for word in words {
            let within = |at: f64, range: &Range<usize>| {
                (at.max(0.0) as usize).clamp(range.start, range.end) - range.start
            };
            let from_column = within(word.x0, &columns);
            let to_column = within(word.x1.ceil(), &columns);
            for row in within(word.y0, &rows)..within(word.y1.ceil(), &rows) {
                pixels[row * width + from_column..row * width + to_column].fill(u8::MAX);
            }
        }
        Self { width, pixels }
    }

    fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let size = |pixels: usize| u32::try_from(pixels).unwrap_or(u32::MAX);
        gray_png(&self.pixels, size(self.width), size(self.height()))
    }
}

/// Encodes an image in shades of grey. Fast compression: it is read once.
pub(crate) fn gray_png(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, png::EncodingError> {
    let mut image = Vec::new();
    let mut encoder = png::Encoder::new(&mut image, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(image)
}

/// The columns and rows of a part of an image of this size; at least one pixel of an image that has any.
fn pixels_of(
    [left, top, right, bottom]: Edges,
    (width, height): (usize, usize),
) -> (Range<usize>, Range<usize>) {
    let range = |from: u16, to: u16, size: usize| {
        let at = |edge: u16| usize::from(edge) * size / usize::from(PageBox::UNITS);
        let from = at(from).min(size.saturating_sub(1));
        from..at(to).clamp((from + 1).min(size), size)
    };
    (range(left, right, width), range(top, bottom, height))
}

fn highlight(pixmap: &mut Pixmap, bounds: Rect) {
    let (width, height) = (pixmap.width(), pixmap.height());
    let within = |at: f64, max: u16| at.clamp(0.0, f64::from(max)) as usize;
    let bounds = bounds.inflate(MARGIN, MARGIN);
    let columns = within(bounds.x0, width)..within(bounds.x1, width);
    for row in within(bounds.y0, height)..within(bounds.y1, height) {
        let start = row * usize::from(width);
        for pixel in &mut pixmap.data_mut()[start + columns.start..start + columns.end] {
            let scale = |value: u8, part: u16| (u16::from(value) * part / 256) as u8;
            (pixel.g, pixel.b) = (scale(pixel.g, HIGHLIGHT.0), scale(pixel.b, HIGHLIGHT.1));
        }
    }
}
