//! `/account/verify-email`: verifies an email address.

use super::page::{Page, escaped, failed, refused};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::accounts::verification;
use docent_http::{
    context::State,
    error::ApiError,
    extract::{client::Client, form::Form, query::Query},
};

const TITLE: &str = "Verify your email address";

pub(crate) async fn page(context: State, link: Result<Query, ApiError>) -> HttpResponse {
    let link = match link {
        Ok(link) => link,
        Err(refusal) => return refused(&context, TITLE, &refusal),
    };
    let content = format!(
        "<p class=\"hint\">Select the button to confirm that this address is yours.</p>\n<form method=\"post\">\n<input type=\"hidden\" name=\"token\" value=\"{}\">\n\
         <button type=\"submit\">Confirm</button>\n</form>\n",
        escaped(link.text("token").unwrap_or_default()),
    );
    Page { title: TITLE, alert: None, content: &content }.answer(&context, StatusCode::OK)
}

pub(crate) async fn submit(context: State, client: Client, form: Result<Form, ApiError>) -> HttpResponse {
    let form = match form {
        Ok(form) => form,
        Err(refusal) => return refused(&context, TITLE, &refusal),
    };
    match verification::verify_email(&context.app, form.text("token"), client.address).await {
        Ok(()) => {
            let content = "<p>You can close this page.</p>\n";
            let page = Page { title: "Your email address is verified", alert: None, content };
            page.answer(&context, StatusCode::OK)
        }
        Err(error) => failed(&context, TITLE, error),
    }
}
