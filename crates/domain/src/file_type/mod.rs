//! Types of files that can be uploaded.

mod detection;
mod mail;
mod plain_text;

pub use detection::{HEAD_BYTES, detect};
pub use plain_text::TextForm;

use std::fmt;

macro_rules! file_types {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $title:literal, $media:literal, $extensions:expr;)*) => {
        /// The type of a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FileType {
            $($(#[$doc])* $name,)*
        }

        impl FileType {
            /// All types.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Name in settings, requests and records, such as `docx`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// Name in messages, such as `DOCX`.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title),* }
            }

            /// Media type.
            pub const fn media_type(self) -> &'static str {
                match self { $(Self::$name => $media),* }
            }

            /// Extensions of file names in lower case, the usual one first.
            pub const fn extensions(self) -> &'static [&'static str] {
                match self { $(Self::$name => $extensions),* }
            }

            /// Parses [`Self::as_str`].
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

file_types! {
    /// Portable Document Format.
    Pdf = "pdf", "PDF", "application/pdf", &["pdf"];
    /// Document of Word.
    Docx = "docx", "DOCX", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", &["docx", "docm", "dotx"];
    /// Presentation of PowerPoint.
    Pptx = "pptx", "PPTX", "application/vnd.openxmlformats-officedocument.presentationml.presentation", &["pptx", "pptm", "ppsx"];
    /// Workbook of Excel.
    Xlsx = "xlsx", "XLSX", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", &["xlsx", "xlsm", "xltx"];
    /// OpenDocument text.
    Odt = "odt", "ODT", "application/vnd.oasis.opendocument.text", &["odt"];
    /// Web page.
    Html = "html", "HTML", "text/html", &["html", "htm", "xhtml"];
    /// Markdown.
    Markdown = "md", "Markdown", "text/markdown", &["md", "markdown"];
    /// Plain text.
    Text = "txt", "plain text", "text/plain", &["txt", "text", "log"];
    /// Comma-separated values; semicolons and tabs separate values too.
    Csv = "csv", "CSV", "text/csv", &["csv", "tsv"];
    /// Email message, or a mailbox of several.
    Eml = "eml", "EML", "message/rfc822", &["eml", "mbox"];
    /// E-book.
    Epub = "epub", "EPUB", "application/epub+zip", &["epub"];
    /// OpenDocument spreadsheet.
    Ods = "ods", "ODS", "application/vnd.oasis.opendocument.spreadsheet", &["ods"];
    /// Rich Text Format.
    Rtf = "rtf", "RTF", "application/rtf", &["rtf"];
    /// Message of Outlook.
    Msg = "msg", "MSG", "application/vnd.ms-outlook", &["msg"];
}

impl FileType {
    /// The type with this extension of file names, in any case.
    pub fn of_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        Self::ALL.iter().copied().find(|of| of.extensions().contains(&extension.as_str()))
    }

    /// Whether files of this type have pages that can be drawn. Others are shown as text.
    pub const fn has_page_images(self) -> bool {
        matches!(self, Self::Pdf)
    }

    /// Whether the type of a plain text follows from the name of the file alone.
    const fn is_named_text(self) -> bool {
        matches!(self, Self::Html | Self::Markdown | Self::Text | Self::Csv | Self::Eml)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// How to save a file of a format that is not read as one that is, by its name; `None` for other names.
pub fn conversion(name: &str) -> Option<&'static str> {
    let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match extension.as_str() {
        "doc" | "dot" | "wps" | "pages" => "save the document as DOCX or PDF",
        "xls" | "xlsb" | "xlt" | "numbers" => "save the workbook as XLSX",
        "ppt" | "pps" | "pot" | "odp" | "key" => "save the presentation as PPTX or PDF",
        _ => return None,
    })
}

/// A set of file types, such as those that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTypes(u16);

impl Default for FileTypes {
    /// PDF alone.
    fn default() -> Self {
        Self(FileType::Pdf.bit())
    }
}

impl FromIterator<FileType> for FileTypes {
    fn from_iter<T: IntoIterator<Item = FileType>>(types: T) -> Self {
        Self(types.into_iter().fold(0, |bits, of| bits | of.bit()))
    }
}

impl FileTypes {
    /// Every type.
    pub fn all() -> Self {
        FileType::ALL.iter().copied().collect()
    }

    /// Parses names separated by commas, or `all`.
    ///
    /// # Errors
    /// The name that is not known; empty if no type is named.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("all") {
            return Ok(Self::all());
        }
        let names = text.split(',').map(|name| name.trim().to_ascii_lowercase());
        let parse = |name: String| FileType::parse(&name).ok_or(name);
        names.map(parse).collect()
    }

    /// Whether the type is in the set.
    pub const fn contains(self, of: FileType) -> bool {
        self.0 & of.bit() != 0
    }

    /// Whether the set has PDF alone.
    pub fn is_pdf_only(self) -> bool {
        self == Self::default()
    }

    /// The types of the set.
    pub fn iter(self) -> impl Iterator<Item = FileType> {
        FileType::ALL.iter().copied().filter(move |of| self.contains(*of))
    }

    /// The value of the attribute `accept` of an HTML file input: media types and extensions.
    pub fn accept(self) -> String {
        let of = |of: FileType| {
            let extensions = of.extensions().iter().map(|extension| format!(".{extension}"));
            std::iter::once(of.media_type().to_owned()).chain(extensions).collect::<Vec<_>>()
        };
        self.iter().flat_map(of).collect::<Vec<_>>().join(",")
    }
}

/// Names of the types for messages, such as `PDF, DOCX and plain text`.
impl fmt::Display for FileTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles: Vec<&str> = self.iter().map(FileType::title).collect();
        match titles.split_last() {
            Some((last, [])) => f.write_str(last),
            Some((last, others)) => write!(f, "{} and {last}", others.join(", ")),
            None => f.write_str("no"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_round_trip_through_their_names() {
        for of in FileType::ALL {
            assert_eq!(FileType::parse(of.as_str()), Some(*of));
            for extension in of.extensions() {
                assert_eq!(FileType::of_name(&format!("A.{}", extension.to_uppercase())), Some(*of));
            }
        }
        assert_eq!((FileType::of_name("pdf"), FileType::of_name("a.exe")), (None, None));
    }

    #[test]
    fn formats_that_are_not_read_have_a_conversion() {
        assert_eq!(conversion("Offer.DOC"), Some("save the document as DOCX or PDF"));
        assert_eq!((conversion("a.docx"), conversion("a.msg"), conversion("doc")), (None, None, None));
    }

    #[test]
    fn set_of_types_is_parsed_and_named() {
        assert!(FileTypes::default().is_pdf_only());
        assert_eq!(FileTypes::default().to_string(), "PDF");
        let some = FileTypes::parse("txt, PDF,docx").unwrap();
        assert_eq!(some.to_string(), "PDF, DOCX and plain text");
        assert!(some.contains(FileType::Docx) && !some.contains(FileType::Xlsx) && !some.is_pdf_only());
        assert_eq!(FileTypes::parse("ALL").unwrap(), FileTypes::all());
        assert_eq!(FileTypes::parse("pdf,doc").unwrap_err(), "doc");
        assert_eq!(FileTypes::parse("").unwrap_err(), "");
        assert_eq!(FileTypes::default().accept(), "application/pdf,.pdf");
    }
}
