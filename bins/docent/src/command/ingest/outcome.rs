//! Outcome of a file, as text and JSON.

use crate::invocation::command;
use crate::output::{paint, pluralize, sanitize};
use serde_json::{Value, json};
use std::path::Path;

/// The outcome of a file.
#[derive(Debug)]
pub(super) enum Outcome<'a> {
    /// Not uploaded.
    Rejected { why: &'a str },
    /// The connection broke during the upload: the service may or may not have the file.
    Unknown { why: &'a str },
    /// Uploaded and not waited for; `why` if waiting for it failed.
    Uploaded { document: &'a Value, why: Option<&'a str> },
    /// Ingested or failed, with the ingestion report.
    Finished { document: &'a Value, report: &'a Value },
}

impl Outcome<'_> {
    /// Whether the file was uploaded, or ingested if that was waited for.
    pub(super) fn is_success(&self) -> bool {
        match self {
            Self::Rejected { .. } | Self::Unknown { .. } => false,
            Self::Uploaded { why, .. } => why.is_none(),
            Self::Finished { report, .. } => report["status"] == "ingested",
        }
    }

    /// Formats one line with ID, status and title, and one line per warning and for an older document with the same file.
    pub(super) fn text(&self, path: &Path) -> String {
        let text = |value: &Value| sanitize(value.as_str().unwrap_or_default());
        let row = |document: &Value, status: &str, rest: &str| {
            let status = paint(&format!("{status:8}"));
            format!("{:36}  {status}  {}{rest}", text(&document["id"]), text(&document["title"]))
        };
        match self {
            Self::Rejected { why } => {
                let path = sanitize(&path.display().to_string());
                format!("{:36}  {}  {path}: {why}", "-", paint("refused "))
            }
            Self::Unknown { why } => {
                let path = sanitize(&path.display().to_string());
                let advice =
                    format!("the service may have received it: check with `{}`", command("documents list"));
                format!("{:36}  {}  {path}: {why}; {advice}", "-", paint("unknown "))
            }
            Self::Uploaded { document, why: None } => row(document, &text(&document["status"]), ""),
            Self::Uploaded { document, why: Some(why) } => row(document, "pending", &format!(": {why}")),
            Self::Finished { document, report } => {
                let (failure, coverage) = (&report["failure"]["reason"], &report["coverage"]);
                let rest = match (failure.is_string(), coverage.is_object()) {
                    (true, _) => match report["failure"]["advice"].as_str() {
                        Some(advice) => format!(": {}; {}", text(failure), sanitize(advice)),
                        None => format!(": {}", text(failure)),
                    },
                    (false, true) => {
                        let (pages, passages) = (&coverage["pages"], &coverage["chunks"]);
                        format!("   {}, {}", pluralize(pages, "page"), pluralize(passages, "passage"))
                    }
                    (false, false) => String::new(),
                };
                let mut lines = row(document, &text(&report["status"]), &rest);
                for warning in report["warnings"].as_array().into_iter().flatten() {
                    lines += &format!("\n    {}", text(warning));
                }
                if let Some(older) = report["duplicate_of"].as_str() {
                    lines += &format!("\n    the same file as document {}", sanitize(older));
                }
                lines
            }
        }
    }

    /// Formats an object with the same fields for every outcome; fields that do not apply are null.
    pub(super) fn as_json(&self, path: &Path) -> Value {
        let (nothing, none) = (Value::Null, json!([]));
        let (document, report, status, why) = match self {
            Self::Rejected { why } => (&nothing, &nothing, json!("refused"), Some(*why)),
            Self::Unknown { why } => (&nothing, &nothing, json!("unknown"), Some(*why)),
            Self::Uploaded { document, why } => (*document, &nothing, json!("pending"), *why),
            Self::Finished { document, report } => {
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
            "duplicate_of": report["duplicate_of"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e";

    fn formatted(outcome: &Outcome<'_>) -> (bool, String, Value) {
        let path = Path::new("in/a.pdf");
        (outcome.is_success(), outcome.text(path), outcome.as_json(path))
    }

    #[test]
    fn outcomes_have_the_same_json_fields() {
        let document = json!({ "id": ID, "title": "a.pdf", "status": "pending", "vector_doc_id": null });
        let ingested = json!({
            "status": "ingested", "coverage": { "pages": 12, "chunks": 1 }, "failure": null,
            "warnings": ["1 of 12 pages: no text"], "duplicate_of": ID,
        });
        let failed = json!({
            "status": "failed", "coverage": null, "warnings": [],
            "failure": { "code": "not_a_pdf", "reason": "it is\u{1b} no PDF" },
        });
        let document = &document;
        let outcomes = [
            (
                Outcome::Rejected { why: "no such file" },
                false,
                "-",
                "refused   in/a.pdf: no such file",
                json!("no such file"),
            ),
            (Outcome::Uploaded { document, why: None }, true, ID, "pending   a.pdf", Value::Null),
            (
                Outcome::Uploaded { document, why: Some("lost") },
                false,
                ID,
                "pending   a.pdf: lost",
                json!("lost"),
            ),
            (
                Outcome::Finished { document, report: &ingested },
                true,
                ID,
                "ingested  a.pdf   12 pages, 1 passage\n    1 of 12 pages: no text\n    the same file as document \
                 01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
                Value::Null,
            ),
            (
                Outcome::Finished { document, report: &failed },
                false,
                ID,
                "failed    a.pdf: it is  no PDF",
                json!("it is\u{1b} no PDF"),
            ),
        ];
        let mut fields = Vec::new();
        for (outcome, is_success, id, rest, reason) in outcomes {
            let (success, text, object) = formatted(&outcome);
            assert_eq!((success, text), (is_success, format!("{id:36}  {rest}")));
            assert_eq!(object["reason"], reason);
            assert_eq!(object["file"], "in/a.pdf");
            fields.push(object.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
        }
        assert!(fields.iter().all(|names| *names == fields[0] && names.len() == 9), "{fields:?}");
    }
}
