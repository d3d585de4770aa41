//! Layout of the account pages, and the page with a message.

use crate::language::{self, t};
use crate::templates::{InLayout, Page, html_response, render};
use actix_web::http::{StatusCode, header};
use docent_app::error::Error;
use docent_http::{ApiError, Form, Query, Reply, State};
use serde::Serialize;

/// Content security policy: only the panel's stylesheet.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// Values of `account/layout.html`.
#[derive(Serialize)]
pub(crate) struct Layout {
    app_name: String,
    title: String,
    /// Error message, if any.
    alert: Option<String>,
}

/// Account page in its layout.
pub(crate) type InAccount<P> = InLayout<Layout, P>;

/// Page with a sentence, such as the result of an action.
#[derive(Serialize)]
pub(crate) struct MessagePage {
    text: String,
}

/// Renders a page. With an alert, the status is 422.
pub(super) fn show<P>(context: &State, title: String, alert: Option<String>, page: P) -> Reply
where
    InAccount<P>: Page,
{
    let status = if alert.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    respond(context, status, title, alert, page)
}

fn respond<P>(context: &State, status: StatusCode, title: String, alert: Option<String>, page: P) -> Reply
where
    InAccount<P>: Page,
{
    let layout = Layout { app_name: context.settings.app_name.clone(), title, alert };
    Ok(html_response(status, POLICY, render(&InLayout { layout, page })?))
}

/// Renders a page whose form leads to another site. Browsers check each redirect after a form against `form-action`, so that
/// applications whose redirect URI leads further could not be listed.
pub(super) fn show_and_redirect<P>(context: &State, status: StatusCode, title: String, page: P) -> Reply
where
    InAccount<P>: Page,
{
    let layout = Layout { app_name: context.settings.app_name.clone(), title, alert: None };
    let policy = POLICY.replace("form-action 'self'; ", "");
    Ok(html_response(status, &policy, render(&InLayout { layout, page })?))
}

/// Page of a link, with the token of its URL.
pub(super) fn of_link<P>(
    context: &State,
    title: String,
    link: Result<Query, ApiError>,
    page: impl FnOnce(String) -> P,
) -> Reply
where
    InAccount<P>: Page,
{
    match link {
        Ok(link) => show(context, title, None, page(link.text("token").unwrap_or_default().to_owned())),
        Err(error) => invalid(context, title, &error),
    }
}

/// Response to a form, or the page for errors if it is malformed.
pub(super) async fn submitted(
    context: &State,
    title: String,
    form: Result<Form, ApiError>,
    submit: impl AsyncFnOnce(Form) -> Reply,
) -> Reply {
    match form {
        Ok(form) => submit(form).await,
        Err(error) => invalid(context, title, &error),
    }
}

/// Page after a successful action.
pub(super) fn done(context: &State, title: String, text: String) -> Reply {
    show(context, title, None, MessagePage { text })
}

/// Page for an invalid link or a failed action.
pub(super) fn failed(context: &State, title: String, error: Error) -> Reply {
    match error {
        Error::InvalidLink => invalid_link(context, title, t!("link-invalid-advice")),
        error => invalid(context, title, &error.into()),
    }
}

/// Page for a link that is not valid, with advice how to get another one.
pub(super) fn invalid_link(context: &State, title: String, advice: String) -> Reply {
    let page = MessagePage { text: advice };
    respond(context, StatusCode::BAD_REQUEST, title, Some(t!("link-invalid")), page)
}

/// Page for errors without a page of their own.
pub(super) fn invalid(context: &State, title: String, error: &ApiError) -> Reply {
    refused(context, title, error, MessagePage { text: t!("link-again") })
}

/// Page again after a request that failed.
pub(super) fn refused<P>(context: &State, title: String, error: &ApiError, page: P) -> Reply
where
    InAccount<P>: Page,
{
    let alert = Some(format!("{}.", language::error_detail(error)));
    let mut response = respond(context, error.status(), title, alert, page)?;
    if let Some(seconds) = error.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    error.report(&mut response);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for Layout {
        fn samples() -> Vec<Self> {
            let layout = |alert| Self {
                app_name: "Docent".to_owned(),
                title: "Verify your email address".to_owned(),
                alert,
            };
            vec![layout(None), layout(Some("The link is invalid or has expired.".to_owned()))]
        }
    }

    impl Samples for MessagePage {
        fn samples() -> Vec<Self> {
            vec![Self { text: "You can close this page.".to_owned() }]
        }
    }
}
