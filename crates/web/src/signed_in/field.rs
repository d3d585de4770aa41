//! Form fields as shown by templates.

use super::form::{FieldErrors, Form};
use super::session::SignedIn;
use crate::language::t;
use docent_domain::api_key::{ApiKeyScope, ApiKeyScopes};
use docent_domain::id::CollectionId;
use docent_domain::user::Password;
use serde::Serialize;
use std::collections::BTreeSet;

/// Form field, shown by `fields.html`.
#[derive(Serialize)]
pub(crate) struct Field {
    name: &'static str,
    label: String,
    kind: &'static str,
    value: String,
    help: String,
    autocomplete: &'static str,
    is_required: bool,
    is_ticked: bool,
    is_disabled: bool,
    /// Values and labels of the choices of a `select`.
    options: Vec<(String, String)>,
    error: Option<String>,
}

impl Field {
    fn new(kind: &'static str, name: &'static str, label: impl Into<String>) -> Self {
        Self {
            name,
            label: label.into(),
            kind,
            value: String::new(),
            help: String::new(),
            autocomplete: "off",
            is_required: false,
            is_ticked: false,
            is_disabled: false,
            options: Vec::new(),
            error: None,
        }
    }

    /// List of choices, of which one is selected.
    pub(crate) fn select(
        name: &'static str,
        label: impl Into<String>,
        value: &str,
        options: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        let options = options.into_iter().collect();
        Self { value: value.to_owned(), options, ..Self::new("select", name, label) }
    }

    /// Single-line input of type `text`, `email` or `date`.
    pub(crate) fn line(
        kind: &'static str,
        name: &'static str,
        label: impl Into<String>,
        value: &str,
    ) -> Self {
        Self { value: value.to_owned(), ..Self::new(kind, name, label) }
    }

    /// Input of several lines.
    pub(crate) fn text_area(name: &'static str, label: impl Into<String>, value: &str) -> Self {
        Self { value: value.to_owned(), is_required: true, ..Self::new("textarea", name, label) }
    }

    /// Password input; its value is never sent back to the browser.
    pub(crate) fn password(name: &'static str, label: impl Into<String>, autocomplete: &'static str) -> Self {
        Self { autocomplete, is_required: true, ..Self::new("password", name, label) }
    }

    /// Checkbox.
    pub(crate) fn tick(name: &'static str, label: impl Into<String>, is_ticked: bool) -> Self {
        Self { is_ticked, ..Self::new("checkbox", name, label) }
    }

    /// Adds help text.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: help.into(), ..self }
    }

    /// Marks the field as required.
    pub(crate) fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    /// Disables the field because the actor cannot change it.
    pub(crate) fn disabled(self, is_disabled: bool) -> Self {
        Self { is_disabled, ..self }
    }
}

/// Multiple-choice list of checkboxes, shown by `pickers.html`.
#[derive(Serialize)]
pub(crate) struct Picker {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) help: String,
    /// What is allowed without any of the choices.
    pub(crate) base: String,
    /// Text without choices.
    pub(crate) empty: String,
    pub(crate) has_panes: bool,
    pub(crate) kinds: Vec<Choices>,
    pub(crate) error: Option<String>,
}

/// Choices below a heading.
#[derive(Serialize)]
pub(crate) struct Choices {
    pub(crate) title: String,
    pub(crate) options: Vec<Choice>,
}

#[derive(Serialize)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
    /// What the choice allows.
    pub(crate) purpose: String,
    pub(crate) is_ticked: bool,
    pub(crate) is_disabled: bool,
}

impl Picker {
    /// Scopes of an API key.
    pub(crate) fn scopes(ticked: &BTreeSet<&str>) -> Self {
        let option = |scope: &ApiKeyScope| Choice {
            value: scope.name().to_owned(),
            label: scope.name().to_owned(),
            purpose: purpose(*scope),
            is_ticked: ticked.contains(scope.name()),
            is_disabled: false,
        };
        let options = ApiKeyScope::ALL.iter().map(option).collect();
        Self {
            name: "scopes",
            label: t!("key-scopes"),
            help: t!("key-scopes-help"),
            base: t!("every-account"),
            empty: String::new(),
            has_panes: false,
            kinds: vec![Choices { title: String::new(), options }],
            error: None,
        }
    }

    /// Collections that an API key is limited to.
    pub(crate) fn collections(collections: &[(CollectionId, String)], ticked: &[&str]) -> Self {
        let option = |(id, name): &(CollectionId, String)| {
            let value = id.to_string();
            let is_ticked = ticked.contains(&value.as_str());
            Choice { value, label: name.clone(), purpose: String::new(), is_ticked, is_disabled: false }
        };
        let options = collections.iter().map(option).collect();
        Self {
            name: "collections",
            label: t!("key-collections"),
            help: t!("key-collections-help"),
            base: String::new(),
            empty: String::new(),
            has_panes: false,
            kinds: vec![Choices { title: String::new(), options }],
            error: None,
        }
    }
}

/// What a scope allows, as a sentence.
pub(crate) fn purpose(scope: ApiKeyScope) -> String {
    match scope {
        ApiKeyScope::Read => t!("scope-read"),
        ApiKeyScope::Ingest => t!("scope-ingest"),
        ApiKeyScope::Chat => t!("scope-chat"),
        ApiKeyScope::Admin => t!("scope-admin"),
    }
}

/// The field for the current password, for accounts that have one; others prove their identity at an identity provider.
pub(crate) fn current_password(signed_in: &SignedIn) -> Option<Field> {
    signed_in.has_password.then(|| Field::password("present", t!("password-current"), "current-password"))
}

/// Fields for a new password and its repetition.
pub(crate) fn new_password() -> [Field; 2] {
    [
        Field::password("password", t!("password-new"), "new-password")
            .help(t!("password-help", min = Password::MIN)),
        Field::password("again", t!("password-again"), "new-password"),
    ]
}

/// The new password, if both fields match.
pub(crate) fn chosen_password(form: &Form, errors: &mut FieldErrors) -> Option<Password> {
    let password = errors.take("password", Password::parse_new(form.text("password").to_owned()));
    if form.text("password") != form.text("again") {
        errors.add("again", t!("does-not-match"));
    }
    password.filter(|_| errors.is_empty())
}

/// Names of the selected scopes, for redisplaying a form.
pub(crate) fn scopes<'n>(names: impl IntoIterator<Item = &'n str>) -> BTreeSet<&'n str> {
    names.into_iter().filter(|name| ApiKeyScopes::parse([*name]).is_ok()).collect()
}

/// Entry of the error summary above a form, which links to its field.
#[derive(Serialize)]
struct Problem {
    href: String,
    text: String,
}

/// Fields of a form and their errors, shown by `errors.html`, `fields.html` and `pickers.html`.
#[derive(Serialize)]
pub(crate) struct FormView {
    fields: Vec<Field>,
    pickers: Vec<Picker>,
    problems: Vec<Problem>,
}

impl FormView {
    pub(crate) fn of(mut fields: Vec<Field>, mut pickers: Vec<Picker>, errors: &FieldErrors) -> Self {
        let mut problems = Vec::new();
        let mut error_of = |name: &str, label: &str| {
            let text = errors.of(name).map(|reason| t!("field-error", field = label, reason = reason))?;
            problems.push(Problem { href: format!("#{name}"), text: text.clone() });
            Some(text)
        };
        for field in &mut fields {
            field.error = error_of(field.name, &field.label);
        }
        for picker in &mut pickers {
            picker.error = error_of(picker.name, &picker.label);
        }
        Self { fields, pickers, problems }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl FormView {
        /// A form with fields of each kind, and the same with errors.
        pub(crate) fn samples() -> [Self; 2] {
            let form = |errors: &FieldErrors| {
                let fields = vec![
                    Field::line("email", "email", "Email", "a@example.com").required().help("Help."),
                    Field::password("password", "Password", "new-password").disabled(true),
                    Field::select("role", "Role", "a", [("a".to_owned(), "A".to_owned())]).help("Help."),
                    Field::text_area("emails", "Email addresses", "a@example.com"),
                    Field::tick("is_active", "Active", true),
                    Field::tick("is_staff", "Staff", false).disabled(true),
                ];
                let none = Picker {
                    kinds: Vec::new(),
                    empty: "No groups yet.".to_owned(),
                    ..Picker::scopes(&BTreeSet::new())
                };
                Self::of(fields, vec![Picker::scopes(&BTreeSet::from(["admin"])), none], errors)
            };
            let mut errors = FieldErrors::default();
            for name in ["email", "is_active", "scopes"] {
                errors.add(name, "is invalid");
            }
            [form(&FieldErrors::default()), form(&errors)]
        }
    }
}
