//! `/account/reset-password`: sets a new password.

use super::page::{done, failed, invalid, show};
use docent_app::accounts::verification;
use docent_domain::user::Password;
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

const TITLE: &str = "Choose a new password";

#[derive(Serialize)]
pub(crate) struct ResetPasswordPage {
    /// Token of the link.
    token: String,
    min_length: usize,
}

impl ResetPasswordPage {
    fn of(token: &str) -> Self {
        Self { token: token.to_owned(), min_length: Password::MIN }
    }
}

pub(crate) async fn page(context: State, link: Result<Query, ApiError>) -> Reply {
    match link {
        Ok(link) => {
            show(&context, TITLE, None, ResetPasswordPage::of(link.text("token").unwrap_or_default()))
        }
        Err(error) => invalid(&context, TITLE, &error),
    }
}

pub(crate) async fn submit(context: State, client: Client, form: Result<Form, ApiError>) -> Reply {
    let form = match form {
        Ok(form) => form,
        Err(error) => return invalid(&context, TITLE, &error),
    };
    let token = form.text("token");
    let password = match Password::parse_new(form.text("password").to_owned()) {
        Ok(password) => password,
        Err(error) => {
            let alert = format!("The password {}.", error.reason);
            return show(&context, TITLE, Some(alert), ResetPasswordPage::of(token));
        }
    };
    match verification::reset_password(&context.app, token, password, client.address).await {
        Ok(()) => done(
            &context,
            "Your password has been changed",
            "You can sign in with your new password now. All other sessions have ended.",
        ),
        Err(error) => failed(&context, TITLE, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ResetPasswordPage {
        fn samples() -> Vec<Self> {
            vec![Self::of("token")]
        }
    }
}
