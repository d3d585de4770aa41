//! The staff panel under `/admin`: server-rendered pages with one stylesheet and an optional script.

pub(crate) mod access;
mod answers;
mod charts;
pub(crate) mod collections;
pub(crate) mod content;
mod conversation;
mod conversations;
mod csv;
mod dashboard;
mod document;
mod document_actions;
mod document_attributes;
mod document_bulk;
mod document_chunks;
mod document_file;
mod document_readers;
mod document_upload;
mod documents;
mod find;
mod jobs;
mod listing;
mod model;
mod nav;
mod search;
mod service;
mod style;
mod usage;
mod webhook;
mod webhooks;

use self::nav::ROOT;
use crate::signed_in::layout::Framed;
use crate::signed_in::{login, logout, page, proof};
use crate::templates::pages;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use docent_http::routes;
use docent_http::table::Table;

/// Route tables of the panel.
pub(crate) const TABLES: [Table; 4] = [TABLE, content::TABLE, collections::TABLE, access::TABLE];

routes! {
    below "/admin":
    ""           { GET => dashboard::dashboard }
    "/admin.css" { GET => style::style }
    "/admin.js"  { GET => style::script }
    "/picker.js" { GET => style::picker }
    "/messages.js" { GET => style::messages }
    "/login"     { GET => login::show, POST => login::submit }
    "/login/code" { GET => login::show_code, POST => login::submit_code }
    "/logout"    { POST => logout::logout }
}

pages! {
    Framed<dashboard::DashboardPage> => "dashboard.html"
}

/// Adds the panel's pages to the server.
pub(crate) fn mount(config: &mut ServiceConfig) {
    config.service(
        web::scope(ROOT)
            .wrap(from_fn(proof::ask))
            .configure(|config| configure(config, |_| true))
            .configure(|config| content::configure(config, |_| true))
            .configure(|config| collections::configure(config, |_| true))
            .configure(|config| access::configure(config, |_| true))
            .default_service(web::to(page::not_found)),
    );
}
