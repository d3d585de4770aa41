//! From glyphs in content order to lines of text.
//!
//! Content order beats sorting by place: columns, sidebars and tables come out as their author wrote
//! them. Glyphs that continue each other on a baseline make a run, runs on a row make a line.

use super::bidi;
use hayro_interpret::kurbo::{Point, Rect, Vec2};

/// A glyph's advance over a gap of this share of its size begins a new word.
const WORD_GAP: f64 = 0.14;

/// How far letters reach above and below their baseline, as shares of the font size.
const ASCENT: f64 = 0.8;
const DESCENT: f64 = 0.22;

/// A glyph, or several with a common replacement text, on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'t> {
    /// What it says, in visual order.
    pub(super) text: &'t str,
    /// Where the pen set it, in points from the top left corner.
    pub(super) start: Point,
    /// Where the pen went.
    pub(super) end: Point,
    /// The font size in points.
    pub(super) size: f64,
    /// The unit vector in which the pen moves.
    pub(super) direction: Vec2,
}

/// A line of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Its text in logical order, without space at its ends.
    pub(super) text: String,
    /// Whether clearly more space than usual stands before it.
    pub(super) begins_paragraph: bool,
    /// Where its words stand on the page, in points from the top left corner.
    pub(super) boxes: Vec<Rect>,
}

/// Text on one baseline without wide gaps, in visual order.
#[derive(Debug)]
struct Run {
    text: String,
    start: Point,
    end: Point,
    size: f64,
    direction: Vec2,
    rtl: bool,
}

/// Where something stands relative to the end of a run: along its direction, and across it downwards.
struct Offset {
    along: f64,
    across: f64,
    parallel: bool,
}

impl Run {
    /// Whether it may be the number or sign with which a right-to-left line begins, `next` being the
    /// sign to its left.
    fn is_neutral_after(&self, next: &Self) -> bool {
        let gap = (self.start - next.end).dot(self.direction);
        let neutral = |run: &Self| !run.text.contains(char::is_alphabetic);
        gap.abs() < 0.6 * self.size && neutral(self) && neutral(next)
    }

    /// The box around it, with what reaches above and below its baseline.
    fn bounds(&self) -> Rect {
        let up = Vec2::new(self.direction.y, -self.direction.x) * self.size;
        let corners =
            [self.start, self.end].map(|point| Rect::from_points(point + ASCENT * up, point - DESCENT * up));
        corners[0].union(corners[1])
    }

    /// Where it stands along its direction.
    fn position(&self) -> f64 {
        self.start.to_vec2().dot(self.direction)
    }

    fn new(glyph: &Placed<'_>) -> Self {
        Self {
            text: glyph.text.to_owned(),
            start: glyph.start,
            end: glyph.end,
            size: glyph.size,
            direction: glyph.direction,
            rtl: glyph.text.chars().any(bidi::is_rtl),
        }
    }

    fn offset_to(&self, point: Point, direction: Vec2) -> Offset {
        let d = point - self.end;
        Offset {
            along: d.dot(self.direction),
            across: self.direction.cross(d),
            parallel: self.direction.dot(direction) > 0.98,
        }
    }

    /// Takes a glyph that continues the run; false when it does not.
    fn append(&mut self, glyph: &Placed<'_>) -> bool {
        let at = self.offset_to(glyph.start, glyph.direction);
        let (small, large) = (self.size.min(glyph.size), self.size.max(glyph.size));
        let across = at.across.abs();
        // A jump across of a fifth is a new line, except for sub- and superscripts.
        let on_baseline = across < 0.2 * large || (across < 0.5 * large && large > 1.2 * small);
        if !at.parallel || !on_baseline || at.along <= -0.6 * large || at.along >= large {
            return false;
        }
        if at.along > WORD_GAP * small && !self.text.ends_with(' ') && !glyph.text.starts_with(' ') {
            self.text.push(' ');
        }
        self.text.push_str(glyph.text);
        self.end = glyph.end;
        self.size = large;
        self.rtl |= glyph.text.chars().any(bidi::is_rtl);
        true
    }
}

/// Collects the glyphs of a page.
#[derive(Debug, Default)]
pub(super) struct Layout {
    runs: Vec<Run>,
}

impl Layout {
    /// Adds the next glyph in content order.
    pub(super) fn push(&mut self, glyph: &Placed<'_>) {
        if let Some(run) = self.runs.last_mut() {
            if run.append(glyph) {
                return;
            }
            if glyph.text.trim().is_empty() {
                // Space alone never begins a run, but it ends the word before it. In text that is drawn
                // from right to left the gap that it leaves does.
                if !run.rtl && !run.text.ends_with(' ') {
                    run.text.push(' ');
                }
                return;
            }
        } else if glyph.text.trim().is_empty() {
            return;
        }
        self.runs.push(Run::new(glyph));
    }

    /// Puts the glyphs together as lines.
    pub(super) fn into_lines(self) -> Vec<Line> {
        let mut rows: Vec<Row> = Vec::new();
        for run in self.runs {
            match rows.last_mut() {
                Some(row) if row.continues_with(&run) => row.push(run),
                _ => rows.push(Row { rtl: run.rtl, runs: vec![run] }),
            }
        }
        let mut lines = Vec::with_capacity(rows.len());
        let gaps: Vec<Option<f64>> = rows.windows(2).map(|pair| pair[0].gap_to(&pair[1])).collect();
        let usual = usual_gap(&gaps);
        for (i, row) in rows.iter().enumerate() {
            let text = row.text();
            if !text.is_empty() {
                let begins_paragraph = i > 0 && begins_paragraph(&gaps, i - 1, usual);
                let boxes = row.runs.iter().map(Run::bounds).collect();
                lines.push(Line { text, begins_paragraph, boxes });
            }
        }
        lines
    }
}

/// Runs side by side, in content order.
struct Row {
    runs: Vec<Run>,
    rtl: bool,
}

impl Row {
    fn push(&mut self, run: Run) {
        self.rtl |= run.rtl;
        self.runs.push(run);
    }

    fn continues_with(&self, run: &Run) -> bool {
        self.runs.last().is_some_and(|last| {
            let at = last.offset_to(run.start, run.direction);
            at.parallel
                && at.across.abs() < 0.5 * last.size.max(run.size)
                && (at.along > -0.5 * last.size || self.rtl || run.rtl || last.is_neutral_after(run))
        })
    }

    fn size(&self) -> f64 {
        self.runs.iter().map(|run| run.size).fold(0.0, f64::max)
    }

    /// How far below this row the next one stands, in sizes of the larger of both; none when it does
    /// not stand below it, as at the top of the next column.
    fn gap_to(&self, next: &Self) -> Option<f64> {
        let (this, below) = (self.runs.first()?, next.runs.first()?);
        let across = this.direction.cross(below.start - this.start);
        let parallel = this.direction.dot(below.direction) > 0.98;
        (parallel && across > 0.0).then(|| across / self.size().max(next.size()))
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if self.rtl {
            let mut runs: Vec<&Run> = self.runs.iter().collect();
            runs.sort_by(|a, b| a.position().total_cmp(&b.position()));
            for (i, run) in runs.iter().enumerate() {
                let gap = i.checked_sub(1).map(|i| runs[i].offset_to(run.start, run.direction).along);
                match gap {
                    Some(gap) if gap < WORD_GAP * run.size => text.push_str(&run.text),
                    _ => push_apart(&mut text, &run.text),
                }
            }
            return bidi::to_logical(text.trim());
        }
        self.runs.iter().for_each(|run| push_apart(&mut text, &run.text));
        text.truncate(text.trim_end().len());
        text
    }
}

fn push_apart(text: &mut String, next: &str) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
    text.push_str(next.trim_start());
}

/// The gap between the lines of a paragraph: there may be few of them, but hardly less than a
/// quarter. None on pages with too few lines to tell.
fn usual_gap(gaps: &[Option<f64>]) -> Option<f64> {
    let mut gaps: Vec<f64> = gaps.iter().flatten().copied().filter(|gap| (0.8..3.0).contains(gap)).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 4).copied()
}

/// Whether the row after gap `i` begins a paragraph: its distance stands out on the page, and beside
/// its neighbours too unless it is large, so that tables with some air stay together.
fn begins_paragraph(gaps: &[Option<f64>], i: usize, usual: Option<f64>) -> bool {
    let (Some(gap), Some(usual)) = (gaps[i], usual) else { return false };
    let neighbours = [i.checked_sub(1).and_then(|i| gaps[i]), gaps.get(i + 1).copied().flatten()];
    let nearest = neighbours.into_iter().flatten().fold(f64::INFINITY, f64::min);
    gap > 1.3 * usual && (gap > 1.2 * nearest || gap > 1.7 * usual)
}
