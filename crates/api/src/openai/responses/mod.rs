//! `/v1/responses…`: answers of agents in the format of the Responses API.

pub(crate) mod create;
pub(crate) mod events;
mod history;
pub(super) mod items;
pub(crate) mod object;
mod progress;
mod request;
pub(crate) mod stored;
mod tools;

use super::ids;
use docent_domain::id::ResponseId;
use request::Include;
use serde_json::Value;

/// ID of an item of a response: a prefix, the digits of the response's ID, and its position. References to items are resolved by it.
fn item_id(prefix: &str, response: &str, at: usize) -> String {
    let digits = response.strip_prefix("resp_").unwrap_or(response);
    format!("{prefix}_{digits}_{at}")
}

/// The response whose item has this ID.
fn response_of_item(id: &str) -> Option<ResponseId> {
    let (rest, _) = id.rsplit_once('_')?;
    ids::decode(rest.rsplit_once('_')?.1)
}

/// A response as a client receives it: without the results of searches, unless they are included.
fn shown(mut response: Value, include: Include) -> Value {
    if let Some(items) = response.get_mut("output").and_then(Value::as_array_mut) {
        for item in items {
            *item = shown_item(item.take(), include);
        }
    }
    response
}

/// An item as a client receives it.
fn shown_item(mut item: Value, include: Include) -> Value {
    if !include.results
        && let Some(results) = item.get_mut("results")
    {
        *results = Value::Null;
    }
    item
}
