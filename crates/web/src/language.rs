//! The languages of the pages.
//!
//! Texts are messages of Project Fluent in `locales/`, one folder per language. Rust takes a text with [`t!`], templates with the
//! functions `t` and `t_html`, scripts with `t` and `tNodes`. The language of a request is known to its task, so that
//! it need not be passed on.

pub(crate) mod request;
pub(crate) mod script;
#[cfg(test)]
mod tests;

use actix_web::http::StatusCode;
use docent_app::error::Error;
use docent_domain::error::{Rule, ValidationError};
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind};
use docent_domain::file_type::{FileType, FileTypes};
use docent_domain::missing_access::MissingAccess;
use docent_http::ApiError;
use fluent_bundle::concurrent::FluentBundle;
pub(crate) use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use std::cell::Cell;
use std::sync::LazyLock;

/// A text in the language of the request.
pub(crate) type Label = fn() -> String;

/// Codes of the languages, with the texts of their files; written by `build.rs`.
const LOCALES: &[(&str, &[&str])] = include!(concat!(env!("OUT_DIR"), "/locales.rs"));

/// The language of those that have no other.
const DEFAULT: &str = "en";

/// A language that the pages have.
pub(crate) struct Language {
    code: &'static str,
    files: Vec<FluentResource>,
    bundle: FluentBundle<FluentResource>,
}

static LANGUAGES: LazyLock<Vec<Language>> =
    LazyLock::new(|| LOCALES.iter().map(|(code, files)| Language::read(code, files)).collect());

tokio::task_local! {
    static CURRENT: Cell<&'static Language>;
}

/// Returns a text in the language of the request: `t!("key", name = value)`.
macro_rules! t {
    ($key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::language::current().text(
            $key,
            &$crate::language::FluentArgs::from_iter([
                $((stringify!($name), $crate::language::FluentValue::from($value)),)*
            ] as [(&str, $crate::language::FluentValue<'_>); _]),
        )
    };
}
pub(crate) use t;

impl Language {
    fn read(code: &'static str, texts: &[&str]) -> Self {
        let read = || texts.iter().map(|text| resource(code, text));
        let mut bundle = FluentBundle::new_concurrent(vec![code.parse().unwrap_or_default()]);
        // Direction marks around values would be copied with the text; names have elements of their own direction.
        bundle.set_use_isolating(false);
        let separator = thousands_separator(code);
        // A function cannot capture the language.
        bundle.set_formatter(Some(match separator {
            '.' => |value, _| number(value, '.'),
            _ => |value, _| number(value, ','),
        }));
        for file in read() {
            bundle.add_resource_overriding(file);
        }
        Self { code, files: read().collect(), bundle }
    }

    /// Code of the language, such as `de`.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// Whether it is the language of those that have no other.
    pub(crate) fn is_default(&self) -> bool {
        self.code == DEFAULT
    }

    /// A text with its values.
    pub(crate) fn text(&self, key: &str, values: &FluentArgs<'_>) -> String {
        let Some(pattern) = self.bundle.get_message(key).and_then(|message| message.value()) else {
            debug_assert!(false, "no text {key}");
            tracing::error!(key, language = self.code, "a text is missing");
            return key.to_owned();
        };
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(values), &mut errors);
        debug_assert!(errors.is_empty(), "{key}: {errors:?}");
        text.into_owned()
    }

    /// Whether there is a text with this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }
}

/// A whole number in a text, with separators. None for other values.
fn number(value: &FluentValue<'_>, separator: char) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    let is_count = number.value.fract() == 0.0 && (0.0..=9e15).contains(&number.value);
    is_count.then(|| separated(number.value as u64, separator))
}

fn thousands_separator(code: &str) -> char {
    if code == "de" { '.' } else { ',' }
}

fn separated(count: u64, separator: char) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(separator);
        }
        text.push(digit);
    }
    text
}

/// A count with the separators of the language of the page: `12,345`.
pub(crate) fn grouped(count: u64) -> String {
    separated(count, thousands_separator(current().code()))
}

fn resource(code: &str, text: &str) -> FluentResource {
    FluentResource::try_new(text.to_owned()).unwrap_or_else(|(readable, errors)| {
        tracing::error!(language = code, ?errors, "a file of texts has errors");
        readable
    })
}

/// All languages, sorted by their codes.
pub(crate) fn all() -> &'static [Language] {
    &LANGUAGES
}

/// Texts of the files of all languages.
pub(crate) fn sources() -> impl Iterator<Item = &'static str> {
    LOCALES.iter().flat_map(|(_, texts)| texts.iter().copied())
}

/// The language for a tag such as `de-AT`: of the tag itself, or else of its beginning.
pub(crate) fn find(mut tag: &str) -> Option<&'static Language> {
    loop {
        if let Some(found) = all().iter().find(|language| language.code.eq_ignore_ascii_case(tag)) {
            return Some(found);
        }
        tag = tag.rsplit_once('-')?.0;
    }
}

/// The language of the request, or the default outside of one.
pub(crate) fn current() -> &'static Language {
    CURRENT.try_with(Cell::get).unwrap_or_else(|_| default())
}

/// English.
fn default() -> &'static Language {
    all().iter().find(|language| language.code == DEFAULT).unwrap_or(&all()[0])
}

/// The text whose key ends with the name of one of several things, such as a kind of record.
pub(crate) fn named(prefix: &str, name: &str) -> String {
    current().text(&format!("{prefix}{name}"), &FluentArgs::new())
}

/// Why a field is invalid, phrased to follow its label. Reasons that are not known here stay as they are.
pub(crate) fn reason(invalid: &ValidationError) -> String {
    let Some(rule) = invalid.rule else { return invalid.reason.clone() };
    match rule {
        Rule::NotEmpty => t!("rule-not-empty"),
        Rule::MinCharacters(count) => t!("rule-min-characters", count = count),
        Rule::MaxCharacters(count) => t!("rule-max-characters", count = count),
        Rule::MaxBytes(count) => t!("rule-max-bytes", count = count),
        Rule::NoControlCharacters => t!("rule-no-control-characters"),
        Rule::NoDirectionCharacters => t!("rule-no-direction-characters"),
        Rule::NoAddress => t!("rule-no-address"),
        Rule::EmailAddress => t!("rule-email-address"),
        Rule::LineWithoutAddress(line) => t!("rule-line-without-address", line = line),
        Rule::OtherAddress => t!("rule-other-address"),
        Rule::NotCommon => t!("rule-not-common"),
        Rule::NotLikeAddress => t!("rule-not-like-address"),
        Rule::Scopes => t!("rule-scopes"),
        Rule::Future => t!("rule-future"),
        Rule::UnknownGroup => t!("rule-unknown-group"),
        Rule::SuperuserOnly => t!("rule-superuser-only"),
        Rule::GroupAccess(of) => t!("rule-group-access", missing = missing(of)),
        Rule::OwnPermissions => t!("rule-own-permissions"),
        Rule::OtherAccess(of) => t!("rule-other-access", missing = missing(of)),
        Rule::DataAccess(of) => t!("rule-data-access", missing = missing(of)),
        Rule::AccountAccess(of) => t!("rule-account-access", missing = missing(of)),
        Rule::OwnAccess => t!("rule-own-access"),
        Rule::Exists => t!("rule-exists"),
        Rule::NotDeactivated => t!("rule-not-deactivated"),
        Rule::ActiveAccount => t!("rule-active-account"),
        Rule::OwnerManages => t!("rule-owner-manages"),
        Rule::MaxMembers(count) => t!("rule-max-members", count = count),
        Rule::MaxCount(count) => t!("rule-max-count", count = count),
        Rule::AttributeKey(count) => t!("rule-attribute-key", count = count),
        Rule::AttributeMaxCharacters(count) => t!("rule-attribute-max-characters", count = count),
        Rule::AttributeNoControlCharacters => t!("rule-attribute-no-control-characters"),
        Rule::AttributeFinite => t!("rule-attribute-finite"),
        Rule::AttributeNotBuiltIn(key) => t!("rule-attribute-not-built-in", key = key),
        Rule::Processed => t!("rule-processed"),
        Rule::InCollection => t!("rule-in-collection"),
        Rule::NotInCollection => t!("rule-not-in-collection"),
        Rule::InOtherCollection => t!("rule-in-other-collection"),
        Rule::InSomeCollection => t!("rule-in-some-collection"),
    }
}

/// What an actor lacks, phrased to follow "you lack".
pub(crate) fn missing(access: MissingAccess) -> String {
    let mut parts = Vec::new();
    if access.is_superuser {
        parts.push(t!("missing-superuser"));
    }
    if !access.permissions.is_empty() {
        parts.push(t!("missing-permissions", names = access.permission_names()));
    }
    if access.has_roles {
        parts.push(t!("missing-roles"));
    }
    parts.into_iter().reduce(|first, next| t!("missing-and", first = first, next = next)).unwrap_or_default()
}

/// The sentence that a field is invalid.
pub(crate) fn field_sentence(field: &str, invalid: &ValidationError) -> String {
    t!("field-error", field = field, reason = reason(invalid))
}

/// Name of a component, as a heading.
pub(crate) fn component_name(component: Component) -> String {
    named("component-", component.code())
}

/// What failed, without internal details and without a full stop.
pub(crate) fn fault_sentence(fault: &Fault) -> String {
    let component = named("the-component-", fault.component().code());
    match fault.known_cause() {
        Some(FaultCause::ToolsUnsupported) => return t!("fault-tools-unsupported", component = component),
        Some(FaultCause::ContextLength) => return t!("fault-context-length", component = component),
        Some(FaultCause::OutOfMemory) => return t!("fault-out-of-memory", component = component),
        Some(FaultCause::Loading) => return t!("fault-loading", component = component),
        Some(FaultCause::Overloaded) => return t!("fault-overloaded", component = component),
        Some(FaultCause::UnknownModel) => return t!("fault-unknown-model", component = component),
        Some(FaultCause::InvalidKey) => return t!("fault-invalid-key", component = component),
        Some(FaultCause::QuotaExceeded) => return t!("fault-quota-exceeded", component = component),
        Some(FaultCause::ContentFilter) => return t!("fault-content-filter", component = component),
        Some(FaultCause::ServerError) => return t!("fault-server-error", component = component),
        Some(FaultCause::Interrupted) => return t!("fault-interrupted", component = component),
        None => {}
    }
    match fault.kind() {
        FaultKind::Unavailable => t!("fault-unavailable", component = component),
        FaultKind::InUse => t!("fault-in-use", component = component),
        FaultKind::Timeout => t!("fault-timeout", component = component),
        FaultKind::RateLimited => t!("fault-rate-limited", component = component),
        FaultKind::Full => t!("fault-full", component = component),
        FaultKind::Rejected => t!("fault-rejected", component = component),
        FaultKind::InvalidResponse => t!("fault-invalid-response", component = component),
        FaultKind::Unconfigured => {
            t!("fault-unconfigured", component = component, reason = fault.message())
        }
        FaultKind::Internal => t!("fault-internal", component = component),
    }
}

/// Label of a page in a file that is not a PDF, such as `Rows 1–4`. Extraction writes labels in English; those that are words
/// are shown in the language of the page, headings as they are. A heading that reads like such a label is translated too.
/// `placeLabel` in `sources.js` does the same.
pub(crate) fn place_label(label: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '–');
    let continued = label.strip_suffix(')').and_then(|label| label.rsplit_once(" (part "));
    if let Some((start, part)) = continued.filter(|(_, part)| is_number(part)) {
        return t!("place-part", place = place_label(start), part = part);
    }
    let (kind, at) = label.split_once(' ').unwrap_or((label, ""));
    let is_known = match kind {
        "Row" | "Rows" | "Line" | "Lines" | "Part" | "Slide" => is_number(at),
        "Message" | "Footnotes" | "Endnotes" => label == kind,
        _ => false,
    };
    if is_known { t!("place-label", kind = kind, at = at).trim_end().to_owned() } else { label.to_owned() }
}

/// Name of a collection. Those that the service creates have a name in each language.
pub(crate) fn collection_name(name: &str) -> String {
    match name {
        "Everyone" => t!("collection-everyone"),
        "Personal" => t!("collection-personal"),
        other => other.to_owned(),
    }
}

/// Name of a type of files.
pub(crate) fn file_type(of: FileType) -> String {
    if of == FileType::Text { t!("file-type-text") } else { of.title().to_owned() }
}

/// Names of types of files, such as `PDF, DOCX and plain text`.
pub(crate) fn file_types(of: FileTypes) -> String {
    let mut titles: Vec<String> = of.iter().map(file_type).collect();
    let last = titles.pop().unwrap_or_default();
    if titles.is_empty() { last } else { t!("list-and", first = titles.join(", "), last = last) }
}

/// What an error of an action says, without a full stop; none for those that are not known here.
pub(crate) fn error_text(error: &Error) -> Option<String> {
    match error {
        Error::NotFound(kind) => Some(named("not-found-", kind.name())),
        Error::Forbidden => Some(t!("error-forbidden")),
        Error::MissingAccess(of) => Some(t!("error-missing-access", missing = missing(*of))),
        Error::OpeningForbidden => Some(t!("error-opening-forbidden")),
        Error::NotFailed { state } => Some(t!("retry-not-failed", status = *state)),
        _ => None,
    }
}

/// What an error says. Those that are not known here stay as they are.
pub(crate) fn error_detail(error: &ApiError) -> String {
    match error.status() {
        StatusCode::INTERNAL_SERVER_ERROR => t!("error-internal"),
        StatusCode::UNPROCESSABLE_ENTITY if !error.errors().is_empty() => t!("error-invalid-request"),
        StatusCode::TOO_MANY_REQUESTS if error.code().is_none() => t!("error-too-many-requests"),
        _ => error.detail().to_owned(),
    }
}
