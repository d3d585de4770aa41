//! The OpenAPI document, from the handlers and the types of bodies.

pub(crate) mod answers;
#[cfg(test)]
mod tests;
pub(crate) mod wire;

use crate::{
    api::{self, openai::errors::is_spoken},
    routes, streams,
};
use answers::{Always, Limited, REQUEST_ID};
use utoipa::{
    IntoResponses, Modify, OpenApi,
    openapi::{
        Components, OpenApi as Document, PathItem, RefOr,
        encoding::EncodingBuilder,
        path::Operation,
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

/// The API as a document of OpenAPI 3.1, in JSON with line breaks.
///
/// # Errors
/// When it has no form in JSON, which would be a fault of the document.
pub fn json() -> serde_json::Result<String> {
    Ok(Api::openapi().to_pretty_json()? + "\n")
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Docent", description = include_str!("description.md"), license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    tags(
        (name = "Documents", description = "Adding, reading and removing documents."),
        (name = "Chat", description = "Questions to agents, answered as streams."),
        (name = "Conversations", description = "What was said, kept for the account that said it."),
        (name = "Webhooks", description = "Addresses that are told what becomes of documents, as Standard Webhooks has it."),
        (name = "OpenAI wire", description = "The agents for clients of the OpenAI API. Errors have the shape that they have there."),
        (name = "MCP", description = "The documents for programs that speak the Model Context Protocol."),
        (name = "Search", description = "Passages that fit a question."),
        (name = "Accounts", description = "Logging in, staying in, logging out; links by mail."),
        (name = "Service", description = "What the service is, and how it is."),
    ),
    security(("access_token" = []), ("api_key" = []), ("api_key_header" = [])),
    modifiers(&Completion),
    paths(
        api::root::root,
        api::status::status,
        api::health::live::live,
        api::health::ready::ready,
        api::metrics::metrics,
        api::docs::document,
        api::auth::token::token,
        api::auth::refresh::refresh,
        api::auth::logout::logout,
        api::auth::verification::ask_for_reset,
        api::auth::verification::reset_password,
        api::auth::verification::ask_for_verification,
        api::auth::verification::verify_email,
        api::documents::list::list,
        api::documents::create::create,
        api::documents::upload::upload,
        api::documents::get::get,
        api::documents::delete::delete,
        api::documents::file::file,
        api::documents::page_image::page_image,
        api::documents::report::report,
        api::documents::retry::retry,
        api::search::search,
        api::agents::ask::ask,
        api::agents::resume::resume,
        api::agents::stop::stop,
        api::conversations::list::list,
        api::conversations::begin::begin,
        api::conversations::read::read,
        api::conversations::rename::rename,
        api::conversations::delete::delete,
        api::webhooks::list::list,
        api::webhooks::create::create,
        api::webhooks::get::get,
        api::webhooks::change::change,
        api::webhooks::delete::delete,
        api::webhooks::rotate::rotate,
        api::webhooks::ping::ping,
        api::webhooks::deliveries::deliveries,
        api::webhooks::replay::replay,
        api::openai::models::list,
        api::openai::models::get,
        api::openai::chat::complete,
        api::openai::embeddings::embed,
        api::mcp::call,
    ),
    components(schemas(api::openai::chunks::ChatCompletionChunk<'_>, streams::StreamEnd)),
)]
struct Api;

/// What belongs to every operation, and what the macros cannot say.
struct Completion;

impl Modify for Completion {
    fn modify(&self, document: &mut Document) {
        let components = document.components.get_or_insert_default();
        answers::add(components);
        wire::add(components);
        add_schemes(components);
        for (path, item) in &mut document.paths.paths {
            for operation in operations(item) {
                complete(operation, path);
                name_file_types(operation);
            }
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.patch, &mut item.delete].into_iter().flatten()
}

fn complete(operation: &mut Operation, path: &str) {
    let responses = &mut operation.responses.responses;
    if is_spoken(path) {
        responses.extend(wire::Always::responses());
    } else {
        responses.extend(Always::responses());
        if !routes::is_watched(path) {
            responses.extend(Limited::responses());
        }
    }
    for response in responses.values_mut() {
        if let RefOr::T(response) = response {
            response.headers.insert(REQUEST_ID.to_owned(), answers::id_header());
        }
    }
}

/// Says of the files in forms that they are PDFs.
fn name_file_types(operation: &mut Operation) {
    let Some(RefOr::T(body)) = &mut operation.request_body else { return };
    let Some(RefOr::T(form)) = body.content.get_mut("multipart/form-data") else { return };
    let pdf = EncodingBuilder::new().content_type(Some("application/pdf")).build();
    form.encoding.insert("file".to_owned(), pdf);
}

fn add_schemes(components: &mut Components) {
    let bearer =
        |description: &str| HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description));
    let token = bearer("The access token of a login.").bearer_format("JWT").build();
    let key = bearer("An API key, `dk_…`, where `auth_backends` has `api_key`.").build();
    let header = "The same key in a header of its own; a bearer token goes first.";
    let header = ApiKey::Header(ApiKeyValue::with_description("X-API-Key", header));
    let metrics = bearer("`metrics_token`, where that is set.").build();
    for (name, scheme) in [
        ("access_token", SecurityScheme::Http(token)),
        ("api_key", SecurityScheme::Http(key)),
        ("api_key_header", SecurityScheme::ApiKey(header)),
        ("metrics_token", SecurityScheme::Http(metrics)),
    ] {
        components.security_schemes.insert(name.to_owned(), scheme.into());
    }
}
