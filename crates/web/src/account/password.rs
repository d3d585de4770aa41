//! `/account/password`: changes the password.

use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::field::{self, FormView};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::SignedIn;
use actix_session::Session;
use docent_app::accounts::profile;
use docent_app::error::Error;
use docent_http::{Client, State, UserAgent};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PasswordPage {
    /// Whether the account has a password to change.
    has_password: bool,
    #[serde(flatten)]
    form: FormView,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    show_form(&signed_in, &context, &FieldErrors::default())
}

fn show_form(signed_in: &SignedIn, context: &State, errors: &FieldErrors) -> PageResult {
    let mut fields: Vec<_> = field::current_password(signed_in).into_iter().collect();
    fields.extend(field::new_password());
    let page =
        PasswordPage { has_password: signed_in.has_password, form: FormView::of(fields, Vec::new(), errors) };
    signed_in.show_account(errors.status(), context, "password", page)
}

pub(super) async fn submit(
    signed_in: SignedIn,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    form: OwnForm,
) -> PageResult {
    let mut errors = FieldErrors::default();
    if let Some(new) = field::chosen_password(&form, &mut errors) {
        let present = form.text("present").to_owned();
        match profile::change_password(&context.app, &signed_in.actor, present, new).await {
            Ok(()) => {
                signed_in.restart_session(&context.app, &cookie, client, agent).await?;
                signed_in.notify(t!("password-changed"))?;
                return Ok(page::see_other(ROOT));
            }
            Err(Error::InvalidCredentials) => errors.add("present", t!("is-incorrect")),
            Err(error) => errors.add_from(error)?,
        }
    }
    show_form(&signed_in, &context, &errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for PasswordPage {
        fn samples() -> Vec<Self> {
            [true, false]
                .into_iter()
                .zip(FormView::samples())
                .map(|(has_password, form)| Self { has_password, form })
                .collect()
        }
    }
}
