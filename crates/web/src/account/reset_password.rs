//! `/account/reset-password`: sets a new password.

use super::page::{done, failed, invalid, show};
use crate::language::request::AccountLanguage;
use crate::language::{self, t};
use docent_app::accounts::verification;
use docent_domain::user::Password;
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

fn title() -> String {
    t!("reset-password")
}

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

pub(crate) async fn page(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    match link {
        Ok(link) => {
            show(&context, title(), None, ResetPasswordPage::of(link.text("token").unwrap_or_default()))
        }
        Err(error) => invalid(&context, title(), &error),
    }
}

pub(crate) async fn submit(
    _: AccountLanguage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    let form = match form {
        Ok(form) => form,
        Err(error) => return invalid(&context, title(), &error),
    };
    let token = form.text("token");
    let password = match Password::parse_new(form.text("password").to_owned()) {
        Ok(password) => password,
        Err(error) => {
            let alert = language::field_sentence(&t!("password-subject"), &error);
            return show(&context, title(), Some(alert), ResetPasswordPage::of(token));
        }
    };
    match verification::reset_password(&context.app, token, password, client.address).await {
        Ok(()) => done(&context, t!("password-reset"), t!("password-reset-advice")),
        Err(error) => failed(&context, title(), error),
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
