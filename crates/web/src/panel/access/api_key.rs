//! `/admin/api-keys/add`, `/admin/api-keys/{id}` and `/admin/api-keys/{id}/revoke`

use super::{
    editing::Confirmation,
    field::{self, Field, Picker},
    tables::{Emails, KeyRow},
};
use crate::panel::{
    form::{FieldErrors, Form, OwnForm},
    nav::ROOT,
    page::{self, PageError, PageResult, id_of},
    session::Staff,
};
use actix_web::{http::StatusCode, web::Path};
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use docent_app::{
    accounts::{
        api_keys::{self, ApiKeyInput},
        users,
    },
    error::Error,
};
use docent_domain::{
    access::{AddApiKeys, DeleteApiKeys, ViewApiKeys, ViewAuditLog},
    api_key::{ApiKey, ApiKeyName, ApiKeyScopes},
    error::ValidationError,
    id::UserId,
    permission::RecordKind,
    text::Email,
};
use docent_http::context::State;
use std::collections::BTreeSet;

/// Submitted form values of a key, valid or not.
struct Draft<'f> {
    account: &'f str,
    name: &'f str,
    scopes: BTreeSet<&'f str>,
    expires_at: &'f str,
}

fn show_form(
    staff: &Staff,
    context: &State,
    status: StatusCode,
    draft: &Draft<'_>,
    errors: &FieldErrors,
) -> PageResult {
    let mut values = staff.page("api-keys");
    let mut fields = Vec::new();
    if staff.actor.authorize::<AddApiKeys>().is_ok() {
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
    field::insert(&mut values, fields, vec![Picker::scopes(&draft.scopes)], errors);
    insert_place(&mut values, staff, context);
    page::show_values(context, status, "api_key_form.html", &values)
}

/// Title and path of the page that lists the user's keys.
fn place(staff: &Staff) -> (&'static str, String) {
    let sees_all = staff.actor.authorize::<ViewApiKeys>().is_ok();
    let (title, place) = if sees_all { ("API keys", "api-keys") } else { ("Your account", "account") };
    (title, format!("{ROOT}/{place}"))
}

/// Template values about the list of keys and whether API keys are enabled.
fn insert_place(values: &mut tera::Context, staff: &Staff, context: &State) {
    let (section, section_href) = place(staff);
    values.insert("section", section);
    values.insert("section_href", &section_href);
    values.insert("are_accepted", &context.app.settings().accepts_api_keys);
}

pub(super) async fn add(staff: Staff, context: State) -> PageResult {
    let draft = Draft { account: staff.email.as_str(), name: "", scopes: BTreeSet::new(), expires_at: "" };
    show_form(&staff, &context, StatusCode::OK, &draft, &FieldErrors::default())
}

pub(super) async fn create(staff: Staff, context: State, OwnForm(form): OwnForm) -> PageResult {
    let draft = Draft {
        account: form.text("account"),
        name: form.text("name"),
        scopes: field::scopes(form.all("scopes")),
        expires_at: form.text("expires_at"),
    };
    let mut errors = FieldErrors::default();
    if let Some(request) = request(&staff, &context, &form, &mut errors).await? {
        match api_keys::create(&context.app, &staff.actor, request).await {
            Ok(new) => return show_made(&staff, &context, &new).await,
            Err(error) => errors.hear(error)?,
        }
    }
    show_form(&staff, &context, StatusCode::UNPROCESSABLE_ENTITY, &draft, &errors)
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
            errors.hear(error)?;
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

/// The page that shows a new key, once.
async fn show_made(staff: &Staff, context: &State, new: &api_keys::NewApiKey) -> PageResult {
    let mut values = staff.page("api-keys");
    values.insert("key", &row(staff, context, &new.record).await?);
    values.insert("secret", &new.key);
    insert_place(&mut values, staff, context);
    page::show_values(context, StatusCode::OK, "api_key_made.html", &values)
}

async fn row(staff: &Staff, context: &State, key: &ApiKey) -> Result<KeyRow, Error> {
    let emails: Emails = users::emails(&context.app, &[key.user]).await?;
    Ok(KeyRow::of(key, &emails, staff, context.app.now()))
}

pub(super) async fn show(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    let mut values = staff.page("api-keys");
    values.insert("key", &row(&staff, &context, &key).await?);
    values.insert("may_view_audit", &staff.actor.authorize::<ViewAuditLog>().is_ok());
    insert_place(&mut values, &staff, &context);
    page::show_values(&context, StatusCode::OK, "api_key.html", &values)
}

pub(super) async fn confirm(staff: Staff, context: State, id: Path<String>) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    staff.actor.authorize_for::<DeleteApiKeys>(Some(key.user)).map_err(Error::from)?;
    let path = format!("{ROOT}/api-keys/{}", key.id);
    let (section, section_href) = place(&staff);
    let confirmation = Confirmation {
        section,
        section_href,
        name: key.name.as_str(),
        question: "Revoke this key?".to_owned(),
        consequences: &["Programs that use this key lose access immediately.", "This cannot be undone."],
        action: format!("{path}/revoke"),
        verb: "Revoke the key".to_owned(),
        cancel: path,
    };
    confirmation.show(&staff, &context, "api-keys")
}

pub(super) async fn revoke(
    staff: Staff,
    context: State,
    id: Path<String>,
    OwnForm(_): OwnForm,
) -> PageResult {
    let key = api_keys::get(&context.app, &staff.actor, id_of(RecordKind::ApiKey, &id)?).await?;
    api_keys::revoke(&context.app, &staff.actor, key.id).await?;
    staff.notify(format!("The key {} was revoked.", key.name.as_str()))?;
    Ok(page::see_other(&format!("{ROOT}/api-keys/{}", key.id)))
}
