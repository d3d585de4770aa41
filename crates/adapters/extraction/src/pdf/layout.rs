//! Assembles lines of text from glyphs in content order.
//!
//! Content order is better than sorting by position, because columns, sidebars and tables keep the order in which they
//! were written. Consecutive glyphs on a baseline form a run, runs side by side a line.

use super::bidi;
use super::line::Line;
use super::tables::{self, Rule, Strip, Word};
use hayro_interpret::kurbo::{Point, Rect, Vec2};

mod columns;
mod letters;

/// A gap larger than this fraction of the font size starts a new word.
const WORD_GAP: f64 = 0.14;

/// Extent of letters above and below the baseline as fractions of the font size.
const ASCENT: f64 = 0.8;
const DESCENT: f64 = 0.22;

/// A glyph, or several with a common replacement text, on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'t> {
    /// The text in visual order.
    pub(super) text: &'t str,
    /// The pen position before the glyph, in points from the top left corner.
    pub(super) start: Point,
    /// The pen position after the glyph.
    pub(super) end: Point,
    /// The font size in points.
    pub(super) size: f64,
    /// The unit vector of the pen's movement.
    pub(super) direction: Vec2,
}

/// Text on one baseline without wide gaps, in visual order.
#[derive(Debug)]
struct Run {
    text: String,
    words: Vec<RunWord>,
    start: Point,
    end: Point,
    size: f64,
    direction: Vec2,
    rtl: bool,
    /// Whether the space at the end of the text stands for a gap.
    ends_with_gap: bool,
}

/// Where a word of a run begins in its text, and where it is in the direction of the run.
#[derive(Clone, Copy, Debug)]
struct RunWord {
    at: usize,
    start: f64,
    end: f64,
    /// Whether a gap without a space is before the word.
    is_after_gap: bool,
}

/// A position relative to the end of a run: along its direction, and across it downwards.
struct Offset {
    along: f64,
    across: f64,
    parallel: bool,
}

impl Run {
    /// Whether the run may be the number or sign at the start of a right-to-left line, with `next` to its left.
    fn is_neutral_after(&self, next: &Self) -> bool {
        let gap = (self.start - next.end).dot(self.direction);
        let neutral = |run: &Self| !run.text.contains(char::is_alphabetic);
        gap.abs() < 0.6 * self.size && neutral(self) && neutral(next)
    }

    /// The bounding box, including ascent and descent.
    fn bounds(&self) -> Rect {
        self.bounds_between(self.start, self.end)
    }

    /// The bounding box of the text between two points of the baseline.
    fn bounds_between(&self, start: Point, end: Point) -> Rect {
        let up = Vec2::new(self.direction.y, -self.direction.x) * self.size;
        let corners = [start, end].map(|point| Rect::from_points(point + ASCENT * up, point - DESCENT * up));
        corners[0].union(corners[1])
    }

    /// The start position along the direction.
    fn position(&self) -> f64 {
        self.start.to_vec2().dot(self.direction)
    }

    fn new(glyph: &Placed<'_>) -> Self {
        let mut run = Self {
            text: String::new(),
            words: Vec::new(),
            start: glyph.start,
            end: glyph.end,
            size: glyph.size,
            direction: glyph.direction,
            rtl: false,
            ends_with_gap: false,
        };
        run.push(glyph);
        run
    }

    /// Appends the text of a glyph.
    fn push(&mut self, glyph: &Placed<'_>) {
        let along = |point: Point| point.to_vec2().dot(self.direction);
        let (start, end) = (along(glyph.start), along(glyph.end));
        let is_after_gap = std::mem::take(&mut self.ends_with_gap);
        match self.words.last_mut() {
            _ if glyph.text.trim().is_empty() => {}
            Some(word) if !self.text.ends_with(char::is_whitespace) => word.end = end,
            _ => self.words.push(RunWord { at: self.text.len(), start, end, is_after_gap }),
        }
        self.text.push_str(glyph.text);
        self.rtl |= glyph.text.chars().any(bidi::is_rtl);
    }

    /// The words, from left to right in the direction of the run.
    fn words(&self) -> impl Iterator<Item = Word<'_>> {
        let ends = self.words.iter().skip(1).map(|next| next.at).chain([self.text.len()]);
        self.words.iter().zip(ends).map(|(word, end)| {
            let text = self.text[word.at..end].trim();
            Word { text, start: word.start, end: word.end }
        })
    }

    /// The words with their bounding boxes.
    fn placed_words(&self) -> impl Iterator<Item = (String, Rect)> {
        let at = |along: f64| self.start + (along - self.position()) * self.direction;
        self.words()
            .map(move |Word { text, start, end }| (text.to_owned(), self.bounds_between(at(start), at(end))))
    }

    fn offset_to(&self, point: Point, direction: Vec2) -> Offset {
        let d = point - self.end;
        Offset {
            along: d.dot(self.direction),
            across: self.direction.cross(d),
            parallel: self.direction.dot(direction) > 0.98,
        }
    }

    /// Appends a glyph if it continues the run; otherwise returns false.
    fn append(&mut self, glyph: &Placed<'_>) -> bool {
        let at = self.offset_to(glyph.start, glyph.direction);
        let (small, large) = (self.size.min(glyph.size), self.size.max(glyph.size));
        let across = at.across.abs();
        // An offset across of a fifth starts a new line, except for sub- and superscripts.
        let on_baseline = across < 0.2 * large || (across < 0.5 * large && large > 1.2 * small);
        if !at.parallel || !on_baseline || at.along <= -0.6 * large || at.along >= large {
            return false;
        }
        if at.along > WORD_GAP * small && !self.text.ends_with(' ') && !glyph.text.starts_with(' ') {
            self.text.push(' ');
            self.ends_with_gap = true;
        }
        self.push(glyph);
        self.end = glyph.end;
        self.size = large;
        true
    }
}

/// Maximum size of the font in which the value of a form field is placed, in points.
const FIELD_SIZE: f64 = 10.0;
/// Width of a letter of such a value as a fraction of the font size.
const FIELD_LETTER: f64 = 0.5;

/// Collects the glyphs of a page.
#[derive(Debug, Default)]
pub(super) struct Layout {
    runs: Vec<Run>,
    /// The number of runs before the first annotation.
    content: usize,
}

impl Layout {
    /// Adds the next glyph in content order.
    pub(super) fn push(&mut self, glyph: &Placed<'_>) {
        if let Some(run) = self.runs.last_mut() {
            if run.append(glyph) {
                return;
            }
            if glyph.text.trim().is_empty() {
                // White space does not start a run but ends the previous word. In right-to-left text the gap that it
                // leaves does that.
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

    /// Notes that the following glyphs are of annotations.
    pub(super) fn begin_annotations(&mut self) {
        self.content = self.runs.len();
    }

    /// Places the lines of a form field's value within its bounds, after the text to its left. What its appearance shows is kept,
    /// unless it is stale and shows something else.
    pub(super) fn place_value(&mut self, bounds: Rect, lines: &[String], is_stale: bool) {
        let content = self.content.min(self.runs.len());
        let shown: Vec<usize> = (content..self.runs.len())
            .filter(|at| bounds.contains(self.runs[*at].bounds().center()))
            .collect();
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let text: String = shown.iter().map(|at| letters(&self.runs[*at].text)).collect();
        let is_same = text == letters(&lines.concat());
        // Signs such as that of a checked box have no letters.
        if !text.is_empty() && (is_same || !is_stale) {
            return;
        }
        for at in shown.into_iter().rev() {
            self.runs.remove(at);
        }
        let size = (0.7 * bounds.height() / lines.len().max(1) as f64).clamp(1.0, FIELD_SIZE);
        let height = if lines.len() > 1 { 1.2 * size } else { bounds.height() };
        let direction = Vec2::new(1.0, 0.0);
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let y = bounds.y0 + height * number as f64 + 0.5 * height + 0.35 * size;
            let start = Point::new(bounds.x0 + 1.0, y);
            let width = FIELD_LETTER * size * line.chars().count() as f64;
            let glyph = Placed { text: line, start, end: start + width * direction, size, direction };
            let mut run = Run::new(&glyph);
            // Its words have no places of their own.
            run.words = vec![RunWord {
                at: 0,
                start: run.position(),
                end: run.position() + width,
                is_after_gap: false,
            }];
            let is_left = |other: &Run| {
                let at = other.offset_to(start, direction);
                at.parallel && at.across.abs() < 0.5 * size.max(other.size) && at.along > -0.5 * size
            };
            // The label of a box is to its right.
            let is_right = |other: &Run| {
                let at = other.offset_to(start, direction);
                at.parallel && at.across.abs() < 0.5 * size.max(other.size)
            };
            let left = self.runs.iter().rposition(is_left).map(|at| at + 1);
            let after = left.or_else(|| self.runs.iter().position(is_right)).unwrap_or(self.runs.len());
            self.content += usize::from(after <= self.content);
            self.runs.insert(after, run);
        }
    }

    /// The words with their bounds, by line. A right-to-left line is one word, since its words are not in logical order.
    pub(super) fn into_words(self) -> Vec<Vec<(String, Rect)>> {
        let words = |row: Row| match row.runs.iter().map(Run::bounds).reduce(|all, next| all.union(next)) {
            Some(bounds) if row.rtl => vec![(row.text(), bounds)],
            _ => row.runs.iter().flat_map(Run::placed_words).filter(|(text, _)| !text.is_empty()).collect(),
        };
        self.into_rows().into_iter().map(words).collect()
    }

    /// The rows in reading order, and their tables.
    fn into_ordered_rows(self, rules: &[Rule]) -> (Vec<Row>, Vec<tables::Table>) {
        let rows = self.into_rows();
        let mut tables = find_tables(&rows, rules);
        tables.retain(|table| {
            let [first, .., last] = table.rows[..] else { return true };
            table.is_ruled || !columns::are_sentences(&rows[first..=last])
        });
        let is_in_table = |row: usize| tables.iter().any(|table| table.rows.contains(&row));
        let is_free: Vec<bool> = (0..rows.len()).map(|row| !is_in_table(row)).collect();
        match columns::reordered(rows, &is_free) {
            Ok(rows) => {
                let tables = find_tables(&rows, rules);
                (rows, tables)
            }
            Err(rows) => (rows, tables),
        }
    }

    fn into_rows(self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for mut run in self.runs {
            run.join_spaced_letters();
            match rows.last_mut() {
                Some(row) if row.continues_with(&run) => row.push(run),
                _ => rows.push(Row { rtl: run.rtl, runs: vec![run] }),
            }
        }
        rows
    }

    /// Assembles the lines. `rules` are the lines drawn on the page.
    pub(super) fn into_lines(self, rules: &[Rule]) -> Vec<Line> {
        let (rows, tables) = self.into_ordered_rows(rules);
        let mut lines = Vec::with_capacity(rows.len());
        let gaps: Vec<Option<f64>> = rows.windows(2).map(|pair| pair[0].gap_to(&pair[1])).collect();
        let usual = usual_gap(&gaps);
        let mut is_taken = vec![false; rows.len()];
        tables.iter().flat_map(|table| &table.rows).for_each(|row| is_taken[*row] = true);
        let mut tables = tables.into_iter().peekable();
        for (next, row) in rows.iter().enumerate() {
            if let Some(table) = tables.next_if(|table| table.rows.first() == Some(&next)) {
                lines.extend(table.into_lines(|row| rows[row].boxes()));
            }
            if is_taken[next] {
                continue;
            }
            let text = row.text();
            if !text.is_empty() {
                let follows_table =
                    next > 0 && lines.last().is_some_and(|line: &Line| line.text.starts_with('|'));
                let begins_paragraph = follows_table || next > 0 && begins_paragraph(&gaps, next - 1, usual);
                lines.push(Line { text, begins_paragraph, boxes: row.boxes() });
            }
        }
        lines
    }
}

/// Runs side by side, in content order.
#[derive(Debug)]
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

    fn boxes(&self) -> Vec<Rect> {
        self.runs.iter().map(Run::bounds).collect()
    }

    /// The row for the search for tables. Right-to-left rows have no words in it.
    fn strip(&self) -> Strip<'_> {
        let words = if self.rtl { Vec::new() } else { self.runs.iter().flat_map(Run::words).collect() };
        let (direction, baseline) = self.runs.first().map_or((0, 0.0), |run| {
            (direction_index(run.direction), run.direction.cross(run.start.to_vec2()))
        });
        Strip { words, baseline, size: self.size(), direction }
    }

    fn size(&self) -> f64 {
        self.runs.iter().map(|run| run.size).fold(0.0, f64::max)
    }

    /// The distance to the next row below in multiples of the larger font size; `None` if the next row is not below,
    /// as at the top of the next column.
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

/// Finds the tables among the rows of a page.
fn find_tables(rows: &[Row], rules: &[Rule]) -> Vec<tables::Table> {
    if rows.iter().all(|row| row.runs.len() < 2) {
        return Vec::new();
    }
    let strips: Vec<Strip<'_>> = rows.iter().map(Row::strip).collect();
    tables::find(&strips, rules)
}

/// A number for each direction of text, in steps of about eleven degrees.
fn direction_index(direction: Vec2) -> u8 {
    (direction.atan2() / std::f64::consts::PI * 16.0).round().rem_euclid(32.0) as u8
}

fn push_apart(text: &mut String, next: &str) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
    text.push_str(next.trim_start());
}

/// Returns the usual gap between lines of a paragraph, which is the first quartile: at least a quarter of all gaps are
/// within paragraphs. `None` on pages with too few lines.
fn usual_gap(gaps: &[Option<f64>]) -> Option<f64> {
    let mut gaps: Vec<f64> = gaps.iter().flatten().copied().filter(|gap| (0.8..3.0).contains(gap)).collect();
    gaps.sort_by(f64::total_cmp);
    gaps.get(gaps.len() / 4).copied()
}

/// Whether the row after gap `i` starts a paragraph: the gap is larger than usual on the page and, unless it is very
/// large, larger than its neighbours, so that spacious tables stay together.
fn begins_paragraph(gaps: &[Option<f64>], i: usize, usual: Option<f64>) -> bool {
    let (Some(gap), Some(usual)) = (gaps[i], usual) else { return false };
    let neighbours = [i.checked_sub(1).and_then(|i| gaps[i]), gaps.get(i + 1).copied().flatten()];
    let nearest = neighbours.into_iter().flatten().fold(f64::INFINITY, f64::min);
    gap > 1.3 * usual && (gap > 1.2 * nearest || gap > 1.7 * usual)
}
