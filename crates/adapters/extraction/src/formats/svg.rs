//! Finds the texts of drawings in SVG: their labels, titles and descriptions.

/// Elements whose content is text; the last one contains HTML. Other content of a drawing is not shown.
const TEXTS: [&str; 4] = ["text", "title", "desc", "foreignobject"];

/// The open elements of a drawing.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    depth: usize,
    /// The number of open elements whose content is text.
    texts: usize,
}

impl Drawing {
    /// Whether a drawing is open.
    pub(super) const fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Whether text is shown at this place, which may be outside of a drawing.
    pub(super) const fn shows_text(&self) -> bool {
        self.depth == 0 || self.texts > 0
    }

    /// Opens an element that has an end.
    pub(super) fn start(&mut self, name: &str) {
        if name == "svg" {
            self.depth += 1;
        } else if self.is_open() && TEXTS.contains(&name) {
            self.texts += 1;
        }
    }

    /// Closes an element; true if the text of the drawing is interrupted.
    pub(super) fn end(&mut self, name: &str) -> bool {
        if name == "svg" {
            self.depth = self.depth.saturating_sub(1);
            // The end of a text may be missing.
            self.texts = if self.depth == 0 { 0 } else { self.texts };
        }
        let is_text = self.is_open() && TEXTS.contains(&name);
        self.texts = self.texts.saturating_sub(usize::from(is_text));
        is_text
    }

    /// Closes a drawing whose end is missing.
    pub(super) fn close(&mut self) {
        *self = Self::default();
    }
}
