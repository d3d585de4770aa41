//! `/account/verify-email`: confirming an address.

use super::{Link, Page, escaped, refused};
use crate::{context::State, error::Refusal, extract::client::Client};
use actix_web::{HttpResponse, http::StatusCode, web};
use docent_app::{accounts::verification, error::Error};

const TITLE: &str = "Confirm your e-mail address";

pub(crate) async fn page(context: State, link: web::Query<Link>) -> HttpResponse {
    let content = format!(
        "<p class=\"hint\">The button shows that this address is yours.</p>\n<form method=\"post\">\n<input type=\"hidden\" name=\"token\" value=\"{}\">\n\
         <button type=\"submit\">Confirm</button>\n</form>\n",
        escaped(&link.token),
    );
    Page { title: TITLE, alert: None, content: &content }.answer(&context, StatusCode::OK)
}

pub(crate) async fn submit(
    context: State,
    client: Client,
    form: web::Form<Link>,
) -> Result<HttpResponse, Refusal> {
    match verification::verify_email(&context.app, &form.token, client.address).await {
        Ok(()) => {
            let content = "<p>You can close this page.</p>\n";
            let page = Page { title: "Your e-mail address is confirmed", alert: None, content };
            Ok(page.answer(&context, StatusCode::OK))
        }
        Err(error @ Error::LinkRefused) => Ok(refused(&context, TITLE, &format!("{error}."))),
        Err(error) => Err(error.into()),
    }
}
