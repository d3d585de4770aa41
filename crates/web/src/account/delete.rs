//! `/account/delete`: deletes the account.

use super::nav::ROOT;
use crate::language::t;
use crate::signed_in::area::Area;
use crate::signed_in::field::{self, FormView};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::{self, PageResult};
use crate::signed_in::session::SignedIn;
use actix_session::Session;
use docent_app::accounts::profile;
use docent_app::error::Error;
use docent_domain::error::Rule;
use docent_http::State;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct DeletePage {
    email: String,
    #[serde(flatten)]
    form: FormView,
}

pub(super) async fn show(signed_in: SignedIn, context: State) -> PageResult {
    signed_in.ensure_proof_without_password()?;
    show_form(&signed_in, &context, &FieldErrors::default())
}

fn show_form(signed_in: &SignedIn, context: &State, errors: &FieldErrors) -> PageResult {
    let fields = field::current_password(signed_in).into_iter().collect();
    let page = DeletePage {
        email: signed_in.email.as_str().to_owned(),
        form: FormView::of(fields, Vec::new(), errors),
    };
    signed_in.show_account(errors.status(), context, "delete", page)
}

pub(super) async fn submit(
    signed_in: SignedIn,
    context: State,
    cookie: Session,
    form: OwnForm,
) -> PageResult {
    let mut errors = FieldErrors::default();
    let present = form.text("present").to_owned();
    if present.is_empty() && signed_in.has_password {
        errors.add_rule("present", Rule::NotEmpty);
        return show_form(&signed_in, &context, &errors);
    }
    match profile::delete(&context.app, &signed_in.actor, present).await {
        Ok(()) => {
            cookie.purge();
            return Ok(page::see_other(&Area::Account.login()));
        }
        Err(Error::InvalidCredentials) => errors.add("present", t!("is-incorrect")),
        Err(Error::LastSuperuser) => {
            signed_in.warn(t!("delete-last-superuser"))?;
            return Ok(page::see_other(&format!("{ROOT}/delete")));
        }
        Err(error) => errors.add_from(error)?,
    }
    show_form(&signed_in, &context, &errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for DeletePage {
        fn samples() -> Vec<Self> {
            FormView::samples().map(|form| Self { email: "a@example.com".to_owned(), form }).into()
        }
    }
}
