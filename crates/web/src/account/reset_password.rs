//! `/account/reset-password`: sets a new password.

use super::page::{Page, escaped, failed, refused};
use actix_web::{HttpResponse, http::StatusCode};
use docent_app::accounts::verification;
use docent_domain::user::Password;
use docent_http::{
    context::State,
    error::ApiError,
    extract::{client::Client, form::Form, query::Query},
};

const TITLE: &str = "Choose a new password";

pub(crate) async fn page(context: State, link: Result<Query, ApiError>) -> HttpResponse {
    match link {
        Ok(link) => show(&context, link.text("token").unwrap_or_default(), None),
        Err(refusal) => refused(&context, TITLE, &refusal),
    }
}

fn show(context: &State, token: &str, alert: Option<&str>) -> HttpResponse {
    let content = format!(
        "<form method=\"post\">\n<input type=\"hidden\" name=\"token\" value=\"{}\">\n\
         <label for=\"password\">New password</label>\n\
         <input id=\"password\" name=\"password\" type=\"password\" minlength=\"{}\" autocomplete=\"new-password\" \
         required autofocus>\n<button type=\"submit\">Save</button>\n</form>\n",
        escaped(token),
        Password::MIN,
    );
    let status = if alert.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Page { title: TITLE, alert, content: &content }.answer(context, status)
}

pub(crate) async fn submit(context: State, client: Client, form: Result<Form, ApiError>) -> HttpResponse {
    let form = match form {
        Ok(form) => form,
        Err(refusal) => return refused(&context, TITLE, &refusal),
    };
    let token = form.text("token");
    let password = match Password::parse_new(form.text("password").to_owned()) {
        Ok(password) => password,
        Err(invalid) => return show(&context, token, Some(&format!("The password {}.", invalid.reason))),
    };
    match verification::reset_password(&context.app, token, password, client.address).await {
        Ok(()) => {
            let content =
                "<p>You can sign in with your new password now. All other sessions have ended.</p>\n";
            let page = Page { title: "Your password has been changed", alert: None, content };
            page.answer(&context, StatusCode::OK)
        }
        Err(error) => failed(&context, TITLE, error),
    }
}
