//! Reads Office Open XML: documents, presentations and workbooks.

mod docx;
mod pptx;
mod relations;
mod values;
mod xlsx;

use super::package::Package;
use super::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped, damaged};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::file_type::FileType;
use relations::Relations;

/// Passes the pages of a file on. Macros, embedded objects and external resources are not looked at.
pub(super) fn read(file_type: FileType, bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
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
