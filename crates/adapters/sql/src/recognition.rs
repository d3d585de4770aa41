//! The column with what a recognizer did for a document.

use super::fault::corrupt;
use docent_domain::extraction::{RecognitionCoverage, RecognizedPageCoverage};
use docent_domain::fault::Result;
use docent_domain::recognition::RecognitionFailure;
use sea_orm::entity::prelude::Json;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The value of the column.
#[derive(Serialize, Deserialize)]
struct Column {
    recognizer: String,
    /// Number and confidence.
    pages: Vec<(u32, u8)>,
    /// Pages whose pictures were read.
    #[serde(default)]
    picture_pages: Vec<(u32, u8)>,
    /// Number and code of the failure.
    failed: Vec<(u32, String)>,
}

/// Encodes the value of the column.
pub(super) fn value(coverage: &RecognitionCoverage) -> Json {
    let pages = |pages: &[RecognizedPageCoverage]| -> Vec<(u32, u8)> {
        pages.iter().map(|page| (page.page, page.confidence)).collect()
    };
    let failed = coverage.failed_pages.iter().map(|(page, failure)| (page, failure.as_str()));
    json!({
        "recognizer": coverage.recognizer,
        "pages": pages(&coverage.pages),
        "picture_pages": pages(&coverage.picture_pages),
        "failed": failed.collect::<Vec<_>>(),
    })
}

/// Decodes the value of the column.
pub(super) fn of_value(value: &Json) -> Result<RecognitionCoverage> {
    let wrong = || corrupt("coverage of the recognition");
    let Column { recognizer, pages, picture_pages, failed } =
        Column::deserialize(value).map_err(|_| wrong())?;
    let failed = failed.into_iter().map(|(page, code)| Some((page, RecognitionFailure::parse(&code)?)));
    let covered = |pages: Vec<(u32, u8)>| {
        pages.into_iter().map(|(page, confidence)| RecognizedPageCoverage { page, confidence }).collect()
    };
    Ok(RecognitionCoverage {
        recognizer,
        pages: covered(pages),
        picture_pages: covered(picture_pages),
        failed_pages: failed.collect::<Option<_>>().ok_or_else(wrong)?,
    })
}
