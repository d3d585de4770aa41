//! Lines of text on a page.

use hayro_interpret::kurbo::Rect;

/// A line of a page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// The text in logical order, trimmed.
    pub(super) text: String,
    /// Whether the space before the line is clearly larger than usual.
    pub(super) begins_paragraph: bool,
    /// The bounds of its words in points from the top left corner.
    pub(super) boxes: Vec<Rect>,
}
