//! Questions to measure with: one JSON object a line.

use super::Source;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use thiserror::Error;

/// A question whose answer stands on certain pages of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The line that it is from, counted from 1.
    pub line: usize,
    /// What it is called in reports.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// The file that answers it.
    pub file: String,
    /// The pages that answer it, counted from 1; at least one.
    pub pages: BTreeSet<u32>,
    /// The words of the file that answer it; may be empty.
    pub evidence: String,
}

/// A question with the document that answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posed {
    /// The question.
    pub question: Question,
    /// The document.
    pub source: Source,
}

/// A line that is no question.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {wrong}")]
pub struct Malformed {
    /// Which one, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub wrong: String,
}

/// Reads questions. Empty lines are left out, and so are fields without a meaning here.
///
/// # Errors
/// The first line that is wrong; line 1 when there is no question at all.
pub fn questions(text: &str) -> Result<Vec<Question>, Malformed> {
    let mut ids = HashSet::new();
    each(text, |line, fields| {
        let base = match number(fields, "page_base")? {
            None => 1,
            Some(base @ (0 | 1)) => base,
            Some(_) => return Err("\"page_base\" must be 0 or 1".to_owned()),
        };
        let id = optional_text(fields, "id")?.unwrap_or_else(|| line.to_string());
        if !ids.insert(id.clone()) {
            return Err(format!("the id {id:?} is there twice"));
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

/// Checks that each question is about one of these files.
///
/// # Errors
/// The first question that is not.
pub fn check_files(questions: &[Question], files: &[String]) -> Result<(), Malformed> {
    match questions.iter().find(|question| !files.contains(&question.file)) {
        None => Ok(()),
        Some(Question { line, file, .. }) => {
            Err(Malformed { line: *line, wrong: format!("there is no file {file:?} among the PDFs") })
        }
    }
}

/// Finds the document of each question; questions about other files are left out.
pub fn posed(questions: Vec<Question>, sources: &[Source]) -> Vec<Posed> {
    let pose = |question: Question| {
        let source = sources.iter().find(|source| source.file == question.file)?.clone();
        Some(Posed { question, source })
    };
    questions.into_iter().filter_map(pose).collect()
}

/// Reads questions of which nothing but the words is known.
///
/// # Errors
/// As [`questions`].
pub fn bare_questions(text: &str) -> Result<Vec<String>, Malformed> {
    each(text, |_, fields| required_text(fields, "question"))
}

fn each<T>(
    text: &str,
    mut read: impl FnMut(usize, &Map<String, Value>) -> Result<T, String>,
) -> Result<Vec<T>, Malformed> {
    let mut all = Vec::new();
    // A byte order mark, which some editors write, is no part of the first line.
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if content.trim().is_empty() {
            continue;
        }
        let read = match serde_json::from_str(content) {
            Ok(Value::Object(fields)) => read(line, &fields),
            Ok(_) => Err("is no JSON object".to_owned()),
            Err(error) => Err(format!("is no JSON: column {}", error.column())),
        };
        all.push(read.map_err(|wrong| Malformed { line, wrong })?);
    }
    if all.is_empty() {
        return Err(Malformed { line: 1, wrong: "there is no question".to_owned() });
    }
    Ok(all)
}

fn optional_text(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Some(_) => Err(format!("\"{name}\" must be a string that is not empty")),
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
            number.map(Some).ok_or_else(|| format!("\"{name}\" must be a whole number"))
        }
    }
}

fn pages(fields: &Map<String, Value>, base: u32) -> Result<BTreeSet<u32>, String> {
    let wrong = || format!("\"gold_pages\" must be a list of page numbers, at least one, from {base} on");
    let Some(listed) = fields.get("gold_pages").and_then(Value::as_array) else { return Err(wrong()) };
    let page = |value: &Value| {
        let number = u32::try_from(value.as_u64()?).ok()?;
        number.checked_sub(base)?.checked_add(1)
    };
    let pages: Option<BTreeSet<u32>> = listed.iter().map(page).collect();
    pages.filter(|pages| !pages.is_empty()).ok_or_else(wrong)
}

/// A string, or a list of strings.
fn evidence(fields: &Map<String, Value>) -> Result<String, String> {
    let wrong = || "\"evidence\" must be a string or a list of strings".to_owned();
    match fields.get("evidence") {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(texts)) => {
            let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            Ok(texts.ok_or_else(wrong)?.join("\n"))
        }
        Some(_) => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::text::Title;
    use docent_testkit::retrieval::document_id;

    #[test]
    fn a_question_is_read_with_pages_counted_from_one() {
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
    fn what_is_wrong_is_told_with_its_line() {
        let good = r#"{"question": "q", "file": "f", "gold_pages": [1], "id": "x"}"#;
        for (line, told) in [
            ("[1]", "line 2: is no JSON object"),
            ("{\"question\": ", "line 2: is no JSON: column 13"),
            (r#"{"file": "f", "gold_pages": [1]}"#, "line 2: \"question\" is missing"),
            (r#"{"question": " ", "file": "f"}"#, "line 2: \"question\" must be a string that is not empty"),
            (r#"{"question": "q", "gold_pages": [1]}"#, "line 2: \"file\" is missing"),
            (
                r#"{"question": "q", "file": "f"}"#,
                "line 2: \"gold_pages\" must be a list of page numbers, at least one, from 1 on",
            ),
            (
                r#"{"question": "q", "file": "f", "gold_pages": [0]}"#,
                "line 2: \"gold_pages\" must be a list of page numbers, at least one, from 1 on",
            ),
            (
                r#"{"question": "q", "file": "f", "page_base": 0, "gold_pages": []}"#,
                "line 2: \"gold_pages\" must be a list of page numbers, at least one, from 0 on",
            ),
            (
                r#"{"question": "q", "file": "f", "page_base": 2, "gold_pages": [5]}"#,
                "line 2: \"page_base\" must be 0 or 1",
            ),
            (
                r#"{"question": "q", "file": "f", "gold_pages": [1], "evidence": [1]}"#,
                "line 2: \"evidence\" must be a string or a list of strings",
            ),
            (good, "line 2: the id \"x\" is there twice"),
        ] {
            let error = questions(&format!("{good}\n{line}\n")).unwrap_err();
            assert_eq!(error.to_string(), told);
        }
        assert_eq!(questions("\n \n").unwrap_err().to_string(), "line 1: there is no question");
    }

    #[test]
    fn questions_find_their_documents() {
        let question =
            |file: &str| format!("{{\"question\": \"q\", \"file\": \"{file}\", \"gold_pages\": [1]}}\n");
        let source = Source {
            file: "a.pdf".to_owned(),
            document: document_id(1),
            title: Title::parse("doc-01.pdf").unwrap(),
        };
        let read = questions(&(question("b.pdf") + &question("a.pdf"))).unwrap();
        let found = posed(read.clone(), std::slice::from_ref(&source));
        assert_eq!(found, [Posed { question: read[1].clone(), source }]);
        let files = ["a.pdf", "b.pdf"].map(str::to_owned);
        assert_eq!(check_files(&read, &files), Ok(()));
        let error = check_files(&read, &files[..1]).unwrap_err();
        assert_eq!(error.to_string(), "line 1: there is no file \"b.pdf\" among the PDFs");
    }

    #[test]
    fn of_bare_questions_the_words_are_enough() {
        assert_eq!(bare_questions("{\"question\": \"q\"}").unwrap(), ["q"]);
        assert_eq!(bare_questions("{}").unwrap_err().to_string(), "line 1: \"question\" is missing");
    }
}
