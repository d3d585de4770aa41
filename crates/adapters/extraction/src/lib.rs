#![doc = include_str!("../README.md")]
//!
//! [`WorkerExtractor`] implements the `TextExtractor` port: for each file it starts a process that runs [`worker_main`],
//! sends it the file and receives pages. The worker limits its own memory and processor time and enters its [`sandbox`]
//! before it reads the first byte, so the cost of a hostile file is bounded whatever the libraries do, and a file that
//! takes over the worker finds neither files nor network. `pdf` reads PDFs in the worker, and `formats` the other
//! types; `reader` has what readers share.
//!
//! [`WorkerRenderer`] implements the `PageRenderer` port in the same way.
//!
//! [`TesseractRecognizer`] implements the `TextRecognizer` port with the program tesseract: the worker limits itself and
//! then becomes that program, which reads an image of a page and writes the words that `tsv` parses and in which
//! `scan_tables` finds tables.

pub mod cached_extractor;
mod embedded_picture;
mod extractor;
mod formats;
mod frame;
#[cfg(fuzzing)]
pub mod fuzzing;
mod limits;
mod page_line;
mod pdf;
mod reader;
mod renderer;
pub mod sandbox;
mod scan_tables;
mod tesseract;
mod tsv;
mod worker;
mod workers;

pub use extractor::WorkerExtractor;
pub use limits::ExtractionLimits;
pub use renderer::WorkerRenderer;
pub use tesseract::{TesseractError, TesseractRecognizer};
pub use worker::worker_main;
