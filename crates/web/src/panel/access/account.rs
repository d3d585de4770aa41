//! `/admin/account`: the account page of the signed-in staff member.

use super::field::{self, Field, FormView};
use super::tables::{KeyRow, SessionRow};
use super::user_page::AccountFacts;
use crate::panel::form::{FieldErrors, OwnForm};
use crate::panel::nav::ROOT;
use crate::panel::page::{self, PageResult};
use crate::panel::session::Staff;
use actix_session::Session;
use docent_app::accounts::{api_keys, profile, sessions};
use docent_app::error::Error;
use docent_domain::listing::PageRequest;
use docent_http::{Client, State, UserAgent};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct AccountPage {
    account: AccountFacts,
    /// Form for changing the password.
    #[serde(flatten)]
    form: FormView,
    keys: Vec<KeyRow>,
    sessions: Vec<SessionRow>,
}

/// Maximum number of keys and sessions shown.
const OWN: PageRequest = PageRequest { offset: 0, limit: 100 };

pub(super) async fn account(staff: Staff, context: State) -> PageResult {
    show(&staff, &context, &FieldErrors::default()).await
}

async fn show(staff: &Staff, context: &State, errors: &FieldErrors) -> PageResult {
    let (app, now) = (&context.app, context.app.now());
    let (user, permissions) = profile::get(app, &staff.actor).await?;
    let keys = api_keys::list_own(app, &staff.actor, OWN).await?;
    let sessions = sessions::list_own(app, &staff.actor, OWN).await?;
    let emails = [(user.id, user.email.clone())].into_iter().collect();
    let mut fields = vec![Field::password("present", "Current password", "current-password")];
    fields.extend(field::new_password());
    let session_row = |session| SessionRow::of(session, &emails, staff, now);
    let page = AccountPage {
        account: AccountFacts::of(&user, permissions, now),
        form: FormView::of(fields, Vec::new(), errors),
        keys: keys.records.iter().map(|key| KeyRow::of(key, &emails, staff, now)).collect(),
        sessions: sessions.records.iter().map(session_row).collect(),
    };
    staff.show_with(errors.status(), context, "account", page)
}

pub(super) async fn change_password(
    staff: Staff,
    context: State,
    cookie: Session,
    client: Client,
    agent: UserAgent,
    form: OwnForm,
) -> PageResult {
    let mut errors = FieldErrors::default();
    if let Some(new) = field::chosen_password(&form, &mut errors) {
        let present = form.text("present").to_owned();
        match profile::change_password(&context.app, &staff.actor, present, new).await {
            Ok(()) => {
                staff.restart_session(&context.app, &cookie, client, agent).await?;
                staff.notify("Your password was changed, and your other sessions were ended.")?;
                return Ok(page::see_other(&format!("{ROOT}/account")));
            }
            Err(Error::InvalidCredentials) => errors.add("present", "is incorrect"),
            Err(error) => return Err(error.into()),
        }
    }
    show(&staff, &context, &errors).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for AccountPage {
        fn samples() -> Vec<Self> {
            let page = |(form, account)| Self {
                account,
                form,
                keys: KeyRow::samples(),
                sessions: SessionRow::samples(),
            };
            let forms = FormView::samples().into_iter().chain(FormView::samples());
            let mut pages: Vec<_> = forms.zip(AccountFacts::samples()).map(page).collect();
            pages[0].keys.clear();
            pages
        }
    }
}
