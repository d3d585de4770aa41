//! `/account/reset-password`: sets a new password.

use super::page::{self, done, failed, show};
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
    fn of(token: String) -> Self {
        Self { token, min_length: Password::MIN }
    }
}

pub(crate) async fn page(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    page::of_link(&context, title(), link, ResetPasswordPage::of)
}

pub(crate) async fn submit(
    _: AccountLanguage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    page::submitted(&context, title(), form, async |form| {
        let token = form.text("token");
        let password = match Password::parse_new(form.text("password").to_owned()) {
            Ok(password) => password,
            Err(error) => {
                let alert = language::field_sentence(&t!("password-subject"), &error);
                return show(&context, title(), Some(alert), ResetPasswordPage::of(token.to_owned()));
            }
        };
        match verification::reset_password(&context.app, token, password, client.address).await {
            Ok(()) => done(&context, t!("password-reset"), t!("password-reset-advice")),
            Err(error) => failed(&context, title(), error),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ResetPasswordPage {
        fn samples() -> Vec<Self> {
            vec![Self::of("token".to_owned())]
        }
    }
}
