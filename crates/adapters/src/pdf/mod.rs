//! Text extraction and rendering of PDFs in worker processes.
//!
//! [`WorkerExtractor`] implements the `TextExtractor` port: for each PDF it starts a process that runs [`worker_main`],
//! sends it the file and receives pages. The worker limits its own memory and processor time and enters its [`sandbox`]
//! before it reads the first byte, so the cost of a hostile file is bounded whatever the libraries do, and a file that
//! takes over the worker finds neither files nor network. In the worker, `document` opens the file
//! with hayro, `content` inflates page contents within limits, `device` collects glyphs and stops pages that cost too
//! much, `layout`, `bidi` and `hyphens` turn glyphs into text in reading order, and `outline` reads title and bookmarks.
//!
//! [`WorkerRenderer`] implements the `PageRenderer` port in the same way: `drawing` renders a page with hayro, and
//! `marks` finds the lines to highlight.
//!
//! [`TesseractRecognizer`] implements the `TextRecognizer` port with the program tesseract: the worker limits itself and
//! then becomes that program, which reads an image of a page and writes the words that `tsv` parses.
//!
//! Does not belong here: decisions about the extracted pages, and which pages are recognised.

mod bidi;
mod characters;
mod content;
mod device;
mod document;
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
mod overprint;
mod renderer;
#[cfg(test)]
mod samples;
pub mod sandbox;
mod tesseract;
#[cfg(test)]
mod tests;
mod text_string;
mod tsv;
mod worker;
mod workers;

pub use extractor::WorkerExtractor;
pub use limits::ExtractionLimits;
pub use renderer::WorkerRenderer;
pub use tesseract::{TesseractError, TesseractRecognizer};
pub use worker::worker_main;
