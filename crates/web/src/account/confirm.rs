//! `/account/confirm`: asks again for the password or a code before an operation that needs a recent proof of
//! identity.
//!
//! Afterwards it opens the requested page, or sends the form on that was submitted without the proof.

use crate::language::t;
use crate::signed_in::area::Area;
use crate::signed_in::field::{Field, FormView};
use crate::signed_in::form::{FieldErrors, Form, OwnForm};
use crate::signed_in::page::PROOF_PAGE;
use crate::signed_in::page::PageResult;
use crate::signed_in::proof;
use crate::signed_in::session::SignedIn;
use crate::signed_in::single_sign_on::buttons::{ProviderLink, proof_links};
use docent_app::accounts::profile;
use docent_app::accounts::single_sign_on::connections::{self, Connection};
use docent_app::error::Error;
use docent_domain::error::Rule;
use docent_http::{Query, State};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ConfirmIdentityPage {
    /// Target of the form.
    action: String,
    /// Fields besides the proof: the page to open afterwards, or all fields of the form that is sent on.
    kept: Vec<(String, String)>,
    /// Whether it is the form that is sent on.
    is_sent_on: bool,
    /// Whether the account has a password or a second factor to enter.
    has_field: bool,
    /// Links to identity providers.
    providers: Vec<ProviderLink>,
    #[serde(flatten)]
    form: FormView,
}

/// What follows the proof.
enum Continuation<'a> {
    /// A page is opened.
    Open(&'a str),
    /// The fields of another form are sent to this path.
    Send(&'a str),
}

impl<'a> Continuation<'a> {
    fn of(query: &'a Query, form: &'a Form) -> Self {
        // The web chat has no forms.
        let is_form = |action: &&str| {
            let area = Area::of(action);
            area.page(action) == *action && action.starts_with(area.root())
        };
        match query.text("action").filter(is_form) {
            Some(action) => Self::Send(action),
            None => Self::Open(form.text("next")),
        }
    }

    /// Page to open after a proof at an identity provider, where the fields of a form are lost.
    fn page_after_provider(&self) -> &str {
        match *self {
            Self::Open(next) => own_page(next),
            Self::Send(action) => Area::of(action).root(),
        }
    }

    fn page(
        &self,
        form: Option<&Form>,
        fields: FormView,
        has_field: bool,
        connections: &[Connection],
    ) -> ConfirmIdentityPage {
        let providers = proof_links(connections, self.page_after_provider());
        let (action, kept) = match *self {
            Self::Open(next) => (PROOF_PAGE.to_owned(), vec![("next".to_owned(), own_page(next).to_owned())]),
            Self::Send(action) => {
                let is_own = |name: &str| matches!(name, "form_token" | PROOF);
                let kept = form.into_iter().flat_map(Form::fields).filter(|(name, _)| !is_own(name));
                let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
                (proof::submit_link(action), kept.map(owned).collect())
            }
        };
        let is_sent_on = matches!(self, Self::Send(_));
        ConfirmIdentityPage { action, kept, is_sent_on, has_field, providers, form: fields }
    }
}

/// The page to open afterwards, or else that of the account.
fn own_page(next: &str) -> &str {
    if Area::of(next).page(next) == next { next } else { Area::Account.root() }
}

/// Name of the field.
const PROOF: &str = "proof";

pub(super) async fn show(signed_in: SignedIn, context: State, query: Query) -> PageResult {
    let next = Continuation::Open(query.text("next").unwrap_or_default());
    show_form(&signed_in, &context, &next, None, &FieldErrors::default()).await
}

async fn show_form(
    signed_in: &SignedIn,
    context: &State,
    next: &Continuation<'_>,
    submitted: Option<&Form>,
    errors: &FieldErrors,
) -> PageResult {
    let field =
        Field::password(PROOF, t!("confirm-proof"), "current-password").help(t!("confirm-proof-help"));
    let connections = connections::list(&context.app, &signed_in.actor).await?;
    let (user, _) = profile::get(&context.app, &signed_in.actor).await?;
    let has_field = user.password.is_usable() || user.confirmed_second_factor().is_some();
    let fields = FormView::of(vec![field], Vec::new(), errors);
    let page = next.page(submitted, fields, has_field, &connections);
    signed_in.show_account(errors.status(), context, "", page)
}

pub(super) async fn submit(signed_in: SignedIn, context: State, query: Query, form: OwnForm) -> PageResult {
    let (next, proof) = (Continuation::of(&query, &form), form.text(PROOF).to_owned());
    let mut errors = FieldErrors::default();
    // A form that was redirected here has no such field.
    if matches!(next, Continuation::Send(_)) && !form.is_ticked(PROOF) {
        return show_form(&signed_in, &context, &next, Some(&form), &errors).await;
    }
    if proof.is_empty() {
        errors.add_rule(PROOF, Rule::NotEmpty);
        return show_form(&signed_in, &context, &next, Some(&form), &errors).await;
    }
    match profile::prove_identity(&context.app, &signed_in.actor, signed_in.session, proof).await {
        Ok(()) => match next {
            Continuation::Open(page) => return signed_in.open(own_page(page)),
            Continuation::Send(action) => return Ok(proof::send_to(action)),
        },
        Err(Error::InvalidCredentials) => errors.add(PROOF, t!("is-incorrect")),
        Err(error) => errors.add_from(error)?,
    }
    show_form(&signed_in, &context, &next, Some(&form), &errors).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConfirmIdentityPage {
        fn samples() -> Vec<Self> {
            let kept = || vec![("next".to_owned(), "/admin/users/add".to_owned())];
            let [form, other] = FormView::samples();
            let page = |form, is_sent_on| Self {
                action: PROOF_PAGE.to_owned(),
                kept: kept(),
                is_sent_on,
                has_field: !is_sent_on,
                providers: if is_sent_on { ProviderLink::samples() } else { Vec::new() },
                form,
            };
            vec![page(form, false), page(other, true)]
        }
    }
}
