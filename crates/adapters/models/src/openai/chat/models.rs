//! The list of models: `GET {base_url}/models`.

use crate::openai::backend::{Endpoint, read_body};
use crate::openai::fault::{CallError, parse_failure};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use serde_json::Value;
use std::iter;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of the response in bytes.
const MAX_BODY: usize = 4 * 1024 * 1024;

/// The path of the list below the base URL.
pub(super) const PATH: [&str; 1] = ["models"];

/// Reads the names of the models.
pub(super) async fn list(endpoint: &Endpoint, limit: Duration) -> Result<Vec<String>> {
    let json = read(endpoint, limit).await?;
    names(&json).ok_or_else(|| invalid("the response is not a list of models".to_owned()))
}

/// Reads a resource in JSON.
pub(super) async fn read(endpoint: &Endpoint, limit: Duration) -> Result<Value> {
    let response = endpoint.get(limit).await.map_err(|error| match error {
        CallError::Backend(error) => error.into_fault(Component::ChatModel, endpoint.key(), iter::empty()),
        CallError::Fault(fault) => fault,
    })?;
    let body = timeout(limit, read_body(Component::ChatModel, response, MAX_BODY)).await;
    let late =
        |_| Fault::new(Component::ChatModel, FaultKind::Timeout, "no list of models within the timeout");
    let json = serde_json::from_slice::<Value>(&body.map_err(late)??);
    json.map_err(|error| invalid(parse_failure(&error)))
}

fn invalid(message: String) -> Fault {
    Fault::new(Component::ChatModel, FaultKind::InvalidResponse, message)
}

/// The names in `data` or, of some servers, in `models` or in a bare list.
fn names(json: &Value) -> Option<Vec<String>> {
    let models = json.get("data").or_else(|| json.get("models")).unwrap_or(json).as_array()?;
    let name = |model: &Value| {
        let name = model.as_str().or_else(|| model.get("id").or_else(|| model.get("name"))?.as_str());
        name.map(str::to_owned)
    };
    Some(models.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_found_in_every_known_form() {
        for list in [
            json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]}),
            json!({"models": [{"name": "a"}, {"name": "b"}]}),
            json!([{"id": "a"}, "b", 3, {}]),
        ] {
            assert_eq!(names(&list).unwrap(), ["a", "b"], "{list}");
        }
        assert_eq!(names(&json!({"data": []})).unwrap(), [""; 0]);
        for other in [json!({}), json!({"data": {}}), json!("a"), json!(null)] {
            assert_eq!(names(&other), None, "{other}");
        }
    }
}
