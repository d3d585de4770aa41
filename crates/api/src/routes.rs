//! The URL table of the API.

use crate::{
    agents, auth, collections, conversations, docs, documents, health, librechat, mcp, metrics, oauth,
    openai, root, search, status, webhooks,
};
use docent_http::routes;
use openai::vector_stores;

routes! {
    below "":
    "/"                     { GET => root::root }
    "/status"               { GET => status::status }
    "/health/live"          { GET => health::live::live }
    "/health/ready"         { GET => health::ready::ready }
    "/auth/token"           { POST => auth::token::token }
    "/auth/refresh"         { POST => auth::refresh::refresh }
    "/auth/logout"          { POST => auth::logout::logout }
    "/auth/password-reset"  { POST => auth::verification::request_reset }
    "/auth/password-reset/confirm" { POST => auth::verification::reset_password }
    "/auth/email-verification" { POST => auth::verification::request_verification }
    "/auth/email-verification/confirm" { POST => auth::verification::verify_email }
    "/documents"            { GET => documents::list::list, POST => documents::create::create }
    "/documents/upload"     { POST => documents::upload::upload }
    "/documents/{doc_id}"   {
        GET => documents::get::get,
        PATCH => documents::change::change,
        DELETE => documents::delete::delete
    }
    "/documents/{doc_id}/file" { GET => documents::file::file, PUT => documents::replace::replace }
    "/documents/{doc_id}/pages/{page}" { GET => documents::page_image::page_image }
    "/documents/{doc_id}/pages/{page}/text" { GET => documents::page_text::page_text }
    "/documents/{doc_id}/pages/{page}/words" { GET => documents::page_words::page_words }
    "/documents/{doc_id}/find" { GET => documents::find::find }
    "/documents/{doc_id}/report" { GET => documents::report::report }
    "/documents/{doc_id}/summary" { GET => documents::summary::summary }
    "/documents/{doc_id}/retry" { POST => documents::retry::retry }
    "/collections"          { GET => collections::list::list, POST => collections::create::create }
    "/collections/{id}"     {
        GET => collections::get::get,
        PATCH => collections::change::change,
        DELETE => collections::delete::delete
    }
    "/collections/{id}/hidden" { PUT => collections::hide::hide, DELETE => collections::hide::show }
    "/collections/{id}/members" { GET => collections::members::list, PUT => collections::members::put }
    "/collections/{id}/members/{member}" { DELETE => collections::members::remove }
    "/search"               { POST => search::search }
    "/agents/{name}"        { POST => agents::ask::ask } unless agents::missing
    "/agents/{name}/streams/{id}" { GET => agents::resume::resume }
    "/agents/{name}/streams/{id}/stop" { POST => agents::stop::stop }
    "/mcp"                  { POST => mcp::call }
    "/.well-known/oauth-authorization-server" { GET => oauth::metadata::authorization_server }
    "/.well-known/oauth-protected-resource" { GET => oauth::metadata::api }
    "/.well-known/oauth-protected-resource/mcp" { GET => oauth::metadata::mcp }
    "/oauth/register"       { POST => oauth::register::register }
    "/oauth/token"          { POST => oauth::token::token }
    "/oauth/revoke"         { POST => oauth::revoke::revoke }
    "/v1/models"            { GET => openai::models::list }
    "/v1/models/{id}"       { GET => openai::models::get }
    "/v1/chat/completions"  { POST => openai::chat::complete }
    "/v1/responses"         { POST => openai::responses::create::create }
    "/v1/responses/{response_id}" {
        GET => openai::responses::stored::get,
        DELETE => openai::responses::stored::delete
    }
    "/v1/responses/{response_id}/cancel" { POST => openai::responses::stored::cancel }
    "/v1/responses/{response_id}/input_items" { GET => openai::responses::stored::input_items }
    "/v1/embeddings"        { POST => openai::embeddings::embed }
    "/v1/files"             { GET => openai::files::list, POST => openai::files::create }
    "/v1/files/{file_id}"   { GET => openai::files::get, DELETE => openai::files::delete }
    "/v1/files/{file_id}/content" { GET => openai::files::content }
    "/v1/vector_stores"     { GET => vector_stores::stores::list, POST => vector_stores::stores::create }
    "/v1/vector_stores/{vector_store_id}" {
        GET => vector_stores::stores::get,
        POST => vector_stores::stores::change,
        DELETE => vector_stores::stores::delete
    }
    "/v1/vector_stores/{vector_store_id}/search" { POST => vector_stores::search::search }
    "/v1/vector_stores/{vector_store_id}/files" {
        GET => vector_stores::files::list,
        POST => vector_stores::files::attach
    }
    "/v1/vector_stores/{vector_store_id}/files/{file_id}" {
        GET => vector_stores::files::get,
        POST => vector_stores::files::change,
        DELETE => vector_stores::files::detach
    }
    "/v1/vector_stores/{vector_store_id}/files/{file_id}/content" { GET => vector_stores::files::content }
    "/v1/vector_stores/{vector_store_id}/file_batches" { POST => vector_stores::batches::create }
    "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}" { GET => vector_stores::batches::get }
    "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/cancel" {
        POST => vector_stores::batches::cancel
    }
    "/v1/vector_stores/{vector_store_id}/file_batches/{batch_id}/files" {
        GET => vector_stores::batches::list_files
    }
    "/librechat/health"     { GET => librechat::health::health }
    "/librechat/embed"      { POST => librechat::embed::embed }
    "/librechat/query"      { POST => librechat::query::query }
    "/librechat/query_multiple" { POST => librechat::query_multiple::query_multiple }
    "/librechat/documents"  { GET => librechat::get::get, DELETE => librechat::delete::delete }
    "/librechat/documents/{id}/context" { GET => librechat::context::context }
    "/librechat/text"       { POST => librechat::text::text }
    "/conversations"        { GET => conversations::list::list, POST => conversations::begin::begin }
    "/conversations/{id}"   {
        GET => conversations::read::read,
        PATCH => conversations::change::change,
        DELETE => conversations::delete::delete
    }
    "/conversations/{id}/collections" { PUT => conversations::share::share }
    "/conversations/{id}/messages/{message}/feedback" {
        PUT => conversations::feedback::put,
        DELETE => conversations::feedback::delete
    }
    "/webhooks"             { GET => webhooks::list::list, POST => webhooks::create::create }
    "/webhooks/{id}"        {
        GET => webhooks::get::get,
        PATCH => webhooks::change::change,
        DELETE => webhooks::delete::delete
    }
    "/webhooks/{id}/secret" { POST => webhooks::rotate::rotate }
    "/webhooks/{id}/test"   { POST => webhooks::ping::ping }
    "/webhooks/{id}/deliveries" { GET => webhooks::deliveries::deliveries }
    "/webhooks/{id}/deliveries/{delivery}/replay" { POST => webhooks::replay::replay }
    "/metrics"              { GET => metrics::metrics }
    "/openapi.json"         { GET => docs::document }
    "/docs"                 { GET => docs::page }
    "/docs/{file}"          { GET => docs::file }
}
