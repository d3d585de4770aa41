//! The layout of the account pages that links in emails open.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use docent_app::error::Error;
use docent_http::{context::State, error::ApiError};
use std::fmt::Write;

/// Content security policy: only the panel's stylesheet.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// Content of an account page.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    /// Error message, if any.
    pub(super) alert: Option<&'a str>,
    /// HTML of the body.
    pub(super) content: &'a str,
}

impl Page<'_> {
    pub(super) fn answer(&self, context: &State, status: StatusCode) -> HttpResponse {
        let (title, app_name) = (escaped(self.title), escaped(&context.settings.app_name));
        let alert =
            self.alert.map(|alert| format!("<p class=\"alert\" role=\"alert\">{}</p>\n", escaped(alert)));
        let page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · {app_name}</title>\n\
             <link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/admin/admin.css\">\n</head>\n\
             <body class=\"door\">\n<main>\n<h1>{title}</h1>\n{}{}</main>\n</body>\n</html>\n",
            alert.unwrap_or_default(),
            self.content,
        );
        HttpResponse::build(status)
            .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
            .insert_header((header::CONTENT_SECURITY_POLICY, POLICY))
            .body(page)
    }
}

/// Page for an invalid link or a failed request.
pub(super) fn failed(context: &State, title: &str, error: Error) -> HttpResponse {
    if matches!(error, Error::InvalidLink) {
        let content = "<p>Request a new link and open the most recent email.</p>\n";
        let alert = format!("{error}.");
        return Page { title, alert: Some(&alert), content }.answer(context, StatusCode::BAD_REQUEST);
    }
    refused(context, title, &error.into())
}

/// Page for errors without a page of their own.
pub(super) fn refused(context: &State, title: &str, refusal: &ApiError) -> HttpResponse {
    let alert = format!("{}.", refusal.detail());
    let content = "<p>Open the link in the email again to retry.</p>\n";
    let mut response = Page { title, alert: Some(&alert), content }.answer(context, refusal.status());
    refusal.report(&mut response);
    response
}

pub(super) fn escaped(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        // Writing to a string cannot fail.
        let _ = match c {
            '&' | '<' | '>' | '"' | '\'' => write!(escaped, "&#{};", u32::from(c)),
            c => escaped.write_char(c),
        };
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_text_and_nothing_else() {
        assert_eq!(escaped("<a b=\"c\">&'é"), "&#60;a b=&#34;c&#34;&#62;&#38;&#39;é");
    }
}
