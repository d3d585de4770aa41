use super::*;
use crate::routes;
use docent_http::table;
use serde_json::Value;
use std::collections::BTreeSet;

/// Paths that are not part of the API: a page and its files.
const PAGES: [&str; 1] = ["/docs"];

fn document() -> Value {
    serde_json::from_str(&json().unwrap()).unwrap()
}

fn is_page(path: &str) -> bool {
    PAGES
        .iter()
        .any(|root| path == *root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/')))
}

/// Every operation with its path and method.
fn all(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| {
            let operations = item.as_object().unwrap().iter();
            operations.map(move |(method, operation)| (path.clone(), method.to_uppercase(), operation))
        })
        .collect()
}

// Invariant: Every API route is in the OpenAPI document, and every response matches it.
#[test]
fn documented_operations_equal_the_route_table() {
    let routed = routes::TABLE.iter().copied().filter(|(path, _)| !is_page(path));
    let routed: BTreeSet<_> = routed
        .flat_map(|(path, methods)| methods.iter().map(move |method| (path.to_owned(), (*method).to_owned())))
        .collect();
    let document = document();
    let documented: BTreeSet<_> =
        all(&document).into_iter().map(|(path, method, _)| (path, method)).collect();
    assert_eq!(documented, routed);
}

#[test]
fn every_operation_has_a_summary_a_unique_id_and_its_error_responses() {
    let document = document();
    let mut names = BTreeSet::new();
    for (path, method, operation) in all(&document) {
        let case = format!("{method} {path}");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{case}: a summary");
        assert!(
            names.insert(operation["operationId"].as_str().unwrap().to_owned()),
            "{case}: a unique operation ID"
        );
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.contains_key("500"), "{case}: 500");
        assert_eq!(responses.contains_key("429"), !table::is_watched(&path), "{case}: 429");
        for (status, response) in responses {
            let is_described =
                response.get("$ref").is_some() || !response["description"].as_str().unwrap().is_empty();
            assert!(is_described, "{case}: {status}");
            let tells_id = response.get("$ref").is_some() || response["headers"].get(REQUEST_ID).is_some();
            assert!(tells_id, "{case}: {status} has {REQUEST_ID}");
        }
        let is_open = operation["security"][0] == serde_json::json!({});
        // A login is refused if the account must have a second factor and has none.
        let is_refusable = !is_open || path == "/auth/token";
        assert_eq!(responses.contains_key("403"), is_refusable, "{case}: 403");
        // These formats use another status for validation errors.
        let invalid =
            if ["/v1/", "/mcp", "/oauth/"].iter().any(|root| path.starts_with(root)) { "400" } else { "422" };
        // Clients of OpenAI expect this status of a response that cannot be cancelled.
        let can_be_invalid = has_input(operation) || path == "/v1/responses/{response_id}/cancel";
        assert_eq!(responses.contains_key(invalid), can_be_invalid, "{case}: {invalid}");
    }
}

/// Whether an operation has input that can be invalid: a name in a path cannot.
fn has_input(operation: &Value) -> bool {
    let is_name = |parameter: &Value| {
        parameter["in"] == "path" && parameter["schema"] == serde_json::json!({ "type": "string" })
    };
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    operation.get("requestBody").is_some() || parameters.into_iter().any(|parameter| !is_name(parameter))
}

#[test]
fn every_reference_resolves() {
    fn walk<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|field| walk(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let document = document();
    let mut found = Vec::new();
    walk(&document, &mut found);
    assert!(found.len() > 50);
    for reference in found {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

// Invariant: Every API route is in the OpenAPI document, and every response matches it.
#[test]
fn committed_openapi_document_is_current() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/openapi.json");
    let written = std::fs::read_to_string(file).unwrap();
    assert!(written == json().unwrap(), "docs/reference/openapi.json is out of date: run `cargo xtask gen`");
}
