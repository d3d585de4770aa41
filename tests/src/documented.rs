//! Whether answers are what the OpenAPI document says. Every answer that [`TestApp::send`](crate::app::TestApp::send)
//! reads is checked, so each rule of the contract is one about the document too.

use crate::reply::Reply;
use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// What one operation answers with one status.
struct Answer {
    method: String,
    /// The segments of its path.
    path: Vec<String>,
    status: u16,
    /// The types that its body may have, each with its form for JSON.
    bodies: Vec<(String, Option<Validator>)>,
    headers: Vec<String>,
}

/// Those headers that are there whenever they are documented.
const ALWAYS: [&str; 2] = ["X-Request-Id", "WWW-Authenticate"];

/// Checks an answer of an operation that is documented.
///
/// # Panics
/// When it is not as the document says.
pub(crate) fn check(method: &Method, path: &str, reply: &Reply) {
    static ANSWERS: OnceLock<Vec<Answer>> = OnceLock::new();
    let answers = ANSWERS.get_or_init(read);
    let path = segments(path);
    let of_path = answers.iter().filter(|answer| fits(&answer.path, &path));
    // Paths that look alike are tried from the most exact one.
    let Some(holes) = of_path.clone().map(Answer::holes).min() else { return };
    let is_asked = |answer: &&Answer| answer.holes() == holes && answer.method == method.as_str();
    let mut of_operation = of_path.filter(is_asked).peekable();
    if of_operation.peek().is_none() {
        return;
    }
    let case = format!("{method} /{} {}", path.join("/"), reply.status);
    let answer = of_operation.find(|answer| answer.status == reply.status);
    let answer = answer.unwrap_or_else(|| panic!("{case} is not in the document: {}", reply.text));
    answer.compare(&case, reply);
}

impl Answer {
    fn holes(&self) -> usize {
        self.path.iter().filter(|segment| segment.starts_with('{')).count()
    }

    fn compare(&self, case: &str, reply: &Reply) {
        let sent = reply.headers.get("content-type").map(|_| reply.header("content-type").to_owned());
        let known = self.bodies.iter().find(|(kind, _)| Some(kind) == sent.as_ref());
        let is_known = known.is_some() || sent.is_none() && self.bodies.is_empty();
        assert!(is_known, "{case} is {sent:?}: {}", reply.text);
        for name in self.headers.iter().filter(|name| ALWAYS.contains(&name.as_str())) {
            assert!(!reply.header(name).is_empty(), "{case} has {name}");
        }
        let Some((_, Some(validator))) = known else { return };
        let wrong: Vec<_> = validator.iter_errors(&reply.json()).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{case} is {} but {wrong:?}", reply.text);
    }
}

fn segments(path: &str) -> Vec<String> {
    path.trim_matches('/').split('/').map(str::to_owned).collect()
}

fn fits(known: &[String], asked: &[String]) -> bool {
    let same = |(known, asked): (&String, &String)| known.starts_with('{') || known == asked;
    known.len() == asked.len() && known.iter().zip(asked).all(same)
}

/// Reads the document that the program makes.
fn read() -> Vec<Answer> {
    let document: Value = serde_json::from_str(&docent_server::openapi::json().unwrap()).unwrap();
    let mut answers = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let response = resolve(&document, response);
                let bodies = response["content"].as_object().into_iter().flatten().map(|(kind, content)| {
                    let is_json = kind == "application/json";
                    (kind.clone(), is_json.then(|| validator(&document, &content["schema"])))
                });
                answers.push(Answer {
                    method: method.to_uppercase(),
                    path: segments(path),
                    status: status.parse().unwrap(),
                    bodies: bodies.collect(),
                    headers: response["headers"].as_object().unwrap().keys().cloned().collect(),
                });
            }
        }
    }
    answers
}

fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

/// Fields that no schema names are taken for mistakes: bodies have those of the contract and no others.
fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schema = json!({ "allOf": [schema], "components": document["components"] });
    close(&mut schema["components"]["schemas"]);
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            if fields.get("type") == Some(&json!("object")) && fields.contains_key("properties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    fn is_as_documented(method: Method, path: &'static str, status: u16, body: &'static str) -> bool {
        let mut reply = Reply { status, headers: Default::default(), text: body.to_owned() };
        reply.headers.insert("content-type", "application/json".parse().unwrap());
        reply.headers.insert("x-request-id", "1".parse().unwrap());
        catch_unwind(|| check(&method, path, &reply)).is_ok()
    }

    #[test]
    fn an_answer_that_is_not_as_documented_is_told_from_one_that_is() {
        let get = |status, body| is_as_documented(Method::GET, "/documents/1", status, body);
        let id = r#""id":"01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e","title":"T","#;
        let body = |rest: &str| -> &'static str { format!("{{{id}{rest}}}").leak() };
        assert!(get(200, body(r#""status":"pending","vector_doc_id":null"#)));
        assert!(get(404, r#"{"detail":"x"}"#));
        assert!(get(422, r#"{"detail":"x","errors":[{"loc":["path","doc_id"],"msg":"x"}]}"#));
        assert!(!get(200, body(r#""status":"done","vector_doc_id":null"#)), "no such status of a document");
        assert!(!get(200, body(r#""status":"pending""#)), "a field that is missing");
        assert!(!get(200, body(r#""status":"pending","vector_doc_id":null,"more":1"#)), "a field too many");
        assert!(!get(200, r#"{"id":"1","title":"T","status":"pending","vector_doc_id":null}"#), "no UUID");
        assert!(!get(418, r#"{"detail":"x"}"#), "a status that is not documented");
        assert!(!get(401, r#"{"detail":"x"}"#), "a header that is missing");
        assert!(!get(422, r#"{"detail":"x","errors":[]}"#), "nothing that is wrong");
        assert!(is_as_documented(Method::GET, "/nothing", 404, "{}"), "no operation of the API");
        assert!(
            is_as_documented(Method::GET, "/documents/upload", 405, "{}"),
            "nor this, which is no document"
        );
    }
}
