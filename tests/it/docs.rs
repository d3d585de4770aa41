//! The OpenAPI document and its page: `/openapi.json`, `/docs`.

use docent_testkit::fakes::chat_model::Turn;
use docent_tests::librechat::SECRET;
use docent_tests::member::{Member, form};
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

/// Follows a reference within the document.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => resolved(document, document.pointer(reference.trim_start_matches('#')).unwrap()),
        None => value,
    }
}

/// The example of a body. An optional body is a choice between null and its schema.
fn example<'a>(document: &'a Value, content: &'a Value) -> Option<&'a Value> {
    let schema = resolved(document, &content["schema"]);
    let choices =
        schema["oneOf"].as_array().into_iter().flatten().map(|one| &resolved(document, one)["example"]);
    [&content["example"], &schema["example"]].into_iter().chain(choices).find(|example| !example.is_null())
}

/// A request by a user who may make it: that of LibreChat below its paths, else the superuser.
fn request(by: &Member, method: &Method, path: &str) -> RequestBuilder {
    match path.strip_prefix("/librechat") {
        Some(path) => by.app().librechat("65f0c0ffee65f0c0ffee65f0").request(method.clone(), path),
        // MCP requires both types.
        None => by.request(method.clone(), path).header("Accept", "application/json, text/event-stream"),
    }
}

async fn send(by: &Member, method: &Method, path: &str, body: &Value) -> Reply {
    by.app().send(request(by, method, path).json(body)).await
}

/// Whether a request was refused because of its body. Elsewhere 400 has other reasons, such as a used link; and the model of
/// these tests makes no vectors.
fn is_invalid(path: &str, reply: &Reply) -> bool {
    let has_wire_format = path.starts_with("/v1/") || path == "/mcp";
    let is_refused = has_wire_format && reply.status == 400 && !reply.text.contains("unsupported_model");
    let codes = ["invalid_request", "invalid_client_metadata"];
    let is_oauth_error = path.starts_with("/oauth/")
        && reply.status == 400
        && codes.iter().any(|code| reply.json()["error"] == *code);
    let is_refused = is_refused || is_oauth_error;
    matches!(reply.status, 413 | 415 | 422) || is_refused
}

rules! {
    async fn openapi_json_equals_the_generated_document(setup) {
        let app = setup.start().await;
        let reply = app.get("/openapi.json").await.expect(200);
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.text, docent_server::openapi::json().unwrap());
        assert_eq!(reply.json()["openapi"], "3.1.0");
    }

    /// Each body is sent to an existing record, together with one of another type, which shows that the body is examined there.
    async fn examples_of_request_bodies_are_valid(setup) {
        let turns = ["By day.", "By night.", "Always."].map(Turn::saying);
        let app = setup.script(turns).librechat(SECRET).start().await;
        let root = app.superuser().await;
        let id = |reply: Reply| reply.expect(201).json()["id"].as_str().unwrap().to_owned();
        let document = root.add("a.pdf", pdf(&["zebras"])).await;
        let collection = id(root.post("/collections", json!({ "name": "Team" })).await);
        let conversation = id(root.post("/conversations", json!({})).await);
        let webhook = id(root.post("/webhooks", json!({ "url": "https://hooks.example.org/docent" })).await);
        let openapi: Value = serde_json::from_str(&docent_server::openapi::json().unwrap()).unwrap();
        let mut count = 0;
        for (path, item) in openapi["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                let Some(contents) = operation["requestBody"]["content"].as_object() else { continue };
                let method: Method = method.to_uppercase().parse().unwrap();
                let record = match path.split('/').nth(1).unwrap() {
                    "collections" => &collection,
                    "conversations" => &conversation,
                    "webhooks" => &webhook,
                    _ => &document,
                };
                let url = path.replace("{id}", record).replace("{doc_id}", record).replace("{message}", record);
                let url = url.replace("{name}", "chat").replace("{vector_store_id}", &collection);
                let url = url.replace("{file_id}", record).replace("{batch_id}", record);
                let case = format!("{method} {path}");
                for (content_type, content) in contents {
                    let example = example(&openapi, content).unwrap_or_else(|| panic!("{case} has no example"));
                    count += 1;
                    if content_type == "multipart/form-data" {
                        // The file of the examples is only the beginning of one.
                        let mut form = form("a.pdf", "application/pdf", pdf(&["zebras"]));
                        for (name, text) in example.as_object().unwrap().iter().filter(|(name, _)| *name != "file") {
                            form = form.text(name.clone(), text.as_str().unwrap().to_owned());
                        }
                        let request = request(&root, &method, &url).multipart(form);
                        let reply = app.while_jobs_run(app.send(request)).await;
                        let accepted = if path.starts_with("/v1/") || path.starts_with("/librechat/") { 200 } else { 202 };
                        assert_eq!(reply.status, accepted, "{case}: {}", reply.text);
                        continue;
                    }
                    if content_type == "application/x-www-form-urlencoded" {
                        let fields = example.as_object().unwrap().iter();
                        let fields: Vec<_> = fields.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
                        let refused = app.submit(path, &[]).await;
                        assert!(is_invalid(path, &refused), "{case} does not examine its form: {}", refused.text);
                        let reply = app.submit(path, &fields).await;
                        assert!(!is_invalid(path, &reply) && reply.status < 500, "{case}: {} {}", reply.status, reply.text);
                        continue;
                    }
                    let refused = send(&root, &method, &url, &json!("no object")).await;
                    assert!(is_invalid(path, &refused), "{case} does not examine its body: {}", refused.text);
                    let reply = send(&root, &method, &url, example).await;
                    assert!(!is_invalid(path, &reply) && reply.status < 500, "{case}: {} {}", reply.status, reply.text);
                }
            }
        }
        assert!(count > 20, "{count}");
        app.leave_jobs();
    }

    async fn docs_page_loads_only_own_scripts(setup) {
        let app = setup.start().await;
        let page = app.get("/docs").await.expect(200);
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        let addresses = |name: &str| -> Vec<String> {
            let begin = format!("{name}=\"");
            let parts = page.text.split(&begin).skip(1);
            parts.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        let scripts = addresses("src");
        assert_eq!(scripts.len(), page.text.matches("<script").count(), "the page has no inline script");
        for address in scripts.iter().chain(&addresses("href")).filter(|address| !address.starts_with("data:image/")) {
            assert!(address.starts_with('/') && !address.starts_with("//"), "{address}");
            let file = app.get(address).await.expect(200);
            assert!(!file.text.is_empty(), "{address}");
        }
    }

    async fn unknown_docs_file_returns_404(setup) {
        let app = setup.start().await;
        for name in ["index.html", "swagger-initializer.js", "nothing", "..%2FCargo.toml"] {
            app.get(&format!("/docs/{name}")).await.refused(404, "Not found");
        }
    }
}
