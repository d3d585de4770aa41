//! `/account/reset-password`: choosing a new password.

use super::{Link, Page, escaped, refused};
use crate::{context::State, error::Refusal, extract::client::Client};
use actix_web::{HttpResponse, http::StatusCode, web};
use docent_app::{accounts::verification, error::Error};
use docent_domain::user::Password;
use serde::Deserialize;

const TITLE: &str = "Choose a new password";

#[derive(Deserialize)]
pub(crate) struct Form {
    token: String,
    password: String,
}

pub(crate) async fn page(context: State, link: web::Query<Link>) -> HttpResponse {
    form(&context, &link.token, None)
}

fn form(context: &State, token: &str, alert: Option<&str>) -> HttpResponse {
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

pub(crate) async fn submit(
    context: State,
    client: Client,
    form_body: web::Form<Form>,
) -> Result<HttpResponse, Refusal> {
    let Form { token, password } = form_body.into_inner();
    let password = match Password::chosen(password) {
        Ok(password) => password,
        Err(invalid) => {
            return Ok(form(&context, &token, Some(&format!("The password {}.", invalid.reason))));
        }
    };
    match verification::reset_password(&context.app, &token, password, client.address).await {
        Ok(()) => {
            let content =
                "<p>You can log in with your new password now. All earlier logins have ended.</p>\n";
            let page = Page { title: "Your password is changed", alert: None, content };
            Ok(page.answer(&context, StatusCode::OK))
        }
        Err(error @ Error::LinkRefused) => Ok(refused(&context, TITLE, &format!("{error}."))),
        Err(error) => Err(error.into()),
    }
}
