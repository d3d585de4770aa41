//! Page templates and the pages that they render.

mod functions;
#[cfg(test)]
pub(crate) mod tests;

use crate::language;
use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use docent_http::ApiError;
use docent_http::base_path::mark_page;
use serde::Serialize;
use std::io;
use std::sync::OnceLock;
use tera::{Context, Tera};

/// Values of a page. Implemented by [`pages!`].
pub(crate) trait Page: Serialize {
    /// Path of the page's template below `templates/`.
    const TEMPLATE: &'static str;
}

/// Page together with the values of its layout.
#[derive(Serialize)]
pub(crate) struct InLayout<L, P> {
    #[serde(flatten)]
    pub(crate) layout: L,
    #[serde(flatten)]
    pub(crate) page: P,
}

/// Template file.
pub(crate) struct Template {
    /// Path below `templates/`.
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    /// Sample values of the page; none for templates that pages only extend or include.
    #[cfg(test)]
    pub(crate) samples: fn() -> Vec<serde_json::Value>,
}

/// Reads a template file at compile time.
macro_rules! template {
    ($path:literal) => {
        $crate::templates::template!($path, Vec::new)
    };
    ($path:literal, $samples:expr) => {
        $crate::templates::Template {
            path: $path,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/templates/", $path)),
            #[cfg(test)]
            samples: $samples,
        }
    };
}

/// Table of pages and their templates. Only pages in a table can be rendered; the tests render all of them with their
/// samples.
macro_rules! pages {
    ($($page:ty => $path:literal)*) => {
        $(impl $crate::templates::Page for $page {
            const TEMPLATE: &'static str = $path;
        })*

        /// Templates of the pages.
        pub(crate) const TEMPLATES: &[$crate::templates::Template] =
            &[$($crate::templates::template!($path, $crate::templates::tests::samples::<$page>)),*];
    };
}
pub(crate) use pages;
pub(crate) use template;

/// Templates that pages extend or include.
const SHARED: &[Template] = &[
    template!("head.html"),
    template!("base.html"),
    template!("narrow.html"),
    template!("list.html"),
    template!("paging.html"),
    template!("feedback.html"),
    template!("providers.html"),
    template!("status.html"),
    template!("chart.html"),
    template!("job_rows.html"),
    template!("errors.html"),
    template!("group_members.html"),
    template!("fields.html"),
    template!("pickers.html"),
    template!("key_table.html"),
    template!("session_table.html"),
    template!("entry_table.html"),
    template!("reader_table.html"),
    template!("reach_table.html"),
    template!("effective_permissions.html"),
    template!("delete.html"),
    template!("account/layout.html"),
];

static COMPILED: OnceLock<Tera> = OnceLock::new();

/// Compiles the templates of all pages. Only the first call has an effect.
///
/// # Errors
/// If a template has a syntax error.
pub(crate) fn compile(pages: impl Iterator<Item = &'static Template>) -> io::Result<()> {
    let mut tera = functions::engine();
    let all = SHARED.iter().chain(pages).map(|template| (template.path, template.text));
    tera.add_raw_templates(all).map_err(io::Error::other)?;
    COMPILED.get_or_init(|| tera);
    Ok(())
}

/// Response with a page in the language of the request, and its content security policy.
pub(crate) fn html_response(status: StatusCode, policy: &str, html: String) -> HttpResponse {
    let mut page = HttpResponse::build(status)
        .content_type("text/html; charset=utf-8")
        .insert_header((header::CONTENT_SECURITY_POLICY, policy))
        .insert_header((header::CONTENT_LANGUAGE, language::current().code()))
        .insert_header((header::VARY, "Accept-Language, Cookie"))
        .body(html);
    mark_page(&mut page);
    page
}

/// Renders a page.
pub(crate) fn render<P: Page>(page: &P) -> Result<String, ApiError> {
    let values = Context::from_serialize(page);
    let html = values.and_then(|values| match COMPILED.get() {
        Some(tera) => tera.render(P::TEMPLATE, &values),
        None => Err(tera::Error::message("the templates are not compiled")),
    });
    html.map_err(|error| {
        tracing::error!(%error, template = P::TEMPLATE, "a page could not be rendered");
        ApiError::internal()
    })
}
