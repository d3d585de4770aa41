//! `/account/confirm-email`: confirms a change of the email address.

use super::page::{done, failed, invalid, show};
use crate::language::request::AccountLanguage;
use crate::language::t;
use docent_app::accounts::email_change;
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

fn title() -> String {
    t!("confirm-email")
}

#[derive(Serialize)]
pub(crate) struct ConfirmEmailPage {
    /// Token of the link.
    token: String,
}

pub(crate) async fn page(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    match link {
        Ok(link) => {
            let token = link.text("token").unwrap_or_default().to_owned();
            show(&context, title(), None, ConfirmEmailPage { token })
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
    match email_change::confirm(&context.app, form.text("token"), client.address).await {
        Ok(()) => done(&context, t!("email-changed"), t!("email-changed-advice")),
        Err(error) => failed(&context, title(), error),
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
