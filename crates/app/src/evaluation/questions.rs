//! Parses evaluation questions: one JSON object per line.

use super::Source;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashSet};
use thiserror::Error;

/// A question with the files that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its line number, counted from 1.
    pub line: usize,
    /// Its ID in reports.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// The files that answer it; at least one.
    pub files: Vec<String>,
    /// The pages of the file that answer it, counted from 1. Empty if they are unknown.
    pub pages: BTreeSet<u32>,
    /// The text of the files that answers it; may be empty.
    pub evidence: String,
}

/// A question that no document answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnanswerableQuestion {
    /// Its line number, counted from 1.
    pub line: usize,
    /// Its ID in reports.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// The file that it seems to be about, if any.
    pub file: Option<String>,
}

/// The questions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionSet {
    /// Those that documents answer.
    pub answerable: Vec<Question>,
    /// Those that no document answers.
    pub unanswerable: Vec<UnanswerableQuestion>,
}

/// A question with the documents that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedQuestion {
    /// The question.
    pub question: Question,
    /// The documents, in the order of the question's files.
    pub sources: Vec<Source>,
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

/// One line of a file.
enum Line {
    Answerable(Question),
    Unanswerable(UnanswerableQuestion),
}

/// Parses questions. Empty lines and unknown fields are ignored.
///
/// # Errors
/// The first invalid line, or line 1 without any question.
pub fn questions(text: &str) -> Result<QuestionSet, InvalidQuestion> {
    let mut set = QuestionSet::default();
    for line in parse_lines(text, line)? {
        match line {
            Line::Answerable(question) => set.answerable.push(question),
            Line::Unanswerable(question) => set.unanswerable.push(question),
        }
    }
    Ok(set)
}

/// Parses questions that no document answers, which need only a text.
///
/// # Errors
/// Those of [`questions`].
pub fn unanswerable_questions(text: &str) -> Result<Vec<UnanswerableQuestion>, InvalidQuestion> {
    parse_lines(text, unanswerable)
}

/// Checks that each question refers to some of these files.
///
/// # Errors
/// The first question that does not.
pub fn ensure_files_exist(set: &QuestionSet, files: &[String]) -> Result<(), InvalidQuestion> {
    let answerable =
        set.answerable.iter().flat_map(|question| question.files.iter().map(|file| (question.line, file)));
    let unanswerable =
        set.unanswerable.iter().filter_map(|question| Some((question.line, question.file.as_ref()?)));
    match answerable.chain(unanswerable).find(|(_, file)| !files.contains(file)) {
        None => Ok(()),
        Some((line, file)) => {
            Err(InvalidQuestion { line, reason: format!("there is no file {file:?} among the PDFs") })
        }
    }
}

/// Links each question to its documents. Questions about other files are omitted.
pub fn link_sources(questions: Vec<Question>, sources: &[Source]) -> Vec<LinkedQuestion> {
    let find = |file: &String| sources.iter().find(|source| source.file == *file).cloned();
    let link = |question: Question| {
        let sources = question.files.iter().map(find).collect::<Option<_>>()?;
        Some(LinkedQuestion { question, sources })
    };
    questions.into_iter().filter_map(link).collect()
}

fn line(number: usize, id: String, fields: &Map<String, Value>) -> Result<Line, String> {
    match fields.get("unanswerable") {
        Some(Value::Bool(true)) => unanswerable(number, id, fields).map(Line::Unanswerable),
        None | Some(Value::Null | Value::Bool(false)) => answerable(number, id, fields).map(Line::Answerable),
        Some(_) => Err("\"unanswerable\" must be true or false".to_owned()),
    }
}

fn answerable(line: usize, id: String, fields: &Map<String, Value>) -> Result<Question, String> {
    let base = match number(fields, "page_base")? {
        None => 1,
        Some(base @ (0 | 1)) => base,
        Some(_) => return Err("\"page_base\" must be 0 or 1".to_owned()),
    };
    let text = required_text(fields, "question")?;
    let files = match fields.get("files") {
        None | Some(Value::Null) => vec![required_text(fields, "file")?],
        Some(listed) => files(listed)?,
    };
    let pages = match (fields.get("gold_pages"), fields.contains_key("files"), files.len()) {
        (None | Some(Value::Null), true, _) => BTreeSet::new(),
        (_, true, 2..) => return Err("\"gold_pages\" needs a single file".to_owned()),
        _ => pages(fields, base)?,
    };
    Ok(Question { line, id, text, files, pages, evidence: evidence(fields)? })
}

fn unanswerable(
    line: usize,
    id: String,
    fields: &Map<String, Value>,
) -> Result<UnanswerableQuestion, String> {
    Ok(UnanswerableQuestion {
        line,
        id,
        text: required_text(fields, "question")?,
        file: optional_text(fields, "file")?,
    })
}

fn parse_lines<T>(
    text: &str,
    mut read: impl FnMut(usize, String, &Map<String, Value>) -> Result<T, String>,
) -> Result<Vec<T>, InvalidQuestion> {
    let (mut all, mut ids) = (Vec::new(), HashSet::new());
    // Some editors write a byte order mark.
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if content.trim().is_empty() {
            continue;
        }
        let read = match serde_json::from_str(content) {
            Ok(Value::Object(fields)) => optional_text(&fields, "id").and_then(|id| {
                let id = id.unwrap_or_else(|| line.to_string());
                if !ids.insert(id.clone()) {
                    return Err(format!("the ID {id:?} is not unique"));
                }
                read(line, id, &fields)
            }),
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

fn files(listed: &Value) -> Result<Vec<String>, String> {
    let names = listed.as_array().filter(|names| !names.is_empty());
    let name = |name: &Value| name.as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned);
    let names = names.and_then(|names| names.iter().map(name).collect());
    names.ok_or_else(|| "\"files\" must be a non-empty list of file names".to_owned())
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
        let read = questions(text).unwrap().answerable;
        let first = Question {
            line: 1,
            id: "a".to_owned(),
            text: "q?".to_owned(),
            files: vec!["f.pdf".to_owned()],
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
            (r#"{"question": "q", "files": []}"#, "line 2: \"files\" must be a non-empty list of file names"),
            (
                r#"{"question": "q", "files": ["f", "g"], "gold_pages": [1]}"#,
                "line 2: \"gold_pages\" needs a single file",
            ),
            (r#"{"question": "q", "unanswerable": "yes"}"#, "line 2: \"unanswerable\" must be true or false"),
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
        let found = link_sources(read.answerable.clone(), std::slice::from_ref(&source));
        assert_eq!(found, [LinkedQuestion { question: read.answerable[1].clone(), sources: vec![source] }]);
        let files = ["a.pdf", "b.pdf"].map(str::to_owned);
        assert_eq!(ensure_files_exist(&read, &files), Ok(()));
        let error = ensure_files_exist(&read, &files[..1]).unwrap_err();
        assert_eq!(error.to_string(), "line 1: there is no file \"b.pdf\" among the PDFs");
    }

    #[test]
    fn question_without_pages_may_have_several_files() {
        let read =
            questions(r#"{"question": "q", "files": ["a.pdf", "b.pdf"]}"#).unwrap().answerable.remove(0);
        assert_eq!(
            (read.files.as_slice(), read.pages.len()),
            (["a.pdf", "b.pdf"].map(str::to_owned).as_slice(), 0)
        );
        let source = |n, file: &str| Source {
            file: file.to_owned(),
            document: document_id(n),
            title: Title::parse(file).unwrap(),
        };
        let sources = [source(1, "b.pdf"), source(2, "a.pdf")];
        assert_eq!(link_sources(vec![read.clone()], &sources[..1]), [], "a file is left out");
        let linked = link_sources(vec![read], &sources).remove(0);
        assert_eq!(linked.sources, [sources[1].clone(), sources[0].clone()]);
    }

    #[test]
    fn unanswerable_questions_need_only_a_text() {
        let unanswerable = |line, file: Option<&str>| UnanswerableQuestion {
            line,
            id: line.to_string(),
            text: "q".to_owned(),
            file: file.map(str::to_owned),
        };
        let line = "{\"question\": \"q\"}";
        assert_eq!(unanswerable_questions(line).unwrap(), [unanswerable(1, None)]);
        let set = questions("\n{\"question\": \"q\", \"unanswerable\": true, \"file\": \"a\"}").unwrap();
        assert_eq!((set.answerable.len(), &set.unanswerable[..]), (0, &[unanswerable(2, Some("a"))][..]));
        assert!(ensure_files_exist(&set, &["b".to_owned()]).is_err());
        assert_eq!(unanswerable_questions("{}").unwrap_err().to_string(), "line 1: \"question\" is missing");
    }
}
