//! The staff panel under `/admin`: pages made on the server, one stylesheet, and a script that they do without.

mod access;
mod charts;
mod content;
mod conversation;
mod conversations;
mod csv;
mod dashboard;
mod document;
mod document_actions;
mod document_bulk;
mod document_chunks;
mod document_file;
mod document_upload;
mod documents;
mod form;
mod jobs;
mod listing;
mod login;
mod logout;
mod nav;
mod page;
mod session;
mod style;
mod times;
mod usage;

use crate::{
    routes::{on, resource},
    settings::SessionKey,
};
use actix_web::{
    http::Method,
    middleware::from_fn,
    web::{self, FormConfig, ServiceConfig},
};
pub(crate) use page::templates;

/// Where the panel is.
const ROOT: &str = "/admin";

/// Adds the panel's pages to the server.
pub(crate) fn configure(config: &mut ServiceConfig, key: &SessionKey) {
    let page = |path| resource(path, &[Method::GET]);
    let form = |path| resource(path, &[Method::POST]);
    config.service(
        web::scope(ROOT)
            .service(page("").route(on(Method::GET).to(dashboard::dashboard)))
            .service(page("/admin.css").route(on(Method::GET).to(style::style)))
            .service(page("/admin.js").route(on(Method::GET).to(style::script)))
            .service(page("/picker.js").route(on(Method::GET).to(style::picker)))
            .app_data(FormConfig::default().limit(form::LIMIT))
            .service(
                resource("/login", &[Method::GET, Method::POST])
                    .route(on(Method::GET).to(login::show))
                    .route(on(Method::POST).to(login::submit)),
            )
            .service(form("/logout").route(on(Method::POST).to(logout::logout)))
            .configure(content::configure)
            .configure(access::routes)
            .default_service(web::to(page::not_found))
            .wrap(session::middleware(key))
            .wrap(from_fn(session::secure_cookie)),
    );
}
