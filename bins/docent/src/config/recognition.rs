//! Recognition of text on images of pages.

use super::check::within;
use super::declare::{text, unset};
use super::secret::Secret;
use super::section::section;
use super::url::HttpUrl;
use super::value::Value;
use docent_domain::recognition::Languages;

section! {
    /// Recognition of text on scanned pages (OCR).
    Recognition "Read scans" {
        /// What reads pages without reliable text, such as scans: `auto` (the program tesseract if it is on the `PATH`),
        /// `tesseract` (required), the URL of a service, or `off`.
        ocr: Recognizer = text("auto");
        /// API key for a recognition service.
        ocr_api_key: Option<Secret> = unset("none");
        /// Languages of scanned pages, the most frequent first, as codes such as `eng` or `deu+eng`. Tesseract needs data
        /// for each of them, on Debian from packages such as `tesseract-ocr-deu`.
        ocr_languages: Languages = text("eng");
        /// Maximum number of pages of a document that are recognised; further ones are listed as failed in its report.
        ocr_max_pages: u32 = text("500"), within(1..=100_000);
        /// Whether a model that sees pictures describes those on pages when a document is ingested: `on` for the chat model, the name of another
        /// model of `DOCENT_LLM_BASE_URL`, or `off`. Described pictures are limited like recognised pages.
        vision: Vision = text("off");
    }
}

/// What describes pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vision {
    /// Nothing.
    Off,
    /// The chat model.
    ChatModel,
    /// Another model of its back end.
    Model(String),
}

impl Value for Vision {
    const KIND: &'static str = "choice";

    fn accepted() -> String {
        "off, on, or the name of a model".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text.to_lowercase().as_str() {
            "off" | "false" | "no" | "0" | "none" => Ok(Self::Off),
            "on" | "true" | "yes" | "1" => Ok(Self::ChatModel),
            "" => Err("is empty".to_owned()),
            _ => Ok(Self::Model(text.to_owned())),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::ChatModel => "on".to_owned(),
            Self::Model(model) => model.clone(),
        }
    }
}

/// What recognises text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognizer {
    /// The program tesseract, if it is installed.
    Auto,
    /// None.
    Off,
    /// The program tesseract.
    Tesseract,
    /// A service.
    Http(HttpUrl),
}

impl Value for Recognizer {
    const KIND: &'static str = "choice";

    fn accepted() -> String {
        "auto, off, tesseract, or the URL of a recognition service".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            "tesseract" => Ok(Self::Tesseract),
            url if url.contains("://") => HttpUrl::parse(url).map(Self::Http),
            _ => Err("is not one of them".to_owned()),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Auto => "auto".to_owned(),
            Self::Off => "off".to_owned(),
            Self::Tesseract => "tesseract".to_owned(),
            Self::Http(url) => url.show(),
        }
    }
}

impl Value for Languages {
    const KIND: &'static str = "languages";

    fn accepted() -> String {
        "language codes separated by `+`, such as eng or deu+eng".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).map_err(|error| error.reason)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}
