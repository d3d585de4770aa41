//! Text extraction and rendering of PDFs, in the worker.
//!
//! `document` opens the file with hayro, `content` inflates page contents within limits, `device` collects glyphs and
//! stops pages that cost too much, `layout`, `bidi` and `hyphens` turn glyphs into text in reading order, and `outline`
//! reads title and bookmarks. `drawing` renders a page with hayro, and `marks` finds the lines to highlight.

mod bidi;
mod characters;
mod content;
mod device;
pub(super) mod document;
pub(super) mod drawing;
mod fields;
mod hyphens;
mod layout;
pub(super) mod limits;
mod line;
mod marks;
mod outline;
mod overprint;
mod pictures;
#[cfg(test)]
mod samples;
pub(super) mod tables;
#[cfg(test)]
mod tests;
mod text_string;
mod to_unicode;
