//! The URL table of the API.

use crate::{
    agents, auth, collections, conversations, docs, documents, health, mcp, metrics, openai, root, search,
    status, webhooks,
};
use docent_http::routes;

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
    "/v1/models"            { GET => openai::models::list }
    "/v1/models/{id}"       { GET => openai::models::get }
    "/v1/chat/completions"  { POST => openai::chat::complete }
    "/v1/embeddings"        { POST => openai::embeddings::embed }
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
