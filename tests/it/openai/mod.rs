//! `/v1`: agents and embeddings in the OpenAI wire format.

mod chat;
mod chat_functions;
mod embeddings;
mod errors;
mod file_batches;
mod files;
mod models;
mod responses;
mod vector_stores;

use docent_ports::chat_model::ChatRequest;
use docent_tests::reply::Reply;
use serde_json::{Value, json};

/// Checks that this is an error in the OpenAI wire format; returns its message.
fn refused(reply: &Reply, status: u16, param: Option<&str>, code: Option<&str>) -> String {
    assert_eq!((reply.status, reply.header("content-type")), (status, "application/json"), "{}", reply.text);
    let body = reply.json();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    let error = body["error"].as_object().unwrap();
    assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "message", "param", "type"]);
    assert_eq!((&error["param"], &error["code"]), (&json!(param), &json!(code)), "{body}");
    assert!(error["type"].is_string());
    error["message"].as_str().unwrap().to_owned()
}

/// Returns the data of each event of a stream; the last one is not JSON.
fn chunks(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let events = reply.text.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap());
    events.map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))).collect()
}

/// Names of the tools and functions that the model can call. Back ends see both as tools.
fn offered_names(request: &ChatRequest) -> Vec<&str> {
    let functions = request.functions.iter().map(|function| function.name.as_str());
    request.tools.iter().map(|tool| tool.name).chain(functions).collect()
}
