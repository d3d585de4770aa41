//! A hayro device that collects a page's text and ignores graphics.

use super::layout::{Layout, Placed};
use super::limits::{Budget, PageLimits};
use super::line::Line;
use super::overprint::OverprintFilter;
use super::pictures::{Pictures, PlacedPicture};
use super::tables::Rule;
use super::{bidi, characters, text_string};
use hayro_interpret::font::{Glyph, GlyphRun, PositionedGlyph};
use hayro_interpret::hayro_cmap::WritingMode;
use hayro_interpret::kurbo::{Affine, BezPath, PathEl, Point, Rect, Shape, Vec2};
use hayro_interpret::{BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask};
use hayro_syntax::object::{Dict, String as PdfString};
use std::panic::resume_unwind;

/// Cost of a glyph, a path or a marked-content sequence.
const CHEAP: u64 = 1;
/// Cost of a form, which is inflated and parsed on each use.
const FORM: u64 = 100;
/// Text farther than this outside the page, in points, is ignored.
const BLEED: f64 = 2.0;

/// Maximum width and minimum length of a line between the cells of a table, in points.
const RULE_WIDTH: f64 = 2.5;
const RULE_LENGTH: f64 = 6.0;
/// Maximum number of lines that are remembered per page.
const MAX_RULES: usize = 4000;

/// Unwinds the interpreter, which cannot be stopped otherwise, when a page has used up its budget.
/// Raised by [`resume_unwind`], without a panic message, and caught around the page.
#[derive(Debug)]
pub(super) struct LimitReached;

/// The text of a page.
#[derive(Debug, Default)]
pub(super) struct PageText {
    pub(super) lines: Vec<Line>,
    pub(super) glyphs: u32,
    pub(super) unmapped_glyphs: u32,
    pub(super) pictures: Vec<PlacedPicture>,
}

/// Collects the text of one page.
pub(super) struct TextDevice<'b> {
    width: f64,
    height: f64,
    layout: Layout,
    overprint: OverprintFilter,
    /// Open marked-content sequences, outermost first.
    marked: Vec<Option<Replacement>>,
    /// The index of the outermost open sequence that has a replacement text.
    replaced: Option<usize>,
    previous_run: Option<(Point, u32, usize)>,
    /// Lines that may separate the cells of tables.
    rules: Vec<Rule>,
    pictures: Pictures,
    scratch: String,
    glyphs: u32,
    unmapped_glyphs: u32,
    text_bytes: usize,
    budget: &'b mut Budget,
}

/// A marked-content sequence whose glyphs have a replacement text.
struct Replacement {
    text: String,
    place: Option<Place>,
}

#[derive(Clone, Copy)]
struct Place {
    start: Point,
    end: Point,
    size: f64,
    direction: Vec2,
}

impl<'b> TextDevice<'b> {
    /// Creates a device for a page of the given size in points.
    pub(super) fn new(width: f32, height: f32, limits: &PageLimits, budget: &'b mut Budget) -> Self {
        budget.begin_page(limits);
        Self {
            width: f64::from(width),
            height: f64::from(height),
            layout: Layout::default(),
            overprint: OverprintFilter::default(),
            marked: Vec::new(),
            replaced: None,
            previous_run: None,
            rules: Vec::new(),
            pictures: Pictures::default(),
            scratch: String::new(),
            glyphs: 0,
            unmapped_glyphs: 0,
            text_bytes: limits.text_bytes,
            budget,
        }
    }

    /// Ends the page and returns its text.
    pub(super) fn finish(mut self) -> PageText {
        self.close_all();
        let lines = self.layout.into_lines(&self.rules);
        PageText {
            pictures: self.pictures.beside(&lines, (self.width, self.height)),
            lines,
            glyphs: self.glyphs,
            unmapped_glyphs: self.unmapped_glyphs,
        }
    }

    /// Ends the page and returns its words with their bounds, by line.
    pub(super) fn finish_words(mut self) -> Vec<Vec<(String, Rect)>> {
        self.close_all();
        self.layout.into_words()
    }

    /// Closes sequences that the page left open or that a limit cut.
    fn close_all(&mut self) {
        while !self.marked.is_empty() {
            self.close_marked_content();
        }
    }

    fn spend(&mut self, operations: u64) {
        if !self.budget.spend(operations) {
            resume_unwind(Box::new(LimitReached));
        }
    }

    fn is_on_page(&self, point: Point) -> bool {
        (-BLEED..=self.width + BLEED).contains(&point.x) && (-BLEED..=self.height + BLEED).contains(&point.y)
    }

    fn draw_glyph(&mut self, glyph: &PositionedGlyph<'_>, transform: Affine, mode: WritingMode) {
        let place = place(glyph, transform * glyph.transform(), mode);
        if !self.is_on_page(place.start) {
            return;
        }
        if let Some(replacement) = self.replaced.and_then(|i| self.marked[i].as_mut()) {
            self.glyphs = self.glyphs.saturating_add(1);
            match &mut replacement.place {
                Some(whole) => whole.end = place.end,
                none => *none = Some(place),
            }
            return;
        }
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        let known = characters::push_glyph(&mut text, glyph.as_unicode(), glyph.char_code());
        if !self.overprint.is_repeated(&text, place.start, place.end, place.size) {
            self.glyphs = self.glyphs.saturating_add(1);
            self.unmapped_glyphs = self.unmapped_glyphs.saturating_add(u32::from(!known));
            characters::to_visual(&mut text);
            if !self.place_text(&text, place) {
                resume_unwind(Box::new(LimitReached));
            }
        }
        self.scratch = text;
    }

    /// Remembers a shape if it is a horizontal or vertical line, or the edges of a box.
    fn add_rules(&mut self, shape: Rect, transform: Affine, mode: &DrawMode) {
        let bounds = transform.transform_rect_bbox(shape);
        let Rect { x0, y0, x1, y1 } = bounds;
        let (is_flat, is_narrow) = (bounds.height() <= RULE_WIDTH, bounds.width() <= RULE_WIDTH);
        let mut add = |is_vertical, start: f64, end: f64, across| {
            if end - start >= RULE_LENGTH && self.rules.len() < MAX_RULES {
                self.rules.push(Rule { is_vertical, start, end, across, direction: 0 });
            }
        };
        match (is_flat, is_narrow) {
            (true, true) => {}
            (true, false) => add(false, x0, x1, bounds.center().y),
            (false, true) => add(true, y0, y1, bounds.center().x),
            (false, false) if matches!(mode, DrawMode::Stroke(_)) => {
                add(false, x0, x1, y0);
                add(false, x0, x1, y1);
                add(true, y0, y1, x0);
                add(true, y0, y1, x1);
            }
            (false, false) => {}
        }
    }

    /// Remembers the lines of a path of several parts, such as the frame and all lines of a grid. Parts with curves or oblique
    /// lines are drawings.
    fn add_rules_of_parts(&mut self, path: &BezPath, transform: Affine, mode: &DrawMode) {
        self.spend(CHEAP * (path.elements().len() / 8) as u64);
        let parts = path.elements().split_inclusive(|element| matches!(element, PathEl::ClosePath));
        for part in parts.flat_map(|part| part.chunk_by(|_, next| !matches!(next, PathEl::MoveTo(_)))) {
            let point = |element: &PathEl| match element {
                PathEl::MoveTo(point) | PathEl::LineTo(point) => Some(*point),
                _ => None,
            };
            let is_closed = matches!(part.last(), Some(PathEl::ClosePath));
            let points: Option<Vec<Point>> =
                part[..part.len() - usize::from(is_closed)].iter().map(point).collect();
            let Some(points) = points.filter(|points| points.len() > 1) else { continue };
            let end = is_closed.then(|| points[0]);
            let ends = points.iter().skip(1).copied().chain(end);
            let lines: Vec<Rect> = points.iter().zip(ends).map(|(a, b)| Rect::from_points(*a, b)).collect();
            let is_upright = |line: &Rect| {
                let bounds = transform.transform_rect_bbox(*line);
                bounds.width() <= RULE_WIDTH || bounds.height() <= RULE_WIDTH
            };
            if !lines.iter().all(is_upright) {
                continue;
            }
            if matches!(mode, DrawMode::Stroke(_)) {
                lines.into_iter().for_each(|line| self.add_rules(line, transform, mode));
            } else if let Some(bounds) = lines.into_iter().reduce(|all, line| all.union(line)) {
                self.add_rules(bounds, transform, mode);
            }
        }
    }

    /// Notes that the content of the page ends, and that annotations follow.
    pub(super) fn begin_annotations(&mut self) {
        self.layout.begin_annotations();
    }

    /// Adds the value of a form field, unless its appearance shows it; see [`Layout::place_value`]. False if the page's limit is
    /// exceeded.
    pub(super) fn add_value(&mut self, bounds: Rect, value: &str, is_stale: bool) -> bool {
        let mut lines = Vec::new();
        for line in value.lines() {
            let mut text = String::new();
            line.chars().for_each(|c| characters::push(&mut text, c));
            let Some(left) = self.text_bytes.checked_sub(text.len()) else { return false };
            self.text_bytes = left;
            if text.contains(bidi::is_rtl) {
                text = text.chars().rev().collect();
            }
            lines.push(text);
        }
        if self.is_on_page(bounds.center()) {
            self.layout.place_value(bounds, &lines, is_stale);
        }
        true
    }

    /// Adds text to the page; false if the page's limit is exceeded.
    fn place_text(&mut self, text: &str, place: Place) -> bool {
        let Place { start, end, size, direction } = place;
        let left = self.text_bytes.checked_sub(text.len());
        if let Some(left) = left {
            self.text_bytes = left;
            self.layout.push(&Placed { text, start, end, size, direction });
        }
        left.is_some()
    }

    /// Ends the innermost sequence; false if its replacement text exceeds the page's limit.
    fn close_marked_content(&mut self) -> bool {
        let closed = self.marked.pop().flatten();
        if self.replaced == Some(self.marked.len()) {
            self.replaced = None;
        }
        let Some(Replacement { text: original, place: Some(place) }) = closed else { return true };
        let mut text = String::with_capacity(original.len());
        original.chars().for_each(|c| characters::push(&mut text, c));
        if self.overprint.is_repeated(&text, place.start, place.end, place.size) {
            return true;
        }
        characters::to_visual(&mut text);
        self.place_text(&text, place)
    }
}

/// Computes a glyph's position. Glyph space has 1,000 units per font size, with y pointing up.
fn place(glyph: &Glyph<'_>, transform: Affine, mode: WritingMode) -> Place {
    let [a, b, c, d, ..] = transform.as_coeffs();
    let start = transform * Point::ZERO;
    let size = 1000.0 * (a * d - b * c).abs().sqrt();
    let size = if size > 0.0 { size } else { 1.0 };
    let (width, height) = (a.hypot(b), c.hypot(d));
    if mode == WritingMode::Vertical {
        let direction = if height > 0.0 { Vec2::new(-c, -d) / height } else { Vec2::new(0.0, 1.0) };
        return Place { start, end: start + 1000.0 * height * direction, size, direction };
    }
    let direction = if width > 0.0 { Vec2::new(a, b) / width } else { Vec2::new(1.0, 0.0) };
    let advance = match glyph {
        Glyph::Outline(glyph) => glyph.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width(),
    };
    // For a substituted font, the transform includes the stretch of its glyphs, the advance does not.
    let scale = if 0.5 * height < width && width < height { height } else { width };
    Place { start, end: start + f64::from(advance.unwrap_or(500.0)) * scale * direction, size, direction }
}

impl Device<'_> for TextDevice<'_> {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, mode: &DrawMode) {
        let glyphs = run.glyphs();
        let Some(first) = glyphs.first() else { return };
        self.spend(CHEAP * glyphs.len() as u64);
        // Text that is both filled and stroked is drawn twice.
        let signature = (props.transform * first.transform() * Point::ZERO, first.char_code(), glyphs.len());
        if matches!(mode, DrawMode::Stroke(_)) && self.previous_run == Some(signature) {
            return;
        }
        self.previous_run = Some(signature);
        for glyph in glyphs {
            self.draw_glyph(glyph, props.transform, run.writing_mode());
        }
    }

    fn begin_marked_content(&mut self, _tag: &[u8], properties: Option<&Dict<'_>>) {
        self.spend(CHEAP);
        // Replacement texts within a replaced sequence are ignored.
        let text = match (self.replaced, properties) {
            (None, Some(properties)) => properties.get::<PdfString<'_>>(b"ActualText"),
            _ => None,
        };
        if text.is_some() {
            self.replaced = Some(self.marked.len());
        }
        let replacement =
            text.map(|text| Replacement { text: text_string::decode(text.as_bytes()), place: None });
        self.marked.push(replacement);
    }

    fn end_marked_content(&mut self) {
        if !self.close_marked_content() {
            resume_unwind(Box::new(LimitReached));
        }
    }

    fn draw_path(&mut self, path: &BezPath, props: DrawProps<'_>, mode: &DrawMode) {
        self.spend(CHEAP);
        // A line or a rectangle; curves have other elements.
        let is_straight = |element: &PathEl| !matches!(element, PathEl::QuadTo(..) | PathEl::CurveTo(..));
        if path.elements().len() > 6 {
            self.add_rules_of_parts(path, props.transform, mode);
        } else if path.elements().iter().all(is_straight) {
            self.add_rules(path.bounding_box(), props.transform, mode);
        }
    }

    fn draw_rect(&mut self, rect: &Rect, props: DrawProps<'_>, mode: &DrawMode) {
        self.spend(CHEAP);
        self.add_rules(*rect, props.transform, mode);
    }

    fn push_clip_path(&mut self, clip: &ClipPath) {
        // Each form starts by clipping to its box; the page's own rectangles use `push_clip_rect`.
        let is_form = clip.path.elements().len() <= 5;
        self.spend(if is_form { FORM } else { CHEAP });
    }

    fn push_clip_rect(&mut self, _: &Rect) {
        self.spend(CHEAP);
    }

    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {
        self.spend(CHEAP);
    }

    fn draw_image(&mut self, image: Image<'_, '_>, props: ImageDrawProps<'_>) {
        self.spend(CHEAP);
        let (width, height) = (f64::from(image.width()), f64::from(image.height()));
        let page = Rect::new(0.0, 0.0, self.width, self.height);
        let place = props.transform.transform_rect_bbox(Rect::new(0.0, 0.0, width, height));
        self.pictures.add(place.intersect(page));
    }

    fn pop_clip(&mut self) {}

    fn pop_transparency_group(&mut self) {}
}
