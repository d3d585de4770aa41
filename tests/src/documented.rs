//! Checks responses against the OpenAPI document. [`TestApp::send`](crate::app::TestApp::send) checks every response,
//! so each test of a rule is a test of the document too.

use crate::reply::Reply;
use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A documented response: one status of one operation.
struct Documented {
    method: String,
    /// Path segments.
    path: Vec<String>,
    status: u16,
    /// Content types of the body, with a validator for JSON.
    bodies: Vec<(String, Option<Validator>)>,
    headers: Vec<String>,
}

/// Headers that must be present when documented.
const REQUIRED_HEADERS: [&str; 2] = ["X-Request-Id", "WWW-Authenticate"];

/// Checks a response; responses of undocumented operations pass.
///
/// # Panics
/// When the response differs from the document.
pub(crate) fn check(method: &Method, path: &str, reply: &Reply) {
    static DOCUMENTED: OnceLock<Vec<Documented>> = OnceLock::new();
    let documented = DOCUMENTED.get_or_init(read);
    let path = segments(path);
    let of_path = documented.iter().filter(|response| matches_path(&response.path, &path));
    // Of several matching paths, the one with the fewest parameters is meant.
    let Some(parameters) = of_path.clone().map(Documented::parameters).min() else { return };
    let is_same_operation =
        |response: &&Documented| response.parameters() == parameters && response.method == method.as_str();
    let mut of_operation = of_path.filter(is_same_operation).peekable();
    if of_operation.peek().is_none() {
        return;
    }
    let case = format!("{method} /{} {}", path.join("/"), reply.status);
    let response = of_operation.find(|response| response.status == reply.status);
    let response = response.unwrap_or_else(|| panic!("{case} is not in the document: {}", reply.text));
    response.compare(&case, reply);
}

impl Documented {
    fn parameters(&self) -> usize {
        self.path.iter().filter(|segment| segment.starts_with('{')).count()
    }

    fn compare(&self, case: &str, reply: &Reply) {
        let sent = reply.headers.get("content-type").map(|_| reply.header("content-type").to_owned());
        let known = self.bodies.iter().find(|(kind, _)| Some(kind) == sent.as_ref());
        let is_known = known.is_some() || sent.is_none() && self.bodies.is_empty();
        assert!(is_known, "{case} is {sent:?}: {}", reply.text);
        for name in self.headers.iter().filter(|name| REQUIRED_HEADERS.contains(&name.as_str())) {
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

fn matches_path(known: &[String], requested: &[String]) -> bool {
    let same = |(known, requested): (&String, &String)| known.starts_with('{') || known == requested;
    known.len() == requested.len() && known.iter().zip(requested).all(same)
}

/// Reads the responses in the generated document.
fn read() -> Vec<Documented> {
    let document: Value = serde_json::from_str(&docent_server::openapi::json().unwrap()).unwrap();
    let mut documented = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let response = resolve(&document, response);
                let bodies = response["content"].as_object().into_iter().flatten().map(|(kind, content)| {
                    let is_json = kind == "application/json";
                    (kind.clone(), is_json.then(|| validator(&document, &content["schema"])))
                });
                documented.push(Documented {
                    method: method.to_uppercase(),
                    path: segments(path),
                    status: status.parse().unwrap(),
                    bodies: bodies.collect(),
                    headers: response["headers"].as_object().unwrap().keys().cloned().collect(),
                });
            }
        }
    }
    documented
}

fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

/// Builds a validator that refuses fields that the schema does not name.
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

    // Invariant: Every API route is in the OpenAPI document, and every response matches it.
    #[test]
    fn undocumented_response_is_refused() {
        let get = |status, body| is_as_documented(Method::GET, "/documents/1", status, body);
        let id = r#""id":"01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e","title":"T","#;
        let body = |rest: &str| -> &'static str { format!("{{{id}{rest}}}").leak() };
        assert!(get(200, body(r#""status":"pending","vector_doc_id":null"#)));
        assert!(get(404, r#"{"detail":"x"}"#));
        assert!(get(422, r#"{"detail":"x","errors":[{"loc":["path","doc_id"],"msg":"x"}]}"#));
        assert!(!get(200, body(r#""status":"done","vector_doc_id":null"#)), "an unknown document status");
        assert!(!get(200, body(r#""status":"pending""#)), "a missing field");
        assert!(
            !get(200, body(r#""status":"pending","vector_doc_id":null,"more":1"#)),
            "an additional field"
        );
        assert!(
            !get(200, r#"{"id":"1","title":"T","status":"pending","vector_doc_id":null}"#),
            "an ID that is not a UUID"
        );
        assert!(!get(418, r#"{"detail":"x"}"#), "an undocumented status");
        assert!(!get(401, r#"{"detail":"x"}"#), "a missing header");
        assert!(!get(422, r#"{"detail":"x","errors":[]}"#), "an empty list of errors");
        assert!(is_as_documented(Method::GET, "/nothing", 404, "{}"), "not an operation of the API");
        assert!(
            is_as_documented(Method::GET, "/documents/upload", 405, "{}"),
            "not an operation either, and not a document"
        );
    }
}
