//! `/account/confirm`: asks again for the password or a code before an action that needs a recent proof of identity.

use crate::language::t;
use crate::signed_in::area::Area;
use crate::signed_in::field::{Field, FormView};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::SignedIn;
use docent_app::accounts::profile;
use docent_app::error::Error;
use docent_domain::error::Rule;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ConfirmIdentityPage {
    /// Page to open afterwards.
    next: String,
    #[serde(flatten)]
    form: FormView,
}

pub(super) async fn show(signed_in: SignedIn, context: State, query: Query) -> PageResult {
    show_form(&signed_in, &context, query.text("next").unwrap_or_default(), &FieldErrors::default())
}

fn show_form(signed_in: &SignedIn, context: &State, next: &str, errors: &FieldErrors) -> PageResult {
    let field =
        Field::password("proof", t!("confirm-proof"), "current-password").help(t!("confirm-proof-help"));
    let page = ConfirmIdentityPage {
        next: Area::of(next).page(next).to_owned(),
        form: FormView::of(vec![field], Vec::new(), errors),
    };
    signed_in.show_account(errors.status(), context, "", page)
}

pub(super) async fn submit(signed_in: SignedIn, context: State, form: OwnForm) -> PageResult {
    let (next, proof) = (form.text("next"), form.text("proof").to_owned());
    let mut errors = FieldErrors::default();
    if proof.is_empty() {
        errors.add_rule("proof", Rule::NotEmpty);
        return show_form(&signed_in, &context, next, &errors);
    }
    match profile::prove_identity(&context.app, &signed_in.actor, signed_in.session, proof).await {
        Ok(()) => return signed_in.open(Area::of(next).page(next)),
        Err(Error::InvalidCredentials) => errors.add("proof", t!("is-incorrect")),
        Err(error) => errors.add_from(error)?,
    }
    show_form(&signed_in, &context, next, &errors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConfirmIdentityPage {
        fn samples() -> Vec<Self> {
            FormView::samples().map(|form| Self { next: "/admin/users/add".to_owned(), form }).into()
        }
    }
}
