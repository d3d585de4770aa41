//! The context length of a model, as its server says it.

use super::models;
use crate::openai::backend::Endpoint;
use serde_json::Value;
use std::time::Duration;

/// Longest wait for each resource that says it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Fields of a model with its context length. That of the loaded model counts before the largest one.
const FIELDS: [&str; 7] = [
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "max_context_length",
    "context_window",
    "max_input_tokens",
    "max_input_length",
];

/// The context length of the model: by the list of models (vLLM, OpenRouter, Mistral, Groq), or by the
/// resources of llama.cpp, Ollama, LM Studio and text-generation-inference beside the API. What Ollama says
/// about a model that is not loaded is not asked for: it is the longest context of the model and not that of
/// the server.
pub(super) async fn length(list: &Endpoint, model: &str, limit: Duration) -> Option<u64> {
    let limit = limit.min(TIMEOUT);
    let listed = models::read(list, limit).await.ok();
    if let Some(length) = listed.and_then(|json| of_model(&json, model)) {
        return Some(length);
    }
    for (path, find) in [
        (&["props"][..], of_server as fn(&Value, &str) -> Option<u64>),
        (&["api", "ps"], of_model),
        (&["api", "v0", "models"], of_model),
        (&["info"], of_server),
    ] {
        let resource = list.beside_api(&models::PATH, path)?;
        let found = models::read(&resource, limit).await.ok().and_then(|json| find(&json, model));
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Of the model among those of a list.
fn of_model(json: &Value, model: &str) -> Option<u64> {
    let models = json.get("data").or_else(|| json.get("models")).unwrap_or(json).as_array()?;
    let is_it = |entry: &&Value| {
        let names = ["id", "name", "model"].into_iter().filter_map(|field| entry.get(field)?.as_str());
        // Ollama adds the tag to a name without one.
        names.into_iter().any(|name| name == model || name.strip_suffix(":latest") == Some(model))
    };
    let entry = models.iter().find(is_it)?;
    let within = |name: &str| entry.get(name).and_then(number_of);
    number_of(entry).or_else(|| within("top_provider")).or_else(|| within("meta"))
}

fn number_of(entry: &Value) -> Option<u64> {
    let number = |field: &str| entry.get(field)?.as_u64().filter(|length| *length > 0);
    FIELDS.into_iter().chain(["n_ctx"]).find_map(number)
}

/// Of a server with one model. llama.cpp has the context of a slot in its default settings.
fn of_server(json: &Value, _model: &str) -> Option<u64> {
    let settings = json.get("default_generation_settings");
    settings
        .and_then(number_of)
        .or_else(|| json.get("max_total_tokens")?.as_u64())
        .or_else(|| number_of(json))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn length_is_found_in_every_known_form() {
        for (json, length) in [
            (json!({"data": [{"id": "a", "max_model_len": 1}, {"id": "m", "max_model_len": 4096}]}), 4096),
            (json!({"data": [{"id": "m", "context_length": 8192, "top_provider": {}}]}), 8192),
            (json!({"data": [{"id": "m", "top_provider": {"context_length": 8192}}]}), 8192),
            (
                json!({"data": [{"id": "m", "max_context_length": 131_072, "loaded_context_length": 4096}]}),
                4096,
            ),
            (json!({"models": [{"name": "m:latest", "model": "m:latest", "context_length": 4096}]}), 4096),
        ] {
            assert_eq!(of_model(&json, "m"), Some(length), "{json}");
            assert_eq!(of_model(&json, "b"), None, "{json}");
        }
        for (json, length) in [
            (json!({"default_generation_settings": {"n_ctx": 2048, "params": {}}, "total_slots": 2}), 2048),
            (json!({"model_id": "m", "max_input_tokens": 3000, "max_total_tokens": 4000}), 4000),
        ] {
            assert_eq!(of_server(&json, "m"), Some(length), "{json}");
        }
        for other in [json!({}), json!([]), json!("m"), json!({"data": [{"id": "m", "context_length": 0}]})] {
            assert_eq!((of_model(&other, "m"), of_server(&other, "m")), (None, None), "{other}");
        }
    }
}
