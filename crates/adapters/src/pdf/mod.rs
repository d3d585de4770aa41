//! PDFs, read and drawn in worker processes.
//!
//! [`WorkerExtractor`] implements the `TextExtractor` port: for each PDF it starts a process that
//! ends up in [`worker_main`], sends it the file and takes back pages. The worker limits its own
//! memory and processor time before it looks at the first byte, so what a hostile file can cost is
//! bounded whatever the libraries do. Inside the worker `document` opens the file with hayro,
//! `content` inflates page contents within limits, `device` collects glyphs and stops pages that
//! cost too much, `layout`, `bidi` and `hyphens` turn glyphs into text in reading order, and
//! `outline` reads title and bookmarks.
//!
//! [`WorkerRenderer`] implements the `PageRenderer` port in the same way: `drawing` draws a page with hayro, and `marks`
//! finds the lines of it that are to be marked.
//!
//! Does not belong here: what to do with pages (the ingestion decides), and OCR.

mod bidi;
mod characters;
mod content;
mod device;
mod document;
mod doubles;
mod drawing;
mod extractor;
mod frame;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hyphens;
mod layout;
mod limits;
mod marks;
mod outline;
mod renderer;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
mod text_string;
mod worker;
mod workers;

pub use extractor::WorkerExtractor;
pub use limits::ExtractionLimits;
pub use renderer::WorkerRenderer;
pub use worker::worker_main;
