//! The pages about documents, conversations and what goes on.

use super::{
    conversation, conversations, document, document_actions, document_bulk, document_chunks, document_file,
    document_upload, documents, jobs, usage,
};
use crate::routes::{on, resource};
use actix_web::{http::Method, web::ServiceConfig};

/// Their templates.
pub(super) const TEMPLATES: [(&str, &str); 12] = [
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
];

/// Adds them.
pub(super) fn configure(config: &mut ServiceConfig) {
    let page = |path| resource(path, &[Method::GET]);
    let form = |path| resource(path, &[Method::POST]);
    config
        .service(page("/documents").route(on(Method::GET).to(documents::documents)))
        .service(
            resource("/documents/upload", &[Method::GET, Method::POST])
                .route(on(Method::GET).to(document_upload::show))
                .route(on(Method::POST).to(document_upload::submit)),
        )
        .service(form("/documents/bulk").route(on(Method::POST).to(document_bulk::bulk)))
        .service(page("/documents/{id}").route(on(Method::GET).to(document::document)))
        .service(page("/documents/{id}/chunks").route(on(Method::GET).to(document_chunks::chunks)))
        .service(page("/documents/{id}/file").route(on(Method::GET).to(document_file::file)))
        .service(form("/documents/{id}/retry").route(on(Method::POST).to(document_actions::retry)))
        .service(form("/documents/{id}/delete").route(on(Method::POST).to(document_actions::delete)))
        .service(page("/jobs").route(on(Method::GET).to(jobs::jobs)))
        .service(page("/usage").route(on(Method::GET).to(usage::usage)))
        .service(page("/usage.csv").route(on(Method::GET).to(usage::export)))
        .service(page("/conversations").route(on(Method::GET).to(conversations::conversations)))
        .service(page("/conversations/{id}").route(on(Method::GET).to(conversation::conversation)))
        .service(form("/conversations/{id}/delete").route(on(Method::POST).to(conversation::delete)));
}
