//! The OpenAPI document, generated from the handlers and the types of bodies.

#[cfg(test)]
mod tests;

use crate::answers::{self, AccountRequired, Always, REQUEST_ID, RateLimited, ServiceUnavailable};
use crate::openai::errors::is_openai_path;
use crate::openai::wire;
use crate::streams;
use docent_http::base_path::BasePath;
use docent_http::table;
use utoipa::openapi::encoding::EncodingBuilder;
use utoipa::openapi::path::{Operation, Parameter};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Components, OpenApi as Document, PathItem, RefOr};
use utoipa::{IntoResponses, Modify, OpenApi};

/// Returns the OpenAPI 3.1 document as formatted JSON.
///
/// # Errors
/// If it cannot be serialized, which would be a bug.
pub fn json() -> serde_json::Result<String> {
    json_below(&BasePath::default())
}

/// Returns the document of a service below a path of its host.
pub(crate) fn json_below(base: &BasePath) -> serde_json::Result<String> {
    let mut document = Api::openapi();
    if !base.is_root() {
        document.servers.iter_mut().flatten().for_each(|server| base.as_str().clone_into(&mut server.url));
    }
    Ok(document.to_pretty_json()? + "\n")
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Docent", description = include_str!("description.md"), license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")),
    servers((url = "/", description = "This service.")),
    tags(
        (name = "Documents", description = "Adding, reading and removing documents."),
        (name = "Collections", description = "Sets of documents, and who may use them."),
        (name = "Chat", description = "Questions to agents, with streamed answers."),
        (name = "Conversations", description = "Stored conversations of an account."),
        (name = "Webhooks", description = "Subscriptions to document events, following the Standard Webhooks specification."),
        (name = "OpenAI wire", description = "Agents, responses, files and vector stores for clients of the OpenAI API. Errors have the format of that API."),
        (name = "LibreChat", description = "The RAG API of LibreChat, if `DOCENT_LIBRECHAT_JWT_SECRET` is set. Otherwise these paths return 404."),
        (name = "MCP", description = "Documents for clients of the Model Context Protocol."),
        (name = "Search", description = "Passages that match a question."),
        (name = "Accounts", description = "Sign-in, token refresh, sign-out, and links sent by email."),
        (name = "Service", description = "Information about the service and its health."),
    ),
    security(("access_token" = []), ("api_key" = []), ("api_key_header" = [])),
    modifiers(&Completion),
    paths(
        crate::root::root,
        crate::status::status,
        crate::health::live::live,
        crate::health::ready::ready,
        crate::metrics::metrics,
        crate::docs::document,
        crate::auth::token::token,
        crate::auth::refresh::refresh,
        crate::auth::logout::logout,
        crate::auth::verification::request_reset,
        crate::auth::verification::reset_password,
        crate::auth::verification::request_verification,
        crate::auth::verification::verify_email,
        crate::documents::list::list,
        crate::documents::create::create,
        crate::documents::replace::replace,
        crate::documents::upload::upload,
        crate::documents::get::get,
        crate::documents::change::change,
        crate::documents::delete::delete,
        crate::documents::file::file,
        crate::documents::page_image::page_image,
        crate::documents::page_text::page_text,
        crate::documents::page_words::page_words,
        crate::documents::find::find,
        crate::documents::summary::summary,
        crate::documents::report::report,
        crate::documents::retry::retry,
        crate::collections::list::list,
        crate::collections::create::create,
        crate::collections::get::get,
        crate::collections::change::change,
        crate::collections::delete::delete,
        crate::collections::hide::hide,
        crate::collections::hide::show,
        crate::collections::members::list,
        crate::collections::members::put,
        crate::collections::members::remove,
        crate::search::search,
        crate::agents::ask::ask,
        crate::agents::resume::resume,
        crate::agents::stop::stop,
        crate::conversations::list::list,
        crate::conversations::begin::begin,
        crate::conversations::read::read,
        crate::conversations::change::change,
        crate::conversations::delete::delete,
        crate::conversations::share::share,
        crate::conversations::feedback::put,
        crate::conversations::feedback::delete,
        crate::webhooks::list::list,
        crate::webhooks::create::create,
        crate::webhooks::get::get,
        crate::webhooks::change::change,
        crate::webhooks::delete::delete,
        crate::webhooks::rotate::rotate,
        crate::webhooks::ping::ping,
        crate::webhooks::deliveries::deliveries,
        crate::webhooks::replay::replay,
        crate::openai::models::list,
        crate::openai::models::get,
        crate::openai::chat::complete,
        crate::openai::responses::create::create,
        crate::openai::responses::stored::get,
        crate::openai::responses::stored::delete,
        crate::openai::responses::stored::cancel,
        crate::openai::responses::stored::input_items,
        crate::openai::embeddings::embed,
        crate::openai::files::create,
        crate::openai::files::list,
        crate::openai::files::get,
        crate::openai::files::delete,
        crate::openai::files::content,
        crate::openai::vector_stores::stores::create,
        crate::openai::vector_stores::stores::list,
        crate::openai::vector_stores::stores::get,
        crate::openai::vector_stores::stores::change,
        crate::openai::vector_stores::stores::delete,
        crate::openai::vector_stores::search::search,
        crate::openai::vector_stores::files::attach,
        crate::openai::vector_stores::files::list,
        crate::openai::vector_stores::files::get,
        crate::openai::vector_stores::files::change,
        crate::openai::vector_stores::files::detach,
        crate::openai::vector_stores::files::content,
        crate::openai::vector_stores::batches::create,
        crate::openai::vector_stores::batches::get,
        crate::openai::vector_stores::batches::cancel,
        crate::openai::vector_stores::batches::list_files,
        crate::librechat::health::health,
        crate::librechat::embed::embed,
        crate::librechat::query::query,
        crate::librechat::query_multiple::query_multiple,
        crate::librechat::get::get,
        crate::librechat::delete::delete,
        crate::librechat::context::context,
        crate::librechat::text::text,
        crate::mcp::call,
        crate::oauth::metadata::authorization_server,
        crate::oauth::metadata::api,
        crate::oauth::metadata::mcp,
        crate::oauth::register::register,
        crate::oauth::token::token,
        crate::oauth::revoke::revoke,
    ),
    components(schemas(
        crate::answer_events::AnswerStreamEvent,
        crate::answer_events::Metadata<'_>,
        crate::openai::chunks::ChatCompletionChunk<'_>,
        crate::openai::chunks::CompletionStreamEvent,
        crate::openai::responses::events::ResponseStreamEvent,
        crate::selection::ComparisonBody,
        crate::selection::ComparisonName,
        crate::selection::CompoundBody,
        crate::selection::CompoundName,
        streams::StreamEnd,
    )),
)]
struct Api;

/// Adds what all operations share and what the macros cannot express.
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
    [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten()
}

/// Adds the error responses and the headers that many operations share.
fn complete(operation: &mut Operation, path: &str) {
    let responses = &mut operation.responses.responses;
    if is_openai_path(path) {
        responses.extend(wire::Always::responses());
    } else {
        responses.extend(Always::responses());
        if !table::is_watched(path) {
            responses.extend(RateLimited::responses());
        }
        if !is_public(operation.security.as_deref()) {
            responses.extend(AccountRequired::responses());
        }
        if !operation.tags.iter().flatten().any(|tag| tag == "Service") {
            for (status, response) in ServiceUnavailable::responses() {
                // Some operations have their own description.
                responses.entry(status).or_insert(response);
            }
        }
    }
    let is_cursor =
        |parameter: &RefOr<_>| matches!(parameter, RefOr::T(Parameter { name, .. }) if name == "cursor");
    let is_paged = operation.parameters.iter().flatten().any(is_cursor);
    for (status, response) in responses {
        if let RefOr::T(response) = response {
            response.headers.insert(REQUEST_ID.to_owned(), answers::id_header());
            if is_paged && status == "200" {
                response.headers.extend(answers::paging_headers());
            }
        }
    }
}

/// Whether a request without credentials is allowed.
fn is_public(security: Option<&[SecurityRequirement]>) -> bool {
    security.into_iter().flatten().any(|requirement| *requirement == SecurityRequirement::default())
}

/// Sets the content type of files in forms to PDF.
fn name_file_types(operation: &mut Operation) {
    let Some(RefOr::T(body)) = &mut operation.request_body else { return };
    let Some(RefOr::T(form)) = body.content.get_mut("multipart/form-data") else { return };
    let pdf = EncodingBuilder::new().content_type(Some("application/pdf")).build();
    form.encoding.insert("file".to_owned(), pdf);
}

fn add_schemes(components: &mut Components) {
    let bearer =
        |description: &str| HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description));
    let token = bearer("Access token of a session.").bearer_format("JWT").build();
    let key = bearer("An API key, `dk_…`, if `auth_backends` contains `api_key`.").build();
    let header = "The same key in a separate header. A bearer token takes precedence.";
    let header = ApiKey::Header(ApiKeyValue::with_description("X-API-Key", header));
    let metrics = bearer("`metrics_token`, if it is set.").build();
    let librechat =
        bearer("Token of LibreChat: a JWT with `id` and `exp`, signed with `librechat_jwt_secret` (HS256).");
    let librechat = librechat.bearer_format("JWT").build();
    for (name, scheme) in [
        ("access_token", SecurityScheme::Http(token)),
        ("api_key", SecurityScheme::Http(key)),
        ("api_key_header", SecurityScheme::ApiKey(header)),
        ("metrics_token", SecurityScheme::Http(metrics)),
        ("librechat_token", SecurityScheme::Http(librechat)),
    ] {
        components.security_schemes.insert(name.to_owned(), scheme.into());
    }
}
