//! Page templates, compiled on first use.

use docent_http::error::ApiError;
use std::{io, sync::LazyLock};
use tera::{Context, Tera};

/// Templates by name. Templates that others extend or include come first.
const TEMPLATES: &[(&str, &str)] = &[
    ("base.html", include_str!("templates/base.html")),
    ("paging.html", include_str!("templates/paging.html")),
    ("login.html", include_str!("templates/login.html")),
    ("bulk.html", include_str!("templates/bulk.html")),
    ("chart.html", include_str!("templates/chart.html")),
    ("chunks.html", include_str!("templates/chunks.html")),
    ("conversation.html", include_str!("templates/conversation.html")),
    ("conversations.html", include_str!("templates/conversations.html")),
    ("dashboard.html", include_str!("templates/dashboard.html")),
    ("document.html", include_str!("templates/document.html")),
    ("documents.html", include_str!("templates/documents.html")),
    ("jobs.html", include_str!("templates/jobs.html")),
    ("job_rows.html", include_str!("templates/job_rows.html")),
    ("upload.html", include_str!("templates/upload.html")),
    ("usage.html", include_str!("templates/usage.html")),
    ("webhook.html", include_str!("templates/webhook.html")),
    ("webhooks.html", include_str!("templates/webhooks.html")),
    ("errors.html", include_str!("templates/errors.html")),
    ("fields.html", include_str!("templates/fields.html")),
    ("pickers.html", include_str!("templates/pickers.html")),
    ("key_table.html", include_str!("templates/key_table.html")),
    ("session_table.html", include_str!("templates/session_table.html")),
    ("entry_table.html", include_str!("templates/entry_table.html")),
    ("confirm.html", include_str!("templates/confirm.html")),
    ("users.html", include_str!("templates/users.html")),
    ("user.html", include_str!("templates/user.html")),
    ("password.html", include_str!("templates/password.html")),
    ("account.html", include_str!("templates/account.html")),
    ("groups.html", include_str!("templates/groups.html")),
    ("group.html", include_str!("templates/group.html")),
    ("api_keys.html", include_str!("templates/api_keys.html")),
    ("api_key.html", include_str!("templates/api_key.html")),
    ("api_key_form.html", include_str!("templates/api_key_form.html")),
    ("api_key_made.html", include_str!("templates/api_key_made.html")),
    ("sessions.html", include_str!("templates/sessions.html")),
    ("verifications.html", include_str!("templates/verifications.html")),
    ("verification_made.html", include_str!("templates/verification_made.html")),
    ("audit.html", include_str!("templates/audit.html")),
    ("audit_entry.html", include_str!("templates/audit_entry.html")),
    ("chat.html", include_str!("templates/chat/chat.html")),
];

static COMPILED: LazyLock<Result<Tera, tera::Error>> = LazyLock::new(|| {
    let mut templates = Tera::new();
    templates.add_raw_templates(TEMPLATES.iter().copied())?;
    Ok(templates)
});

/// Compiles the templates on the first call.
///
/// # Errors
/// When a template has a syntax error.
pub fn compile() -> io::Result<()> {
    COMPILED.as_ref().map(drop).map_err(io::Error::other)
}

/// Renders a template.
pub(crate) fn render(template: &str, values: &Context) -> Result<String, ApiError> {
    let rendered = COMPILED.as_ref().map_err(ToString::to_string);
    let rendered = rendered.and_then(|all| all.render(template, values).map_err(|error| error.to_string()));
    rendered.map_err(|error| {
        tracing::error!(error, template, "a page could not be rendered");
        ApiError::internal()
    })
}
