//! The pages about documents, conversations, webhooks and what goes on.

use super::{
    conversation, conversations, document, document_actions, document_bulk, document_chunks, document_file,
    document_upload, documents, jobs, usage, webhook, webhooks,
};
use crate::routes::routes;

/// Their templates.
pub(super) const TEMPLATES: [(&str, &str); 14] = [
    ("bulk.html", include_str!("../templates/bulk.html")),
    ("chart.html", include_str!("../templates/chart.html")),
    ("chunks.html", include_str!("../templates/chunks.html")),
    ("conversation.html", include_str!("../templates/conversation.html")),
    ("conversations.html", include_str!("../templates/conversations.html")),
    ("dashboard.html", include_str!("../templates/dashboard.html")),
    ("document.html", include_str!("../templates/document.html")),
    ("documents.html", include_str!("../templates/documents.html")),
    ("jobs.html", include_str!("../templates/jobs.html")),
    ("job_rows.html", include_str!("../templates/job_rows.html")),
    ("upload.html", include_str!("../templates/upload.html")),
    ("usage.html", include_str!("../templates/usage.html")),
    ("webhook.html", include_str!("../templates/webhook.html")),
    ("webhooks.html", include_str!("../templates/webhooks.html")),
];

routes! {
    below "/admin":
    "/documents"             { GET => documents::documents }
    "/documents/upload"      { GET => document_upload::show, POST => document_upload::submit }
    "/documents/bulk"        { POST => document_bulk::bulk }
    "/documents/{id}"        { GET => document::document }
    "/documents/{id}/chunks" { GET => document_chunks::chunks }
    "/documents/{id}/file"   { GET => document_file::file }
    "/documents/{id}/retry"  { POST => document_actions::retry }
    "/documents/{id}/delete" { POST => document_actions::delete }
    "/jobs"                  { GET => jobs::jobs }
    "/usage"                 { GET => usage::usage }
    "/usage.csv"             { GET => usage::export }
    "/conversations"         { GET => conversations::conversations }
    "/conversations/{id}"    { GET => conversation::conversation }
    "/conversations/{id}/delete" { POST => conversation::delete }
    "/webhooks"              { GET => webhooks::webhooks }
    "/webhooks/{id}"         { GET => webhook::webhook }
    "/webhooks/{id}/switch"  { POST => webhook::switch }
    "/webhooks/{id}/replay"  { POST => webhook::replay }
    "/webhooks/{id}/delete"  { POST => webhook::delete }
}
