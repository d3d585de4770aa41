//! Why ingestions fail.

use crate::file_type::FileType;
use std::fmt;

/// Why an ingestion failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Machine-readable, stable code.
    pub code: FailureCode,
    /// Human-readable reason. Never contains text of the document.
    pub reason: String,
}

impl Failure {
    /// Creates a failure with the standard reason of its code.
    pub fn of(code: FailureCode) -> Self {
        Self { code, reason: code.sentence().to_owned() }
    }

    /// Creates a failure of a file of this type with the standard reason of its code.
    pub fn of_type(code: FailureCode, file_type: FileType) -> Self {
        let reason = match file_type {
            FileType::Pdf => code.sentence().to_owned(),
            other => code.sentence().replace("PDF", &format!("{} file", other.title())),
        };
        Self { code, reason }
    }

    /// Creates a failure with a specific reason.
    pub fn because(code: FailureCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

macro_rules! failure_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $sentence:literal, $advice:literal;)*) => {
        /// Ingestion failure codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FailureCode {
            $($(#[$doc])* $name,)*
        }

        impl FailureCode {
            /// All codes.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code as text, as in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The standard reason.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }

            /// What a person can do about it, as the rest of a sentence.
            pub const fn advice(self) -> &'static str {
                match self { $(Self::$name => $advice),* }
            }

            /// Parses [`Self::as_str`].
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

failure_codes! {
    /// The file is not a PDF.
    NotAPdf = "not_a_pdf", "the file is not a PDF",
        "export or print it as a PDF, and upload that";
    /// The content of the file is of another type than its beginning or its name.
    WrongFileType = "wrong_file_type", "the content of the file is of another type than its beginning or its name",
        "open it in the program that made it, save it again, and upload that";
    /// The file is encrypted and needs a password.
    PasswordRequired = "password_required", "the PDF needs a password",
        "save a copy without a password, and upload that";
    /// The file is damaged.
    Unreadable = "unreadable", "the PDF is damaged and cannot be read",
        "open it and save it again, or get another copy, and upload that";
    /// The file has no bytes, or a PDF no pages.
    Empty = "empty_file", "the file is empty",
        "check the file where it comes from, and upload it again";
    /// No page has extractable text, for example because it is a scan.
    NoText = "no_extractable_text", "no extractable text",
        "if it is a scan, retry it once text recognition is set up, otherwise upload a copy with text";
    /// Pages have glyphs that do not map to characters.
    UnmappedText = "unmapped_text", "the text cannot be read reliably: its fonts do not say which characters they show",
        "retry it once text recognition is set up, or export it again with embedded fonts, and upload that";
    /// The recognizer rejected requests or was unreachable.
    Recognition = "recognition_failed", "the text on the images of pages could not be recognised",
        "check that its language is installed for text recognition, and retry it; an administrator finds the cause in the log";
    /// The file is larger than the limit.
    TooLarge = "too_large", "the file is larger than the limits allow",
        "split it into smaller files, and upload those";
    /// The document has more pages than the limit.
    TooManyPages = "too_many_pages", "the document has more pages than the limits allow",
        "split it into smaller files, and upload those";
    /// The text is longer than the limit.
    TooMuchText = "too_much_text", "the document has more text than the limits allow",
        "split it into smaller files, and upload those";
    /// The document has more chunks than the limit.
    TooManyChunks = "too_many_chunks", "the document falls into more chunks than the limits allow",
        "split it into smaller files, and upload those";
    /// Extraction exceeded its CPU time limit.
    ExtractionTimeout = "extraction_timeout", "reading the PDF took too long",
        "split it into smaller files, or print it as a new PDF, and upload that";
    /// Extraction exceeded its memory limit.
    ExtractionMemory = "extraction_memory", "reading the PDF took too much memory",
        "split it into smaller files, or print it as a new PDF, and upload that";
    /// The extraction worker crashed.
    ExtractionCrashed = "extraction_crashed", "reading the PDF crashed the extraction worker",
        "print it as a new PDF, and upload that";
    /// The stored file is missing.
    FileMissing = "file_missing", "the stored file is missing",
        "upload it again";
    /// The blob store rejected requests or was unreachable.
    Storage = "storage_failed", "the stored file could not be read",
        "retry it later; an administrator finds the cause in the log";
    /// The embedding back end rejected requests or was unreachable.
    Embedding = "embedding_failed", "the text could not be embedded",
        "retry it later; an administrator finds the cause in the log";
    /// The vector store rejected requests or was unreachable.
    Indexing = "indexing_failed", "the chunks could not be stored",
        "retry it later; an administrator finds the cause in the log";
    /// Ingestion was interrupted by restarts too many times.
    Interrupted = "interrupted", "ingestion was interrupted too many times",
        "retry it";
    /// An internal error.
    Internal = "internal", "an internal error stopped the ingestion",
        "retry it; if it fails again, report it to an administrator, who finds the cause in the log";
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reason_names_the_type_of_the_file() {
        let reason = |file_type| Failure::of_type(FailureCode::Unreadable, file_type).reason;
        assert_eq!(reason(FileType::Pdf), "the PDF is damaged and cannot be read");
        assert_eq!(reason(FileType::Docx), "the DOCX file is damaged and cannot be read");
    }

    #[test]
    fn every_failure_says_what_to_do() {
        for code in FailureCode::ALL {
            let advice = code.advice();
            assert!(["upload", "retry"].iter().any(|verb| advice.contains(verb)), "{code}: {advice}");
            assert!(!advice.ends_with('.'), "{code}: {advice}");
        }
    }

    #[test]
    fn failure_code_round_trips_through_text() {
        for code in FailureCode::ALL {
            assert_eq!(FailureCode::parse(code.as_str()), Some(*code));
        }
        assert_eq!(FailureCode::parse("nonsense"), None);
    }
}
