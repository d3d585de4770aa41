//! Readers of the file formats beside PDF, in the worker.
//!
//! Every reader passes labelled [pages](super::reader::Pages) on: slides, ranges of sheets, or sections by heading. Nothing is
//! executed, fetched or rendered: macros, embedded objects, scripts and remote resources are not looked at. Archives are
//! unpacked entry by entry within limits (`package`), XML with a document type declaration or deep nesting is refused
//! (`xml`), and HTML is read as a list of tokens (`html`).

mod attachments;
mod delimited;
mod eml;
mod encoding;
mod epub;
mod html;
mod markdown;
mod math;
mod ods;
mod odt;
mod ooxml;
mod package;
mod plain;
mod rtf;
mod sections;
mod sheet;
#[cfg(test)]
mod tests;
mod xml;

use super::reader::{Pages, PagesLimits, Sink, Stopped, damaged};
use docent_domain::document::Failure;
use docent_domain::file_type::FileType;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads a file of a type other than PDF, and passes its pages to `sink`.
pub(super) fn read(
    file_type: FileType,
    bytes: Vec<u8>,
    limits: PagesLimits,
    sink: &mut dyn Sink,
) -> Result<(), Stopped> {
    let read = move || {
        let mut pages = Pages::new(sink, limits);
        match file_type {
            FileType::Pdf => return Err(damaged("it is a PDF").into()),
            FileType::Docx | FileType::Pptx | FileType::Xlsx => ooxml::read(file_type, bytes, &mut pages)?,
            FileType::Odt => odt::read(bytes, &mut pages)?,
            FileType::Epub => epub::read(bytes, &mut pages)?,
            FileType::Html => html::read(&encoding::decode_html(bytes), &mut pages)?,
            FileType::Markdown => markdown::read(&encoding::decode(bytes)?, &mut pages)?,
            FileType::Text => plain::read(&encoding::decode(bytes)?, &mut pages)?,
            FileType::Csv => delimited::read(&encoding::decode(bytes)?, &mut pages)?,
            FileType::Eml => eml::read(bytes, &mut pages)?,
            FileType::Ods => ods::read(bytes, &mut pages)?,
            FileType::Rtf => rtf::read(&bytes, &mut pages)?,
        }
        pages.finish()
    };
    // A panic in a library means that the file is unreadable.
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(unreadable().into()))
}

fn unreadable() -> Failure {
    damaged("its content is not valid")
}
