//! `/account/confirm-email`: confirms a change of the email address.

use super::page::{done, failed, invalid, show};
use docent_app::accounts::email_change;
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

const TITLE: &str = "Confirm your new email address";

#[derive(Serialize)]
pub(crate) struct ConfirmEmailPage {
    /// Token of the link.
    token: String,
}

pub(crate) async fn page(context: State, link: Result<Query, ApiError>) -> Reply {
    match link {
        Ok(link) => {
            let token = link.text("token").unwrap_or_default().to_owned();
            show(&context, TITLE, None, ConfirmEmailPage { token })
        }
        Err(error) => invalid(&context, TITLE, &error),
    }
}

pub(crate) async fn submit(context: State, client: Client, form: Result<Form, ApiError>) -> Reply {
    let form = match form {
        Ok(form) => form,
        Err(error) => return invalid(&context, TITLE, &error),
    };
    match email_change::confirm(&context.app, form.text("token"), client.address).await {
        Ok(()) => {
            done(&context, "Your email address has been changed", "Sign in with the new address from now on.")
        }
        Err(error) => failed(&context, TITLE, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConfirmEmailPage {
        fn samples() -> Vec<Self> {
            vec![Self { token: "token".to_owned() }]
        }
    }
}
