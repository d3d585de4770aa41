//! `/account/forgot-password`: sends a link that sets a new password.

use super::page::{self, done, refused, show};
use crate::language::request::AccountLanguage;
use crate::language::t;
use docent_app::accounts::verification;
use docent_app::error::Error;
use docent_domain::verification::VerificationPurpose;
use docent_http::{ApiError, Client, Form, Reply, State};
use serde::Serialize;

fn title() -> String {
    t!("forgot-password")
}

#[derive(Serialize)]
pub(crate) struct ForgotPasswordPage {
    /// Whether the service can send email.
    sends_email: bool,
    /// Submitted email address.
    email: String,
}

impl ForgotPasswordPage {
    fn of(context: &State, email: &str) -> Self {
        Self { sends_email: verification::is_possible(&context.app), email: email.to_owned() }
    }
}

pub(crate) async fn page(_: AccountLanguage, context: State) -> Reply {
    show(&context, title(), None, ForgotPasswordPage::of(&context, ""))
}

/// Responds before anything that depends on the account is done, so that nothing shows whether it exists.
pub(crate) async fn submit(
    _: AccountLanguage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    page::submitted(&context, title(), form, async |form| {
        let (app, email) = (&context.app, form.text("email"));
        let page = ForgotPasswordPage::of(&context, email);
        if !page.sends_email {
            return show(&context, title(), None, page);
        }
        match verification::request(app, VerificationPurpose::ResetPassword, email, client.address).await {
            Ok(sending) => {
                app.spawn(sending);
                done(&context, t!("link-sent"), t!("link-sent-advice"))
            }
            Err(Error::Invalid(_)) => show(&context, title(), Some(t!("email-not-valid")), page),
            Err(error) => refused(&context, title(), &error.into(), page),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ForgotPasswordPage {
        fn samples() -> Vec<Self> {
            let page = |sends_email, email: &str| Self { sends_email, email: email.to_owned() };
            vec![page(true, ""), page(true, "a@example.com"), page(false, "")]
        }
    }
}
