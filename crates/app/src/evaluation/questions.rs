//! Parses evaluation questions: one JSON object per line.

use super::Source;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use thiserror::Error;

/// A question with the pages of a file that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its line number, counted from 1.
    pub line: usize,
    /// Its ID in reports.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// The file that answers it.
    pub file: String,
    /// The pages that answer it, counted from 1; at least one.
    pub pages: BTreeSet<u32>,
    /// The text of the file that answers it; may be empty.
    pub evidence: String,
}

/// A question with the document that answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedQuestion {
    /// The question.
    pub question: Question,
    /// The document.
    pub source: Source,
}

/// A line that is not a valid question.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct InvalidQuestion {
    /// Its number, counted from 1.
    pub line: usize,
    /// Why it is not valid.
    pub reason: String,
}

/// Parses questions. Empty lines and unknown fields are ignored.
///
/// # Errors
/// The first invalid line, or line 1 without any question.
pub fn questions(text: &str) -> Result<Vec<Question>, InvalidQuestion> {
    let mut ids = HashSet::new();
    parse_lines(text, |line, fields| {
        let base = match number(fields, "page_base")? {
            None => 1,
            Some(base @ (0 | 1)) => base,
            Some(_) => return Err("\"page_base\" must be 0 or 1".to_owned()),
        };
        let id = optional_text(fields, "id")?.unwrap_or_else(|| line.to_string());
        if !ids.insert(id.clone()) {
            return Err(format!("the ID {id:?} is not unique"));
        }
        Ok(Question {
            line,
            id,
            text: required_text(fields, "question")?,
            file: required_text(fields, "file")?,
            pages: pages(fields, base)?,
            evidence: evidence(fields)?,
        })
    })
}

/// Checks that each question refers to one of these files.
///
/// # Errors
/// The first question that does not.
pub fn ensure_files_exist(questions: &[Question], files: &[String]) -> Result<(), InvalidQuestion> {
    match questions.iter().find(|question| !files.contains(&question.file)) {
        None => Ok(()),
        Some(Question { line, file, .. }) => {
            Err(InvalidQuestion { line: *line, reason: format!("there is no file {file:?} among the PDFs") })
        }
    }
}

/// Links each question to its document. Questions about other files are omitted.
pub fn link_sources(questions: Vec<Question>, sources: &[Source]) -> Vec<LinkedQuestion> {
    let link = |question: Question| {
        let source = sources.iter().find(|source| source.file == question.file)?.clone();
        Some(LinkedQuestion { question, source })
    };
    questions.into_iter().filter_map(link).collect()
}

/// Parses questions that no document answers, which have only a text.
///
/// # Errors
/// Those of [`questions`].
pub fn unanswerable_questions(text: &str) -> Result<Vec<String>, InvalidQuestion> {
    parse_lines(text, |_, fields| required_text(fields, "question"))
}

fn parse_lines<T>(
    text: &str,
    mut read: impl FnMut(usize, &Map<String, Value>) -> Result<T, String>,
) -> Result<Vec<T>, InvalidQuestion> {
    let mut all = Vec::new();
    // Some editors write a byte order mark.
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if content.trim().is_empty() {
            continue;
        }
        let read = match serde_json::from_str(content) {
            Ok(Value::Object(fields)) => read(line, &fields),
            Ok(_) => Err("is not a JSON object".to_owned()),
            Err(error) => Err(format!("is not valid JSON (column {})", error.column())),
        };
        all.push(read.map_err(|reason| InvalidQuestion { line, reason })?);
    }
    if all.is_empty() {
        return Err(InvalidQuestion { line: 1, reason: "there is no question".to_owned() });
    }
    Ok(all)
}

fn optional_text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Some(_) => Err(format!("\"{name}\" must be a non-empty string")),
    }
}

fn required_text(fields: &Map<String, Value>, name: &str) -> Result<String, String> {
    optional_text(fields, name)?.ok_or_else(|| format!("\"{name}\" is missing"))
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<u32>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
            number.map(Some).ok_or_else(|| format!("\"{name}\" must be an integer"))
        }
    }
}

fn pages(fields: &Map<String, Value>, base: u32) -> Result<BTreeSet<u32>, String> {
    let error = || format!("\"gold_pages\" must be a non-empty list of page numbers, starting at {base}");
    let Some(listed) = fields.get("gold_pages").and_then(Value::as_array) else { return Err(error()) };
    let page = |value: &Value| {
        let number = u32::try_from(value.as_u64()?).ok()?;
        number.checked_sub(base)?.checked_add(1)
    };
    let pages: Option<BTreeSet<u32>> = listed.iter().map(page).collect();
    pages.filter(|pages| !pages.is_empty()).ok_or_else(error)
}

/// A string, or a list of strings.
fn evidence(fields: &Map<String, Value>) -> Result<String, String> {
    let error = || "\"evidence\" must be a string or a list of strings".to_owned();
    match fields.get("evidence") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(texts)) => {
            let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            Ok(texts.ok_or_else(error)?.join("\n"))
        }
        Some(_) => Err(error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::text::Title;
    use docent_testkit::retrieval::document_id;

    #[test]
    fn question_with_page_base_zero_gets_pages_counted_from_one() {
        let text = concat!(
            "\u{feff}{\"id\": \"a\", \"question\": \" q? \", \"file\": \"f.pdf\", \"page_base\": 0, ",
            "\"gold_pages\": [4, 2, 4], \"evidence\": [\"x\", \"y\"], \"answer\": 7}\n\n",
            "{\"question\": \"r?\", \"file\": \"g.pdf\", \"gold_pages\": [1], \"evidence\": \"z\"}\r\n",
        );
        let read = questions(text).unwrap();
        let first = Question {
            line: 1,
            id: "a".to_owned(),
            text: "q?".to_owned(),
            file: "f.pdf".to_owned(),
            pages: [3, 5].into(),
            evidence: "x\ny".to_owned(),
        };
        assert_eq!(read[0], first);
        assert_eq!((read[1].line, read[1].id.as_str(), read[1].pages.first()), (3, "3", Some(&1)));
    }

    #[test]
    fn invalid_question_is_reported_with_its_line() {
        let good = r#"{"question": "q", "file": "f", "gold_pages": [1], "id": "x"}"#;
        for (line, message) in [
            ("[1]", "line 2: is not a JSON object"),
            ("{\"question\": ", "line 2: is not valid JSON (column 13)"),
            (r#"{"file": "f", "gold_pages": [1]}"#, "line 2: \"question\" is missing"),
            (r#"{"question": " ", "file": "f"}"#, "line 2: \"question\" must be a non-empty string"),
            (r#"{"question": "q", "gold_pages": [1]}"#, "line 2: \"file\" is missing"),
            (
                r#"{"question": "q", "file": "f"}"#,
                "line 2: \"gold_pages\" must be a non-empty list of page numbers, starting at 1",
            ),
            (
                r#"{"question": "q", "file": "f", "gold_pages": [0]}"#,
                "line 2: \"gold_pages\" must be a non-empty list of page numbers, starting at 1",
            ),
            (
                r#"{"question": "q", "file": "f", "page_base": 0, "gold_pages": []}"#,
                "line 2: \"gold_pages\" must be a non-empty list of page numbers, starting at 0",
            ),
            (
                r#"{"question": "q", "file": "f", "page_base": 2, "gold_pages": [5]}"#,
                "line 2: \"page_base\" must be 0 or 1",
            ),
            (
                r#"{"question": "q", "file": "f", "gold_pages": [1], "evidence": [1]}"#,
                "line 2: \"evidence\" must be a string or a list of strings",
            ),
            (good, "line 2: the ID \"x\" is not unique"),
        ] {
            let error = questions(&format!("{good}\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        assert_eq!(questions("\n \n").unwrap_err().to_string(), "line 1: there is no question");
    }

    #[test]
    fn questions_are_linked_to_their_documents() {
        let question =
            |file: &str| format!("{{\"question\": \"q\", \"file\": \"{file}\", \"gold_pages\": [1]}}\n");
        let source = Source {
            file: "a.pdf".to_owned(),
            document: document_id(1),
            title: Title::parse("doc-01.pdf").unwrap(),
        };
        let read = questions(&(question("b.pdf") + &question("a.pdf"))).unwrap();
        let found = link_sources(read.clone(), std::slice::from_ref(&source));
        assert_eq!(found, [LinkedQuestion { question: read[1].clone(), source }]);
        let files = ["a.pdf", "b.pdf"].map(str::to_owned);
        assert_eq!(ensure_files_exist(&read, &files), Ok(()));
        let error = ensure_files_exist(&read, &files[..1]).unwrap_err();
        assert_eq!(error.to_string(), "line 1: there is no file \"b.pdf\" among the PDFs");
    }

    #[test]
    fn unanswerable_questions_need_only_a_text() {
        assert_eq!(unanswerable_questions("{\"question\": \"q\"}").unwrap(), ["q"]);
        assert_eq!(unanswerable_questions("{}").unwrap_err().to_string(), "line 1: \"question\" is missing");
    }
}
