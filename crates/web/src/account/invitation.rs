//! `/account/invitation`: accepts an invitation.

use super::page::{self, invalid_link, show};
use crate::language::request::AccountLanguage;
use crate::language::{self, t};
use crate::signed_in::single_sign_on::buttons::{ProviderLink, sign_in_links};
use docent_app::accounts::invitation_acceptance::{self as use_case, OpenInvitation};
use docent_app::error::Error;
use docent_domain::error::ValidationError;
use docent_domain::text::{PERSON_NAME_MAX, PersonName};
use docent_domain::user::Password;
use docent_http::{ApiError, Client, Form, Query, Reply, State};
use serde::Serialize;

fn title() -> String {
    t!("invitation")
}

#[derive(Serialize)]
pub(crate) struct InvitationPage {
    /// Token of the link.
    token: String,
    email: String,
    /// Submitted name.
    name: String,
    max_name_length: usize,
    /// Email address of the inviting account.
    by: Option<String>,
    has_password: bool,
    min_length: usize,
    providers: Vec<ProviderLink>,
}

impl InvitationPage {
    fn of(context: &State, invitation: &OpenInvitation, token: &str, name: &str) -> Self {
        Self {
            token: token.to_owned(),
            email: invitation.email.as_str().to_owned(),
            name: name.to_owned(),
            max_name_length: PERSON_NAME_MAX,
            by: invitation.invited_by.as_ref().map(|email| email.as_str().to_owned()),
            has_password: invitation.can_have_password,
            min_length: Password::MIN,
            providers: sign_in_links(&context.app, "/chat"),
        }
    }
}

/// Page after the acceptance.
#[derive(Serialize)]
pub(crate) struct InvitationAcceptedPage {
    email: String,
}

pub(crate) async fn page(_: AccountLanguage, context: State, link: Result<Query, ApiError>) -> Reply {
    let token = match link {
        Ok(link) => link.text("token").unwrap_or_default().to_owned(),
        Err(error) => return page::invalid(&context, title(), &error),
    };
    match use_case::open(&context.app, &token).await {
        Ok(invitation) => {
            show(&context, title(), None, InvitationPage::of(&context, &invitation, &token, ""))
        }
        Err(error) => failed(&context, error),
    }
}

pub(crate) async fn submit(
    _: AccountLanguage,
    context: State,
    client: Client,
    form: Result<Form, ApiError>,
) -> Reply {
    page::submitted(&context, title(), form, async |form| {
        let (app, token, name) = (&context.app, form.text("token"), form.text("name"));
        let refused = |subject: String, invalid| refused(&context, (token, name), subject, invalid);
        let chosen = match name.trim() {
            "" => None,
            name => match PersonName::parse(name) {
                Ok(name) => Some(name),
                Err(invalid) => return refused(t!("your-name"), invalid).await,
            },
        };
        let password = match Password::parse_new(form.text("password").to_owned()) {
            Ok(password) => password,
            Err(invalid) => return refused(t!("password-subject"), invalid).await,
        };
        match use_case::accept(app, token, chosen, password, client.address).await {
            Ok(user) => {
                let page = InvitationAcceptedPage { email: user.email.as_str().to_owned() };
                show(&context, t!("invitation-accepted"), None, page)
            }
            Err(Error::Invalid(invalid)) => refused(t!("password-subject"), invalid).await,
            Err(error) => failed(&context, error),
        }
    })
    .await
}

/// The form again, for another name or password.
async fn refused(
    context: &State,
    (token, name): (&str, &str),
    subject: String,
    invalid: ValidationError,
) -> Reply {
    let alert = language::field_sentence(&subject, &invalid);
    match use_case::open(&context.app, token).await {
        Ok(invitation) => {
            show(context, title(), Some(alert), InvitationPage::of(context, &invitation, token, name))
        }
        Err(error) => failed(context, error),
    }
}

fn failed(context: &State, error: Error) -> Reply {
    match error {
        Error::InvalidLink => invalid_link(context, title(), t!("invitation-invalid-advice")),
        error => page::failed(context, title(), error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for InvitationPage {
        fn samples() -> Vec<Self> {
            let page = |by: Option<&str>, has_password, providers| Self {
                token: "token".to_owned(),
                email: "guest@example.com".to_owned(),
                name: if has_password { "Guest".to_owned() } else { String::new() },
                max_name_length: PERSON_NAME_MAX,
                by: by.map(str::to_owned),
                has_password,
                min_length: Password::MIN,
                providers,
            };
            vec![
                page(Some("a@example.com"), true, Vec::new()),
                page(None, true, ProviderLink::samples()),
                page(None, false, ProviderLink::samples()),
            ]
        }
    }

    impl Samples for InvitationAcceptedPage {
        fn samples() -> Vec<Self> {
            vec![Self { email: "guest@example.com".to_owned() }]
        }
    }
}
