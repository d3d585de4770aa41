//! The staff panel under `/admin`: server-rendered pages with one stylesheet and an optional script.

pub(crate) mod access;
mod charts;
pub(crate) mod content;
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
mod layout;
mod listing;
mod login;
mod login_link;
mod logout;
mod nav;
mod page;
mod session;
mod style;
mod times;
mod usage;
mod webhook;
mod webhooks;

use self::nav::ROOT;
use crate::templates::pages;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use docent_http::routes;
use docent_http::settings::SessionKey;
use docent_http::table::Table;

/// Route tables of the panel.
pub(crate) const TABLES: [Table; 3] = [TABLE, content::TABLE, access::TABLE];

routes! {
    below "/admin":
    ""           { GET => dashboard::dashboard }
    "/admin.css" { GET => style::style }
    "/admin.js"  { GET => style::script }
    "/picker.js" { GET => style::picker }
    "/login"     { GET => login::show, POST => login::submit }
    "/logout"    { POST => logout::logout }
}

pages! {
    layout::InPanel<dashboard::DashboardPage> => "dashboard.html"
    login::LoginPage<'_> => "login.html"
    page::ErrorPage<'_> => "error.html"
}

/// Adds the panel's pages to the server.
pub(crate) fn mount(config: &mut ServiceConfig, key: &SessionKey) {
    config.service(
        web::scope(ROOT)
            .configure(|config| configure(config, |_| true))
            .configure(|config| content::configure(config, |_| true))
            .configure(|config| access::configure(config, |_| true))
            .default_service(web::to(page::not_found))
            .wrap(session::middleware(key))
            .wrap(from_fn(session::secure_cookie)),
    );
}
