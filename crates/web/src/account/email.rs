//! `/account/email`: requests a change of the email address.

use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::field::{self, Field, FormView};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::SignedIn;
use docent_app::accounts::email_change;
use docent_app::error::Error;
use docent_domain::text::Email;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct EmailPage {
    /// Present address.
    email: String,
    can_change_email: bool,
    #[serde(flatten)]
    form: FormView,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    signed_in.ensure_proof_without_password()?;
    show_form(&signed_in, &context, "", &FieldErrors::default())
}

fn show_form(signed_in: &SignedIn, context: &State, new: &str, errors: &FieldErrors) -> PageResult {
    let mut fields = vec![Field::line("email", "email", t!("email-new"), new).required()];
    fields.extend(field::current_password(signed_in));
    let page = EmailPage {
        email: signed_in.email.as_str().to_owned(),
        can_change_email: email_change::is_possible(&context.app),
        form: FormView::of(fields, Vec::new(), errors),
    };
    signed_in.show_account(errors.status(), context, "", page)
}

pub(super) async fn submit(signed_in: SignedIn, context: State, form: OwnForm) -> PageResult {
    let mut errors = FieldErrors::default();
    if let Some(new) = errors.take("email", Email::parse(form.text("email").trim())) {
        let present = form.text("present").to_owned();
        match email_change::request(&context.app, &signed_in.actor, present, new.clone()).await {
            Ok(()) => {
                signed_in.notify(t!("email-link-sent", email = new.as_str()))?;
                return Ok(page::see_other(ROOT));
            }
            Err(Error::InvalidCredentials) => errors.add("present", t!("is-incorrect")),
            Err(error) => errors.add_from(error)?,
        }
    }
    show_form(&signed_in, &context, form.text("email"), &errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for EmailPage {
        fn samples() -> Vec<Self> {
            let forms = FormView::samples().into_iter().zip([true, false]);
            let page =
                |(form, can_change_email)| Self { email: "a@example.com".to_owned(), can_change_email, form };
            forms.map(page).collect()
        }
    }
}
