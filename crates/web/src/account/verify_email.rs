//! `/account/verify-email`: verifies an email address.

use super::page::{done, failed, invalid, show};
use crate::language::request::AccountLanguage;
use crate::language::t;
use docent_app::accounts::verification;
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

fn title() -> String {
    t!("verify-email")
}

#[derive(Serialize)]
pub(crate) struct VerifyEmailPage {
    /// Token of the link.
    token: String,
}

pub(crate) async fn page(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    match link {
        Ok(link) => {
            let token = link.text("token").unwrap_or_default().to_owned();
            show(&context, title(), None, VerifyEmailPage { token })
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
    match verification::verify_email(&context.app, form.text("token"), client.address).await {
        Ok(()) => done(&context, t!("email-verified"), t!("email-verified-advice")),
        Err(error) => failed(&context, title(), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for VerifyEmailPage {
        fn samples() -> Vec<Self> {
            vec![Self { token: "token".to_owned() }]
        }
    }
}
