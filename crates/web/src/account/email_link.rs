//! `/account/verify-email` and `/account/confirm-email`: verify an address, and confirm a change to it.

use super::page::{self, done, failed};
use crate::language::request::AccountLanguage;
use crate::language::t;
use docent_app::accounts::{email_change, verification};
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct EmailLinkPage {
    hint: String,
    /// Token of the link.
    token: String,
}

pub(crate) async fn verify(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    let page = |token| EmailLinkPage { hint: t!("verify-email-hint"), token };
    page::of_link(&context, t!("verify-email"), link, page)
}

pub(crate) async fn submit_verify(
    _: AccountLanguage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    let title = t!("verify-email");
    page::submitted(&context, title.clone(), form, async |form| {
        match verification::verify_email(&context.app, form.text("token"), client.address).await {
            Ok(()) => done(&context, t!("email-verified"), t!("email-verified-advice")),
            Err(error) => failed(&context, title, error),
        }
    })
    .await
}

pub(crate) async fn confirm(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    let page = |token| EmailLinkPage { hint: t!("confirm-email-hint"), token };
    page::of_link(&context, t!("confirm-email"), link, page)
}

pub(crate) async fn submit_confirm(
    _: AccountLanguage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    let title = t!("confirm-email");
    page::submitted(&context, title.clone(), form, async |form| {
        match email_change::confirm(&context.app, form.text("token"), client.address).await {
            Ok(()) => done(&context, t!("email-changed"), t!("email-changed-advice")),
            Err(error) => failed(&context, title, error),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for EmailLinkPage {
        fn samples() -> Vec<Self> {
            vec![Self { hint: "Select the button.".to_owned(), token: "token".to_owned() }]
        }
    }
}
