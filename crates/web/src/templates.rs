//! Page templates, compiled on first use, and the pages that they render.

#[cfg(test)]
pub(crate) mod tests;

use crate::{panel, routes};
use docent_http::error::ApiError;
use serde::Serialize;
use std::{io, sync::LazyLock};
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
pub(crate) use {pages, template};

/// Templates that pages extend or include.
const SHARED: &[Template] = &[
    template!("base.html"),
    template!("paging.html"),
    template!("chart.html"),
    template!("job_rows.html"),
    template!("errors.html"),
    template!("fields.html"),
    template!("pickers.html"),
    template!("key_table.html"),
    template!("session_table.html"),
    template!("entry_table.html"),
    template!("effective_permissions.html"),
    template!("account/layout.html"),
];

/// All templates, by area.
const TEMPLATES: [&[Template]; 5] =
    [SHARED, routes::TEMPLATES, panel::TEMPLATES, panel::content::TEMPLATES, panel::access::TEMPLATES];

static COMPILED: LazyLock<Result<Tera, tera::Error>> = LazyLock::new(|| {
    let mut tera = Tera::new();
    tera.add_raw_templates(TEMPLATES.into_iter().flatten().map(|template| (template.path, template.text)))?;
    Ok(tera)
});

/// Compiles the templates on the first call.
///
/// # Errors
/// When a template has a syntax error.
pub fn compile() -> io::Result<()> {
    COMPILED.as_ref().map(drop).map_err(io::Error::other)
}

/// Renders a page.
pub(crate) fn render<P: Page>(page: &P) -> Result<String, ApiError> {
    let html = COMPILED.as_ref().map_err(ToString::to_string).and_then(|tera| {
        let values = Context::from_serialize(page);
        values.and_then(|values| tera.render(P::TEMPLATE, &values)).map_err(|error| error.to_string())
    });
    html.map_err(|error| {
        tracing::error!(error, template = P::TEMPLATE, "a page could not be rendered");
        ApiError::internal()
    })
}
