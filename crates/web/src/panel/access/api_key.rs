//! `/admin/api-keys/add`, `/admin/api-keys/{id}` and `/admin/api-keys/{id}/revoke`

use super::confirm::ConfirmPage;
use super::field::{self, Field, FormView, Picker};
use super::tables::{Emails, KeyRow};
use crate::panel::form::{FieldErrors, Form, OwnForm};
use crate::panel::nav::ROOT;
use crate::panel::page::{self, PageError, PageResult, id_of};
use crate::panel::session::Staff;
use actix_web::web::Path;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::users;
use docent_app::error::Error;
use docent_domain::access::{AddApiKeys, DeleteApiKeys, ViewApiKeys, ViewAuditLog};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyScopes};
use docent_domain::error::ValidationError;
use docent_domain::id::UserId;
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_http::State;
use serde::Serialize;
use std::collections::BTreeSet;

/// Submitted form values of a key, valid or not.
struct Draft<'f> {
    account: &'f str,
    name: &'f str,
    scopes: BTreeSet<&'f str>,
    expires_at: &'f str,
}

fn show_form(staff: &Staff, context: &State, draft: &Draft<'_>, errors: &FieldErrors) -> PageResult {
    let mut fields = Vec::new();
    if staff.can::<AddApiKeys>() {
        let account = Field::line("email", "account", "Account", draft.account).required();
        fields.push(
            account.help("The account that the key acts for. It must not have more permissions than you."),
        );
    }
    fields.push(
        Field::line("text", "name", "Name", draft.name)
            .required()
            .help("For example the program that uses the key."),
    );
    fields.push(
        Field::line("date", "expires_at", "Expires", draft.expires_at)
            .help("The key stops working on this day (UTC). Leave empty for a key that does not expire."),
    );
    let page = ApiKeyFormPage {
        form: FormView::of(fields, vec![Picker::scopes(&draft.scopes)], errors),
        section: KeySection::of(staff, context),
    };
    staff.show_with(errors.status(), context, "api-keys", page)
}

/// The page that lists the user's keys, and whether the API accepts keys.
#[derive(Serialize)]
struct KeySection {
    section: &'static str,
    section_href: String,
    are_accepted: bool,
}

impl KeySection {
    fn of(staff: &Staff, context: &State) -> Self {
        let (section, path) =
            if staff.can::<ViewApiKeys>() { ("API keys", "api-keys") } else { ("Your account", "account") };
        let are_accepted = context.app.settings().accepts_api_keys;
        Self { section, section_href: format!("{ROOT}/{path}"), are_accepted }
    }
}

#[derive(Serialize)]
pub(super) struct ApiKeyFormPage {
    #[serde(flatten)]
    form: FormView,
    #[serde(flatten)]
    section: KeySection,
}

/// Page that shows a new key, once.
#[derive(Serialize)]
pub(super) struct ApiKeyCreatedPage {
    key: KeyRow,
    secret: String,
    #[serde(flatten)]
    section: KeySection,
}

#[derive(Serialize)]
pub(super) struct ApiKeyPage {
    key: KeyRow,
    may_view_audit: bool,
    #[serde(flatten)]
    section: KeySection,
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    let draft = Draft { account: staff.email.as_str(), name: "", scopes: BTreeSet::new(), expires_at: "" };
    show_form(&staff, &context, &draft, &FieldErrors::default())
}

pub(super) async fn create(staff: Staff, context: State, form: OwnForm) -> PageResult {
    let draft = Draft {
        account: form.text("account"),
        name: form.text("name"),
        scopes: field::scopes(form.all("scopes")),
        expires_at: form.text("expires_at"),
    };
    let mut errors = FieldErrors::default();
    if let Some(request) = request(&staff, &context, &form, &mut errors).await? {
        match api_keys::create(&context.app, &staff.actor, request).await {
            Ok(new) => {
                let (key, section) =
                    (row(&staff, &context, &new.record).await?, KeySection::of(&staff, &context));
                let page = ApiKeyCreatedPage { key, secret: new.key, section };
                return staff.show(&context, "api-keys", page);
            }
            Err(error) => errors.add_from(error)?,
        }
    }
    show_form(&staff, &context, &draft, &errors)
}

/// The requested key, if the form is valid.
async fn request(
    staff: &Staff,
    context: &State,
    form: &Form,
    errors: &mut FieldErrors,
) -> Result<Option<ApiKeyInput>, PageError> {
    let user = owner(staff, context, form.text("account"), errors).await?;
    let name = errors.take("name", ApiKeyName::parse(form.text("name")));
    let scopes = errors.take("scopes", ApiKeyScopes::parse(form.all("scopes")));
    let expires_at = errors.take("expires_at", end_of(form.text("expires_at")));
    let (Some(user), Some(name), Some(scopes), Some(expires_at)) = (user, name, scopes, expires_at) else {
        return Ok(None);
    };
    Ok(Some(ApiKeyInput { user, name, scopes, expires_at }))
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

/// Start of a day; none if the field is empty.
fn end_of(text: &str) -> Result<Option<DateTime<Utc>>, ValidationError> {
    if text.is_empty() {
        return Ok(None);
    }
    let day: NaiveDate =
        text.parse().map_err(|_| ValidationError::new("expires_at", "must be a date such as 2030-12-31"))?;
    Ok(Some(day.and_time(NaiveTime::MIN).and_utc()))
}

async fn row(staff: &Staff, context: &State, key: &ApiKey) -> Result<KeyRow, Error> {
    let emails: Emails = users::emails(&context.app, &[key.user]).await?;
    Ok(KeyRow::of(key, &emails, staff, context.app.now()))
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    let page = ApiKeyPage {
        key: row(&staff, &context, &key).await?,
        may_view_audit: staff.can::<ViewAuditLog>(),
        section: KeySection::of(&staff, &context),
    };
    staff.show(&context, "api-keys", page)
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    staff.actor.authorize_for::<DeleteApiKeys>(Some(key.user)).map_err(Error::from)?;
    let path = format!("{ROOT}/api-keys/{}", key.id);
    let KeySection { section, section_href, .. } = KeySection::of(&staff, &context);
    let page = ConfirmPage {
        section,
        section_href,
        name: key.name.as_str(),
        question: "Revoke this key?",
        consequences: &["Programs that use this key lose access immediately.", "This cannot be undone."],
        action: format!("{path}/revoke"),
        verb: "Revoke the key",
        cancel: path,
    };
    staff.show(&context, "api-keys", page)
}

pub(super) async fn revoke(staff: Staff, context: State, id: Path<String>, _: OwnForm) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    api_keys::revoke(&context.app, &staff.actor, key.id).await?;
    staff.notify(format!("The key {} was revoked.", key.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/api-keys/{}", key.id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    fn sections() -> [KeySection; 2] {
        let section = |are_accepted| KeySection {
            section: "API keys",
            section_href: "/admin/api-keys".to_owned(),
            are_accepted,
        };
        [section(true), section(false)]
    }

    impl Samples for ApiKeyFormPage {
        fn samples() -> Vec<Self> {
            let forms = FormView::samples().into_iter();
            forms.zip(sections()).map(|(form, section)| Self { form, section }).collect()
        }
    }

    impl Samples for ApiKeyCreatedPage {
        fn samples() -> Vec<Self> {
            let keys = KeyRow::samples().into_iter().zip(sections());
            keys.map(|(key, section)| Self { key, secret: "secret".to_owned(), section }).collect()
        }
    }

    impl Samples for ApiKeyPage {
        fn samples() -> Vec<Self> {
            let keys = KeyRow::samples().into_iter().zip(sections());
            keys.map(|(key, section)| Self { may_view_audit: section.are_accepted, key, section }).collect()
        }
    }
}
