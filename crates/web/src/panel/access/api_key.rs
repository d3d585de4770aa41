//! `/admin/api-keys/add`, `/admin/api-keys/{id}` and `/admin/api-keys/{id}/revoke`

use super::tables::page_of;
use crate::language::t;
use crate::panel::nav::ROOT;
use crate::signed_in::confirm::ConfirmPage;
use crate::signed_in::field::{self, Field};
use crate::signed_in::form::{FieldErrors, OwnForm};
use crate::signed_in::key_form::{ApiKeyCreatedPage, ApiKeyFormPage, KeyDraft, KeySection};
use crate::signed_in::page::{self, PageError, PageResult, id_of};
use crate::signed_in::rows::{self, Emails, KeyRow};
use crate::signed_in::session::Staff;
use actix_web::web::Path;
use docent_app::accounts::{api_keys, users};
use docent_app::error::Error;
use docent_domain::access::{AddApiKeys, DeleteApiKeys, ViewApiKeys, ViewAuditLog};
use docent_domain::api_key::ApiKey;
use docent_domain::id::UserId;
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_http::State;
use serde::Serialize;

/// Form for a key of any account or, without the permission, of the actor's own.
fn show_form(
    staff: &Staff,
    context: &State,
    account: &str,
    draft: &KeyDraft<'_>,
    errors: &FieldErrors,
) -> PageResult {
    let mut fields = Vec::new();
    if staff.can::<AddApiKeys>() {
        let account = Field::line("email", "account", t!("account"), account).required();
        fields.push(account.help(t!("key-account-help")));
    }
    let page = ApiKeyFormPage::of(fields, &[], draft, errors, section(staff, context));
    staff.show_with(errors.status(), context, "api-keys", page)
}

/// The page that lists the user's keys.
fn section(staff: &Staff, context: &State) -> KeySection {
    let (title, href) = if staff.can::<ViewApiKeys>() {
        (t!("api-keys"), format!("{ROOT}/api-keys"))
    } else {
        (t!("your-account"), "/account/api-keys".to_owned())
    };
    KeySection::of(title, href, format!("{ROOT}/api-keys/add"), context)
}

#[derive(Serialize)]
pub(super) struct ApiKeyPage {
    key: KeyRow,
    /// Names of the scopes and what each allows.
    scopes: Vec<(&'static str, String)>,
    may_view_audit: bool,
    #[serde(flatten)]
    section: KeySection,
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    staff.authorize_own::<AddApiKeys>()?;
    show_form(&staff, &context, staff.email.as_str(), &KeyDraft::default(), &FieldErrors::default())
}

pub(super) async fn create(staff: Staff, context: State, form: OwnForm) -> PageResult {
    staff.authorize_own::<AddApiKeys>()?;
    let (draft, mut errors) = (KeyDraft::of(&form), FieldErrors::default());
    let user = owner(&staff, &context, form.text("account"), &mut errors).await?;
    if let Some(input) = draft.input(user, &mut errors) {
        match api_keys::create(&context.app, &staff.actor, input).await {
            Ok(new) => {
                let key = row(&staff, &context, &new.record).await?;
                let page = ApiKeyCreatedPage::of(key, new, section(&staff, &context), &context);
                return staff.show(&context, "api-keys", page);
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    show_form(&staff, &context, form.text("account"), &draft, &errors)
}

async fn owner(
    staff: &Staff,
    context: &State,
    account: &str,
    errors: &mut FieldErrors,
) -> Result<Option<UserId>, PageError> {
    if account.is_empty() || account == staff.email.as_str() {
        return Ok(Some(staff.actor.user()));
    }
    let grant = staff.authorize::<AddApiKeys>()?;
    let Some(email) = errors.take("account", Email::parse(account)) else { return Ok(None) };
    match api_keys::owner(&context.app, grant, &email).await {
        Ok(user) => Ok(Some(user)),
        Err(error) => {
            errors.add_from(error)?;
            Ok(None)
        }
    }
}

async fn row(staff: &Staff, context: &State, key: &ApiKey) -> Result<KeyRow, Error> {
    let emails: Emails = users::emails(&context.app, &rows::accounts_of([key])).await?;
    let row = KeyRow::of(key, &emails, staff, context.app.now());
    Ok(row.with_owner_page(page_of(staff, key.user)))
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    let page = ApiKeyPage {
        key: row(&staff, &context, &key).await?,
        scopes: key.scopes.iter().map(|scope| (scope.name(), field::purpose(scope))).collect(),
        may_view_audit: staff.can::<ViewAuditLog>(),
        section: section(&staff, &context),
    };
    staff.show(&context, "api-keys", page)
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    staff.actor.authorize_for::<DeleteApiKeys>(Some(key.user)).map_err(Error::from)?;
    let path = format!("{ROOT}/api-keys/{}", key.id);
    let KeySection { section, section_href, .. } = section(&staff, &context);
    let page = ConfirmPage {
        section,
        section_href,
        name: key.name.as_str(),
        question: t!("key-revoke-question"),
        consequences: vec![t!("key-revoke-access"), t!("cannot-be-undone")],
        action: format!("{path}/revoke"),
        verb: t!("key-revoke"),
        cancel: path,
    };
    staff.show(&context, "api-keys", page)
}

pub(super) async fn revoke(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    api_keys::revoke(&context.app, &staff.actor, key.id).await?;
    staff.notify(t!("key-revoked", name = key.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/api-keys/{}", key.id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ApiKeyPage {
        fn samples() -> Vec<Self> {
            let keys = KeyRow::samples().into_iter().zip(KeySection::samples());
            let page = |(key, section): (_, KeySection)| Self {
                key,
                scopes: vec![("read", "List documents.".to_owned())],
                may_view_audit: section.are_accepted,
                section,
            };
            keys.map(page).collect()
        }
    }
}
