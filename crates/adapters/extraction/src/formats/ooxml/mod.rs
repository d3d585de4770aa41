//! Reads Office Open XML: documents, presentations and workbooks.

mod docx;
mod drawing;
mod equation;
mod form_fields;
mod number_format;
mod numbering;
mod pptx;
mod relations;
mod texts;
mod values;
mod xlsx;

use super::description;
use super::package::{Package, needs_password};
use super::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped, damaged};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::file_type::FileType;
use relations::Relations;

/// The beginning of a compound file, in which older Office programs keep documents and newer ones encrypted documents.
const COMPOUND_SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Passes the pages of a file on. Macros, embedded objects and external resources are not looked at.
pub(super) fn read(file_type: FileType, bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    if bytes.starts_with(COMPOUND_SIGNATURE) {
        return Err(of_compound(&bytes).into());
    }
    let mut package = Package::open(bytes)?;
    let relations = Relations::read(&mut package, "")?;
    let path = relations.first("officeDocument").ok_or_else(|| damaged("it does not name its content"))?;
    let xml = package.require_xml(&path)?;
    let mut root = Root::default();
    let actual = match walk(&xml, &mut root) {
        Err(Stopped::Document(failure)) if root.name.is_none() => return Err(failure.into()),
        _ => root.file_type(),
    };
    if actual != Some(file_type) {
        let reason = match actual {
            Some(actual) => {
                format!("the content of the file is {}, not {}", actual.title(), file_type.title())
            }
            None => format!("the content of the file is not {}", file_type.title()),
        };
        return Err(Failure::because(FailureCode::WrongFileType, reason).into());
    }
    match file_type {
        FileType::Pptx => pptx::read(&mut package, &path, &xml, pages),
        FileType::Xlsx => xlsx::read(&mut package, &path, &xml, pages),
        _ => docx::read(&mut package, &path, &xml, pages),
    }
}

/// Whether a property is on: its value is left out, or says so.
fn is_on(element: &Element<'_>) -> bool {
    element.attribute("val").is_none_or(|value| !matches!(value.as_str(), "0" | "false" | "off"))
}

/// The titles and descriptions of a picture or another drawing, from the element with its properties.
fn description(element: &Element<'_>) -> Option<String> {
    let texts: Vec<String> =
        ["title", "descr", "alt"].into_iter().filter_map(|name| element.attribute(name)).collect();
    let mut shown: Vec<&str> = texts.iter().filter_map(|text| description::shown(text)).collect();
    shown.dedup();
    (!shown.is_empty()).then(|| shown.join(" "))
}

/// The failure of a compound file: an Office file with a password, or one of an older format.
fn of_compound(bytes: &[u8]) -> Failure {
    // The names of streams are in UTF-16.
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    if bytes.windows(name.len()).any(|window| window == name) {
        return needs_password();
    }
    let reason = "the file is of an older Office format, such as DOC or XLS";
    Failure::because(FailureCode::WrongFileType, reason)
}

/// Finds the name of the outermost element, which tells the type.
#[derive(Default)]
struct Root {
    name: Option<String>,
}

impl Root {
    fn file_type(&self) -> Option<FileType> {
        match self.name.as_deref()? {
            "document" => Some(FileType::Docx),
            "presentation" => Some(FileType::Pptx),
            "workbook" => Some(FileType::Xlsx),
            _ => None,
        }
    }
}

impl Handler for Root {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        self.name = Some(element.name.to_owned());
        // Nothing else is of interest.
        Err(damaged("").into())
    }
}
