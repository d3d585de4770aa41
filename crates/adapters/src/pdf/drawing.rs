//! Renders one page of a PDF. Runs in the worker.

use super::document::{PageReader, open};
use super::frame::DrawingRequest;
use super::limits::PageLimits;
use super::marks;
use docent_domain::document::{Failure, FailureCode};
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};
use hayro_interpret::InterpreterSettings;
use hayro_interpret::kurbo::Rect;
use hayro_syntax::Pdf;
use hayro_syntax::page::Page;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum side length of an image in pixels; larger pages are scaled down.
const MAX_SIDE: f32 = 8192.0;
/// Factors of green and blue in highlighted areas, in parts of 256: white turns yellow, black stays black.
const HIGHLIGHT: (u16, u16) = (236, 110);
/// Margin of a highlight around the letters, in pixels.
const MARGIN: f64 = 2.0;

/// Why a page could not be rendered.
#[derive(Debug)]
pub(super) enum RenderFailure {
    NoSuchPage,
    Document(Failure),
}

/// Renders a page as PNG.
pub(super) fn draw(bytes: Vec<u8>, drawing: &DrawingRequest) -> Result<Vec<u8>, RenderFailure> {
    let pdf = open(bytes).map_err(RenderFailure::Document)?;
    let index = (drawing.page as usize).checked_sub(1);
    let page = index.and_then(|index| pdf.pages().get(index)).ok_or(RenderFailure::NoSuchPage)?;
    let crashed = |_| RenderFailure::Document(Failure::of(FailureCode::ExtractionCrashed));
    catch_unwind(AssertUnwindSafe(|| render_png(&pdf, page, drawing)))
        .unwrap_or(None)
        .ok_or(())
        .map_err(crashed)
}

fn render_png(pdf: &Pdf, page: &Page<'_>, drawing: &DrawingRequest) -> Option<Vec<u8>> {
    let (width, height) = page.render_dimensions();
    // A page without extent is rendered as a single point.
    let (width, height) = (width.max(1.0), height.max(1.0));
    let scale = (f32::from(drawing.width) / width).min(MAX_SIDE / height).min(MAX_SIDE / width);
    // At least one pixel in each direction.
    let (x_scale, y_scale) = (scale.max(1.0 / width), scale.max(1.0 / height));
    let size = PixmapSettings { x_scale, y_scale, bg_color: WHITE };
    let (settings, cache) = (InterpreterSettings::default(), RenderCache::new());
    let mut pixmap = render(page, &cache, &settings, &RenderSettings::default(), &size);
    if let Some(text) = &drawing.marked {
        let limits = PageLimits::default();
        let (content, _) = PageReader::new(pdf, &limits).interpret(page);
        for bounds in marks::bounds_of(&content.lines, text) {
            highlight(&mut pixmap, bounds.scale_from_origin(f64::from(scale)));
        }
    }
    pixmap.into_png().ok()
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
