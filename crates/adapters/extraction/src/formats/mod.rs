//! Readers of the file formats beside PDF, in the worker.
//!
//! Every reader passes labelled [pages](super::reader::Pages) on: slides, ranges of sheets, or sections by heading. Nothing is
//! executed, fetched or laid out: macros, embedded objects, scripts and remote resources are not looked at. Pictures are decoded for
//! the recognition of their text alone, within limits (`embedded`). Archives are
//! unpacked entry by entry within limits (`package`), XML with a document type declaration or deep nesting is refused
//! (`xml`), and HTML is read as a list of tokens (`html`).

mod attachments;
mod data_uri;
mod delimited;
mod description;
mod embedded;
mod eml;
mod encoding;
mod epub;
mod html;
mod mail_text;
mod markdown;
mod math;
mod msg;
mod ods;
mod odt;
mod ooxml;
mod package;
mod plain;
mod rtf;
mod sections;
mod sheet;
mod svg;
mod symbols;
#[cfg(test)]
mod tests;
mod tnef;
mod xml;

use super::embedded_picture::EmbeddedPicture;
use super::pdf::drawing::RenderFailure;
use super::reader::{PageSource, Pages, PagesLimits, Sink, Stopped, damaged};
use crate::frame::SizeFrame;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{ExtractedPage, Metadata};
use docent_domain::file_type::FileType;
use package::Package;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads a file of a type other than PDF, and passes its pages to `sink`.
pub(super) fn read(
    file_type: FileType,
    bytes: Vec<u8>,
    limits: PagesLimits,
    sink: &mut dyn Sink,
) -> Result<(), Stopped> {
    caught(move || {
        let mut pages = Pages::new(sink, limits);
        read_pages(file_type, bytes, &mut pages)?;
        pages.finish()
    })
}

/// Where the image of a page comes from, in a file of a type other than PDF; `None` if there is no such page or it has no
/// pictures.
pub(super) fn page_source(
    file_type: FileType,
    bytes: Vec<u8>,
    limits: PagesLimits,
    page: u32,
) -> Result<Option<PageSource>, Stopped> {
    caught(move || {
        let mut sink = NoSink;
        let mut pages = Pages::new(&mut sink, limits);
        pages.want_source(page);
        read_pages(file_type, bytes, &mut pages)?;
        Ok(pages.into_source())
    })
}

/// Draws pictures of a file as PNG, below each other.
pub(super) fn draw_pictures(
    bytes: Vec<u8>,
    pictures: &[EmbeddedPicture],
    size: SizeFrame,
) -> Result<Vec<u8>, RenderFailure> {
    let draw = || {
        let is_entry = |picture: &EmbeddedPicture| !data_uri::is_picture(&picture.entry);
        let mut package = if pictures.iter().any(is_entry) { Some(Package::open(bytes)?) } else { None };
        Ok(embedded::draw(package.as_mut(), pictures, size))
    };
    match caught(draw) {
        Ok(Some(png)) => Ok(png),
        Ok(None) => Err(RenderFailure::Document(Failure::of(FailureCode::ExtractionCrashed))),
        Err(Stopped::Document(failure)) => Err(RenderFailure::Document(failure)),
        Err(Stopped::Sink(_)) => Err(RenderFailure::Document(unreadable())),
    }
}

/// Drops everything.
struct NoSink;

impl Sink for NoSink {
    fn page(&mut self, _: ExtractedPage) -> io::Result<()> {
        Ok(())
    }

    fn complete(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn metadata(&mut self, _: Metadata) -> io::Result<()> {
        Ok(())
    }
}

/// The result of a reader; a panic in it means that the file is unreadable.
fn caught<T>(read: impl FnOnce() -> Result<T, Stopped>) -> Result<T, Stopped> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(unreadable().into()))
}

fn read_pages(file_type: FileType, bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    match file_type {
        FileType::Pdf => return Err(damaged("it is a PDF").into()),
        FileType::Docx | FileType::Pptx | FileType::Xlsx => ooxml::read(file_type, bytes, pages)?,
        FileType::Odt => odt::read(bytes, pages)?,
        FileType::Epub => epub::read(bytes, pages)?,
        FileType::Html => html::read(&encoding::decode_html(bytes), pages)?,
        FileType::Markdown => markdown::read(&encoding::decode(bytes)?, pages)?,
        FileType::Text => plain::read(&encoding::decode(bytes)?, pages)?,
        FileType::Csv => delimited::read(&encoding::decode(bytes)?, pages)?,
        FileType::Eml => eml::read(bytes, pages)?,
        FileType::Ods => ods::read(bytes, pages)?,
        FileType::Rtf => rtf::read(&bytes, pages)?,
        FileType::Msg => eml::read(msg::in_mime(bytes)?.into_bytes(), pages)?,
    }
    Ok(())
}

fn unreadable() -> Failure {
    damaged("its content is not valid")
}
