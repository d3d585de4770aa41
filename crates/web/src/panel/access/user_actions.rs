//! `/admin/users/{id}/password`, `…/end-sessions`, `…/reset-second-factor` and `…/identities/disconnect`

use super::user_page::disconnect_link;
use crate::language::t;
use crate::panel::nav::ROOT;
use crate::signed_in::area::Area;
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::field::{self, FormView};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::page::{self, PageError, PageResult, id_of};
use crate::signed_in::session::Staff;
use actix_session::Session;
use actix_web::web::Path;
use docent_app::accounts::single_sign_on::connections::{self, AccountIdentity};
use docent_app::accounts::users::{self, Account};
use docent_app::accounts::{second_factor, sessions};
use docent_app::error::Error;
use docent_app::scope;
use docent_domain::access::{ChangeUsers, Grant};
use docent_domain::delegation::Access;
use docent_domain::permission::RecordKind;
use docent_http::{Client, Query, State, UserAgent};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PasswordPage {
    #[serde(flatten)]
    form: FormView,
    /// ID of the account.
    account: String,
    email: String,
}

/// Account that is to be changed, for staff with its access. Checks permissions before the form is shown.
pub(super) async fn manageable(
    staff: &Staff,
    context: &State,
    id: &str,
) -> Result<(Account, Grant<ChangeUsers>), PageError> {
    changeable(staff, context, id, Account::access).await
}

/// Account that is to be taken over, for staff with its access and that to its data.
async fn takeable(
    staff: &Staff,
    context: &State,
    id: &str,
) -> Result<(Account, Grant<ChangeUsers>), PageError> {
    changeable(staff, context, id, |account| account.access().with_data()).await
}

async fn changeable(
    staff: &Staff,
    context: &State,
    id: &str,
    needed: impl Fn(&Account) -> Access,
) -> Result<(Account, Grant<ChangeUsers>), PageError> {
    let (view, grant) = (staff.authorize()?, staff.authorize()?);
    let account = users::get(&context.app, view, id_of(RecordKind::User, id)?).await?;
    let scope = scope::load(&context.app, &staff.actor).await?;
    staff.actor.ensure_can_manage(&scope, &needed(&account)).map_err(Error::from)?;
    Ok((account, grant))
}

pub(super) async fn password(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let (account, _) = takeable(&staff, &context, &id).await?;
    show_password(&staff, &context, &account, &FieldErrors::default())
}

fn show_password(staff: &Staff, context: &State, account: &Account, errors: &FieldErrors) -> PageResult {
    let page = PasswordPage {
        form: FormView::of(field::new_password().into(), Vec::new(), errors),
        account: account.user.id.to_string(),
        email: account.user.email.as_str().to_owned(),
    };
    staff.show_with(errors.status(), context, "users", page)
}

pub(super) async fn set_password(
    staff: Staff,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    id: Path<String>,
    form: OwnForm,
) -> PageResult {
    let (account, grant) = takeable(&staff, &context, &id).await?;
    let mut errors = FieldErrors::default();
    let Some(password) = field::chosen_password(&form, &mut errors) else {
        return show_password(&staff, &context, &account, &errors);
    };
    let id = account.user.id;
    users::set_password(&context.app, &staff.actor, grant, id, password).await?;
    if id == staff.actor.user() {
        staff.restart_session(&context.app, &cookie, client, agent).await?;
    }
    staff.notify(t!("user-password-set"))?;
    Ok(page::see_other(&format!("{ROOT}/users/{id}")))
}

pub(super) async fn end_sessions(
    staff: Staff,
    context: State,
    cookie: Session,
    id: Path<String>,
    form: OwnForm,
) -> PageResult {
    let id = id_of(RecordKind::User, &id)?;
    sessions::revoke_all(&context.app, &staff.actor, id).await?;
    if id == staff.actor.user() {
        cookie.purge();
        return Ok(page::see_other(&format!("{ROOT}/login")));
    }
    staff.notify(t!("user-sessions-ended"))?;
    Ok(page::see_other(Area::Panel.page(form.text("back"))))
}

pub(super) async fn reset_second_factor(
    staff: Staff,
    context: State,
    id: Path<String>,
    _: OwnForm,
) -> PageResult {
    let (account, grant) = takeable(&staff, &context, &id).await?;
    let id = account.user.id;
    second_factor::reset(&context.app, &staff.actor, &grant, id).await?;
    if id != staff.actor.user() {
        staff.notify(t!("user-second-factor-reset"))?;
    }
    Ok(page::see_other(&format!("{ROOT}/users/{id}")))
}

pub(super) async fn confirm_disconnect(
    staff: Staff,
    context: State,
    id: Path<String>,
    query: Query,
) -> PageResult {
    let (account, _) = takeable(&staff, &context, &id).await?;
    let user = &account.user;
    let path = format!("{ROOT}/users/{}", user.id);
    let all = connections::of_account(&context.app, staff.authorize()?, user.id).await?;
    let (issuer, subject) = named(&query);
    let is_named =
        |known: &&AccountIdentity| known.identity.issuer == issuer && known.identity.subject == subject;
    let Some(known) = all.iter().find(is_named) else { return Ok(page::see_other(&path)) };
    let provider = known.provider.as_str();
    let mut consequences = vec![t!("user-disconnect-sign-in", provider = provider)];
    if all.len() == 1 && !user.password.is_usable() {
        consequences.push(t!("user-disconnect-last"));
    }
    consequences.push(t!("user-disconnect-sessions"));
    let page = ConfirmPage {
        section: t!("records-user"),
        section_href: format!("{ROOT}/users"),
        name: user.email.as_str(),
        question: t!("user-disconnect-question", provider = provider),
        consequences,
        action: disconnect_link(&known.identity),
        verb: t!("user-disconnect-verb"),
        cancel: path,
    };
    staff.show(&context, "users", page)
}

pub(super) async fn disconnect(
    staff: Staff,
    context: State,
    id: Path<String>,
    query: Query,
    _: OwnForm,
) -> PageResult {
    let (account, grant) = takeable(&staff, &context, &id).await?;
    let id = account.user.id;
    connections::disconnect_account(&context.app, &staff.actor, &grant, id, named(&query)).await?;
    staff.notify(t!("identity-disconnected"))?;
    Ok(page::see_other(&format!("{ROOT}/users/{id}")))
}

/// Issuer and subject of the identity that a path names.
fn named(query: &Query) -> (&str, &str) {
    (query.text("issuer").unwrap_or_default(), query.text("subject").unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for PasswordPage {
        fn samples() -> Vec<Self> {
            let page = |form| Self { form, account: "1".to_owned(), email: "a@example.com".to_owned() };
            FormView::samples().map(page).into()
        }
    }
}
