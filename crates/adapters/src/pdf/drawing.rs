//! Renders one page of a PDF. Runs in the worker.

use super::{
    document::{PageReader, open},
    frame::DrawingRequest,
    limits::PageLimits,
    marks,
};
use docent_domain::document::{Failure, FailureCode};
use hayro::{
    PixmapSettings, RenderCache, RenderSettings, render,
    vello_cpu::{Pixmap, color::palette::css::WHITE},
};
use hayro_interpret::{InterpreterSettings, kurbo::Rect};
use hayro_syntax::{Pdf, page::Page};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum side length of an image in pixels; larger pages are scaled down.
const SIDE: f32 = 8192.0;
/// What marked places keep of their green and blue, in parts of 256: they turn yellow, and black stays black.
const MARKED: (u16, u16) = (236, 110);
/// How far a mark reaches beyond the letters, in pixels.
const MARGIN: f64 = 2.0;

/// Why a page could not be rendered.
#[derive(Debug)]
pub(super) enum Undrawn {
    NoSuchPage,
    Document(Failure),
}

/// Renders a page as PNG.
pub(super) fn draw(bytes: Vec<u8>, drawing: &DrawingRequest) -> Result<Vec<u8>, Undrawn> {
    let pdf = open(bytes).map_err(Undrawn::Document)?;
    let index = (drawing.page as usize).checked_sub(1);
    let page = index.and_then(|index| pdf.pages().get(index)).ok_or(Undrawn::NoSuchPage)?;
    let crashed = |_| Undrawn::Document(Failure::of(FailureCode::ExtractionCrashed));
    catch_unwind(AssertUnwindSafe(|| picture(&pdf, page, drawing))).unwrap_or(None).ok_or(()).map_err(crashed)
}

fn picture(pdf: &Pdf, page: &Page<'_>, drawing: &DrawingRequest) -> Option<Vec<u8>> {
    let (width, height) = page.render_dimensions();
    // A page without extent is rendered as a single point.
    let (width, height) = (width.max(1.0), height.max(1.0));
    let scale = (f32::from(drawing.width) / width).min(SIDE / height).min(SIDE / width);
    // At least a pixel each way.
    let (x_scale, y_scale) = (scale.max(1.0 / width), scale.max(1.0 / height));
    let size = PixmapSettings { x_scale, y_scale, bg_color: WHITE };
    let (settings, cache) = (InterpreterSettings::default(), RenderCache::new());
    let mut pixmap = render(page, &cache, &settings, &RenderSettings::default(), &size);
    if let Some(text) = &drawing.marked {
        let limits = PageLimits::default();
        let (content, _) = PageReader::new(pdf, &limits).interpret(page);
        for place in marks::places(&content.lines, text) {
            mark(&mut pixmap, place.scale_from_origin(f64::from(scale)));
        }
    }
    pixmap.into_png().ok()
}

fn mark(pixmap: &mut Pixmap, place: Rect) {
    let (width, height) = (pixmap.width(), pixmap.height());
    let within = |at: f64, most: u16| at.clamp(0.0, f64::from(most)) as usize;
    let place = place.inflate(MARGIN, MARGIN);
    let columns = within(place.x0, width)..within(place.x1, width);
    for row in within(place.y0, height)..within(place.y1, height) {
        let start = row * usize::from(width);
        for pixel in &mut pixmap.data_mut()[start + columns.start..start + columns.end] {
            let keep = |value: u8, part: u16| (u16::from(value) * part / 256) as u8;
            (pixel.g, pixel.b) = (keep(pixel.g, MARKED.0), keep(pixel.b, MARKED.1));
        }
    }
}
