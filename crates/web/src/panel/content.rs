//! URLs and templates of documents, conversations, webhooks, jobs and usage.

use super::{
    answers, conversation, conversations, document, document_actions, document_bulk, document_chunks,
    document_file, document_readers, document_upload, documents, find, jobs, model, search, service, usage,
    webhook, webhooks,
};
use crate::signed_in::layout::Framed;
use crate::templates::pages;
use docent_http::routes;

routes! {
    below "/admin":
    "/documents"             { GET => documents::documents }
    "/documents/upload"      { GET => document_upload::show, POST => document_upload::submit }
    "/documents/bulk"        { POST => document_bulk::bulk }
    "/documents/{id}"        { GET => document::document }
    "/documents/{id}/chunks" { GET => document_chunks::chunks }
    "/documents/{id}/readers" { GET => document_readers::readers }
    "/documents/{id}/file"   { GET => document_file::file }
    "/documents/{id}/attributes" { POST => document_actions::change_attributes }
    "/documents/{id}/retry"  { POST => document_actions::retry }
    "/documents/{id}/delete" { POST => document_actions::delete }
    "/find"                  { GET => find::find }
    "/jobs"                  { GET => jobs::jobs }
    "/service"               { GET => service::show, POST => service::test }
    "/search"                { GET => search::search }
    "/model"                 { GET => model::show, POST => model::check }
    "/usage"                 { GET => usage::usage }
    "/usage.csv"             { GET => usage::export }
    "/conversations"         { GET => conversations::conversations }
    "/conversations/{id}"    { GET => conversation::conversation }
    "/conversations/{id}/delete" { POST => conversation::delete }
    "/answers"               { GET => answers::answers }
    "/answers.jsonl"         { GET => answers::export }
    "/webhooks"              { GET => webhooks::webhooks }
    "/webhooks/{id}"         { GET => webhook::webhook }
    "/webhooks/{id}/switch"  { POST => webhook::switch }
    "/webhooks/{id}/replay"  { POST => webhook::replay }
    "/webhooks/{id}/delete"  { POST => webhook::delete }
}

pages! {
    Framed<documents::DocumentsPage> => "documents.html"
    Framed<document_upload::UploadPage> => "upload.html"
    Framed<document_bulk::BulkPage> => "bulk.html"
    Framed<document::DocumentPage> => "document.html"
    Framed<document_chunks::ChunksPage> => "chunks.html"
    Framed<document_readers::ReadersPage> => "readers.html"
    Framed<search::SearchPage> => "search.html"
    Framed<find::FindPage> => "find.html"
    Framed<jobs::JobsPage> => "jobs.html"
    Framed<service::ServicePage> => "service.html"
    Framed<model::ModelPage> => "model.html"
    Framed<usage::UsagePage> => "usage.html"
    Framed<conversations::ConversationsPage> => "conversations.html"
    Framed<conversation::ConversationPage> => "conversation.html"
    Framed<answers::AnswersPage> => "answers.html"
    Framed<webhooks::WebhooksPage> => "webhooks.html"
    Framed<webhook::WebhookPage> => "webhook.html"
}
