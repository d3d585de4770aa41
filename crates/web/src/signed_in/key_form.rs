//! Form that creates an API key, and the page that shows the new key once.

use super::field::{self, Field, FormView, Picker};
use super::form::{FieldErrors, Form};
use super::rows::KeyRow;
use crate::language::t;
use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use docent_app::accounts::api_keys::{ApiKeyInput, NewApiKey};
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, UserId};
use docent_http::State;
use serde::Serialize;
use std::collections::BTreeSet;

/// Submitted form values of a key, valid or not.
#[derive(Default)]
pub(crate) struct KeyDraft<'f> {
    name: &'f str,
    scopes: Vec<&'f str>,
    collections: Vec<&'f str>,
    expires_at: &'f str,
}

impl<'f> KeyDraft<'f> {
    pub(crate) fn of(form: &'f Form) -> Self {
        Self {
            name: form.text("name"),
            scopes: form.all("scopes").collect(),
            collections: form.all("collections").collect(),
            expires_at: form.text("expires_at"),
        }
    }

    /// The requested key for an account, if the form is valid.
    pub(crate) fn input(&self, user: Option<UserId>, errors: &mut FieldErrors) -> Option<ApiKeyInput> {
        let name = errors.take("name", ApiKeyName::parse(self.name));
        let scopes = errors.take("scopes", ApiKeyScopes::parse(self.scopes.iter().copied()));
        let collections = errors.take("collections", collections(&self.collections));
        let expires_at = errors.take("expires_at", start_of_day(self.expires_at));
        Some(ApiKeyInput {
            user: user?,
            name: name?,
            scopes: scopes?,
            collections: collections?,
            expires_at: expires_at?,
        })
    }
}

/// The chosen collections; none if the key is for all.
pub(crate) fn collections(ids: &[&str]) -> Result<Option<BTreeSet<CollectionId>>, ValidationError> {
    let parsed: Result<BTreeSet<CollectionId>, _> = ids.iter().map(|id| id.parse()).collect();
    let parsed = parsed.map_err(|_| ValidationError::new("collections", t!("not-a-collection")))?;
    Ok((!parsed.is_empty()).then_some(parsed))
}

/// Start of a day; none if the field is empty.
fn start_of_day(text: &str) -> Result<Option<DateTime<Utc>>, ValidationError> {
    if text.is_empty() {
        return Ok(None);
    }
    let day: NaiveDate = text.parse().map_err(|_| ValidationError::new("expires_at", t!("not-a-date")))?;
    Ok(Some(day.and_time(NaiveTime::MIN).and_utc()))
}

/// The page that lists the user's keys, the target of the form, and whether the API accepts keys.
#[derive(Serialize)]
pub(crate) struct KeySection {
    pub(crate) section: String,
    pub(crate) section_href: String,
    pub(crate) action: String,
    pub(crate) are_accepted: bool,
}

impl KeySection {
    pub(crate) fn of(section: String, section_href: String, action: String, context: &State) -> Self {
        Self { section, section_href, action, are_accepted: context.app.settings().accepts_api_keys }
    }
}

/// Form for a new key.
#[derive(Serialize)]
pub(crate) struct ApiKeyFormPage {
    #[serde(flatten)]
    form: FormView,
    #[serde(flatten)]
    section: KeySection,
}

impl ApiKeyFormPage {
    /// A form with `fields` before those of every key. The key can be limited to some of these collections, each with its name.
    pub(crate) fn of(
        mut fields: Vec<Field>,
        collections: &[(CollectionId, String)],
        draft: &KeyDraft<'_>,
        errors: &FieldErrors,
        section: KeySection,
    ) -> Self {
        fields.push(Field::line("text", "name", t!("name"), draft.name).required().help(t!("key-name-help")));
        fields.push(
            Field::line("date", "expires_at", t!("expires"), draft.expires_at).help(t!("key-expires-help")),
        );
        let scopes: BTreeSet<_> = field::scopes(draft.scopes.iter().copied());
        let mut pickers = vec![Picker::scopes(&scopes)];
        if !collections.is_empty() {
            pickers.push(Picker::collections(collections, &draft.collections));
        }
        Self { form: FormView::of(fields, pickers, errors), section }
    }
}

/// Page that shows a new key, once.
#[derive(Serialize)]
pub(crate) struct ApiKeyCreatedPage {
    key: KeyRow,
    secret: String,
    /// A request to try the key with, if there is one that changes nothing.
    example: Option<String>,
    #[serde(flatten)]
    section: KeySection,
}

impl ApiKeyCreatedPage {
    pub(crate) fn of(key: KeyRow, new: NewApiKey, section: KeySection, context: &State) -> Self {
        let example = new.example_request(&context.app.settings().public_url);
        Self { key, secret: new.key, example, section }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl KeySection {
        pub(crate) fn samples() -> [Self; 2] {
            let section = |are_accepted| Self {
                section: "API keys".to_owned(),
                section_href: "/admin/api-keys".to_owned(),
                action: "/admin/api-keys/add".to_owned(),
                are_accepted,
            };
            [section(true), section(false)]
        }
    }

    impl Samples for ApiKeyFormPage {
        fn samples() -> Vec<Self> {
            let forms = FormView::samples().into_iter();
            forms.zip(KeySection::samples()).map(|(form, section)| Self { form, section }).collect()
        }
    }

    impl Samples for ApiKeyCreatedPage {
        fn samples() -> Vec<Self> {
            let keys = KeyRow::samples().into_iter().zip(KeySection::samples());
            let page = |(key, section)| Self {
                key,
                secret: "secret".to_owned(),
                example: Some("curl 'secret'".to_owned()),
                section,
            };
            keys.map(page).collect()
        }
    }
}
