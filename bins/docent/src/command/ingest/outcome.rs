//! What became of a file, for people and for programs.

use crate::output::printable;
use serde_json::{Value, json};
use std::path::Path;

/// What became of a file.
#[derive(Debug)]
pub(super) enum Outcome<'a> {
    /// It was not uploaded.
    Refused { why: &'a str },
    /// Nobody knows: the connection broke while it was uploaded.
    Unknown { why: &'a str },
    /// It was, and this is all that is known of the document; `why` when it could not be followed any more.
    Accepted { document: &'a Value, why: Option<&'a str> },
    /// Its ingestion is over; `report` is what the service says of it.
    Settled { document: &'a Value, report: &'a Value },
}

impl Outcome<'_> {
    /// Whether the file is where it was to go: at the service, or ingested when that was waited for.
    pub(super) fn is_good(&self) -> bool {
        match self {
            Self::Refused { .. } | Self::Unknown { .. } => false,
            Self::Accepted { why, .. } => why.is_none(),
            Self::Settled { report, .. } => report["status"] == "ingested",
        }
    }

    /// A line with id, state and title, and one for each warning.
    pub(super) fn text(&self, path: &Path) -> String {
        let of = |value: &Value| printable(value.as_str().unwrap_or_default());
        let row = |document: &Value, status: &str, rest: &str| {
            format!("{:36}  {status:8}  {}{rest}", of(&document["id"]), of(&document["title"]))
        };
        match self {
            Self::Refused { why } => {
                let path = printable(&path.display().to_string());
                format!("{:36}  {:8}  {path}: {why}", "-", "refused")
            }
            Self::Unknown { why } => {
                let path = printable(&path.display().to_string());
                let look = "the service may have it: look with `docent documents list`";
                format!("{:36}  {:8}  {path}: {why}; {look}", "-", "unknown")
            }
            Self::Accepted { document, why: None } => row(document, &of(&document["status"]), ""),
            Self::Accepted { document, why: Some(why) } => row(document, "pending", &format!(": {why}")),
            Self::Settled { document, report } => {
                let (failure, coverage) = (&report["failure"]["reason"], &report["coverage"]);
                let rest = match (failure.is_string(), coverage.is_object()) {
                    (true, _) => format!(": {}", of(failure)),
                    (false, true) => {
                        let (pages, passages) = (&coverage["pages"], &coverage["chunks"]);
                        format!("   {}, {}", counted(pages, "page"), counted(passages, "passage"))
                    }
                    (false, false) => String::new(),
                };
                let mut text = row(document, &of(&report["status"]), &rest);
                for warning in report["warnings"].as_array().into_iter().flatten() {
                    text += &format!("\n    {}", of(warning));
                }
                text
            }
        }
    }

    /// The same fields for every outcome; those that do not apply are null.
    pub(super) fn as_json(&self, path: &Path) -> Value {
        let (nothing, none) = (Value::Null, json!([]));
        let (document, report, status, why) = match self {
            Self::Refused { why } => (&nothing, &nothing, json!("refused"), Some(*why)),
            Self::Unknown { why } => (&nothing, &nothing, json!("unknown"), Some(*why)),
            Self::Accepted { document, why } => (*document, &nothing, json!("pending"), *why),
            Self::Settled { document, report } => {
                (*document, *report, report["status"].clone(), report["failure"]["reason"].as_str())
            }
        };
        let warnings = if report["warnings"].is_array() { &report["warnings"] } else { &none };
        json!({
            "file": path.display().to_string(),
            "id": document["id"],
            "title": document["title"],
            "status": status,
            "reason": why,
            "code": report["failure"]["code"],
            "coverage": report["coverage"],
            "warnings": warnings,
        })
    }
}

/// `1 page`, `2 pages`.
fn counted(number: &Value, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";

    fn told(outcome: &Outcome<'_>) -> (bool, String, Value) {
        let path = Path::new("in/a.pdf");
        (outcome.is_good(), outcome.text(path), outcome.as_json(path))
    }

    #[test]
    fn each_outcome_is_a_line_and_an_object_with_the_same_fields() {
        let document = json!({ "id": ID, "title": "a.pdf", "status": "pending", "vector_doc_id": null });
        let ingested = json!({
            "status": "ingested", "coverage": { "pages": 12, "chunks": 1 }, "failure": null,
            "warnings": ["1 of 12 pages: no text"],
        });
        let failed = json!({
            "status": "failed", "coverage": null, "warnings": [],
            "failure": { "code": "not_a_pdf", "reason": "it is\u{1b} no PDF" },
        });
        let document = &document;
        let outcomes = [
            (
                Outcome::Refused { why: "no such file" },
                false,
                "-",
                "refused   in/a.pdf: no such file",
                json!("no such file"),
            ),
            (Outcome::Accepted { document, why: None }, true, ID, "pending   a.pdf", Value::Null),
            (
                Outcome::Accepted { document, why: Some("lost") },
                false,
                ID,
                "pending   a.pdf: lost",
                json!("lost"),
            ),
            (
                Outcome::Settled { document, report: &ingested },
                true,
                ID,
                "ingested  a.pdf   12 pages, 1 passage\n    1 of 12 pages: no text",
                Value::Null,
            ),
            (
                Outcome::Settled { document, report: &failed },
                false,
                ID,
                "failed    a.pdf: it is  no PDF",
                json!("it is\u{1b} no PDF"),
            ),
        ];
        let mut fields = Vec::new();
        for (outcome, is_good, id, rest, reason) in outcomes {
            let (good, text, object) = told(&outcome);
            assert_eq!((good, text), (is_good, format!("{id:36}  {rest}")));
            assert_eq!(object["reason"], reason);
            assert_eq!(object["file"], "in/a.pdf");
            fields.push(object.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
        }
        assert!(fields.iter().all(|names| *names == fields[0] && names.len() == 8), "{fields:?}");
    }
}
