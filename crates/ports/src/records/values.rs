//! Forms of the values of fields.

use super::Stored;
use chrono::{DateTime, Utc};
use docent_domain::api_key::{ApiKeyName, ApiKeyPrefix, ApiKeyScopes};
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::audit::AuditAction;
use docent_domain::chat::AgentName;
use docent_domain::chunk::{PageStart, Span};
use docent_domain::collection::{CollectionDescription, CollectionKind, CollectionName, CollectionRole};
use docent_domain::connection::Resource;
use docent_domain::conversation::ConversationTitle;
use docent_domain::document::{BlobKey, FailureCode, VectorDocId};
use docent_domain::error::ValidationError;
use docent_domain::external_file::ExternalId;
use docent_domain::extraction::PageLabels;
use docent_domain::fallback::FallbackCause;
use docent_domain::feedback::{FeedbackComment, FeedbackReason};
use docent_domain::file_batch::{FilePurpose, Metadata};
use docent_domain::file_type::FileType;
use docent_domain::group::GroupName;
use docent_domain::id::{
    ApiKeyId, AuditId, ChunkId, CollectionId, ConversationId, DocumentId, GroupId, InvitationId, MessageId,
    ResponseId, TokenId, UsageId, UserId, VersionId, WebhookId,
};
use docent_domain::permission::{Permission, PermissionSet, RecordKind};
use docent_domain::recognition::RecognitionFailure;
use docent_domain::second_factor::TotpSecret;
use docent_domain::summary::Fallback;
use docent_domain::text::{Email, FileName, LanguageTag, PersonName, Title};
use docent_domain::user::PasswordHash;
use docent_domain::webhook::{WebhookDescription, WebhookEvents, WebhookSecret, WebhookUrl};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;
use uuid::Uuid;

type Result<T> = std::result::Result<T, ValidationError>;

/// Implements [`Stored`] with a function that returns the form and a function that reads it.
macro_rules! stored {
    ($($type:ty as $form:ty: $to:expr, $from:expr;)*) => {$(
        impl Stored for $type {
            type Form = $form;

            fn to_form(&self) -> $form {
                $to(self)
            }

            fn from_form(form: $form) -> Result<Self> {
                $from(form)
            }
        }
    )*};
}

macro_rules! plain {
    ($($type:ty),*) => { stored! { $($type as $type: Clone::clone, Ok;)* } };
}

macro_rules! ids {
    ($($id:ty),*) => { stored! { $($id as Uuid: |id: &$id| id.as_uuid(), |id| Ok(<$id>::from_uuid(id));)* } };
}

macro_rules! texts {
    ($($type:ty),*) => {
        stored! { $($type as String: |text: &$type| text.as_str().to_owned(), |text: String| {
            <$type>::parse(&text)
        };)* }
    };
}

macro_rules! names {
    ($($what:literal: $type:ty, $name:ident;)*) => {
        stored! { $($type as String: |value: &$type| value.$name().to_owned(), |name: String| {
            <$type>::parse(&name).ok_or_else(|| ValidationError::new($what, format!("`{name}` is unknown")))
        };)* }
    };
}

plain!(bool, u8, u16, u32, u64, f32, String, IpAddr);

ids!(
    ApiKeyId,
    AuditId,
    ChunkId,
    CollectionId,
    ConversationId,
    DocumentId,
    GroupId,
    InvitationId,
    MessageId,
    ResponseId,
    TokenId,
    UsageId,
    UserId,
    VersionId,
    WebhookId
);

texts!(
    AgentName,
    ApiKeyName,
    ApiKeyPrefix,
    AttributeKey,
    BlobKey,
    CollectionDescription,
    CollectionName,
    ConversationTitle,
    Email,
    ExternalId,
    FeedbackComment,
    GroupName,
    LanguageTag,
    PersonName,
    Title,
    VectorDocId,
    WebhookDescription,
    WebhookUrl
);

names! {
    "action": AuditAction, name;
    "cause of a fallback": FallbackCause, code;
    "failure code": FailureCode, as_str;
    "fallback of a summary": Fallback, as_str;
    "failure of a recognition": RecognitionFailure, as_str;
    "file type": FileType, as_str;
    "kind of collection": CollectionKind, name;
    "kind of record": RecordKind, name;
    "purpose": FilePurpose, name;
    "reason": FeedbackReason, name;
    "resource": Resource, name;
    "role": CollectionRole, name;
}

stored! {
    // Microseconds since 1970.
    DateTime<Utc> as i64: DateTime::timestamp_micros, |micros| {
        DateTime::from_timestamp_micros(micros)
            .ok_or_else(|| ValidationError::new("timestamp", "is out of range"))
    };
    // Microseconds.
    Duration as u64: |time: &Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX), |micros| {
        Ok(Duration::from_micros(micros))
    };
    // Start page and offset, end page and offset.
    Span as [u32; 4]: |span: &Span| (*span).into(), |span: [u32; 4]| Ok(span.into());
    // Page and start offset.
    PageStart as [u32; 2]: |page: &PageStart| (*page).into(), |page: [u32; 2]| Ok(page.into());
    FileName as String: |name: &FileName| name.as_str().to_owned(), |name: String| {
        Ok(FileName::sanitize(&name))
    };
    PasswordHash as String: |hash: &PasswordHash| hash.as_phc().to_owned(), |hash| {
        Ok(PasswordHash::from_phc(hash))
    };
    ApiKeyScopes as String: ToString::to_string, |names: String| ApiKeyScopes::parse(names.split(' '));
    WebhookEvents as String: ToString::to_string, |names: String| WebhookEvents::parse(names.split(' '));
    // Permissions that this version does not know are ignored.
    PermissionSet as Vec<String>: |set: &PermissionSet| {
        set.iter().map(|permission| permission.to_string()).collect()
    }, |names: Vec<String>| {
        Ok(names.iter().filter_map(|name| Permission::parse(name)).collect())
    };
    WebhookSecret as String: |secret: &WebhookSecret| secret.expose().to_form(), |text| {
        Stored::from_form(text).map(WebhookSecret::from_bytes)
    };
    TotpSecret as String: |secret: &TotpSecret| secret.expose().to_form(), |text| {
        Stored::from_form(text).map(TotpSecret::from_bytes)
    };
    PageLabels as Vec<String>: |labels: &PageLabels| labels.as_slice().to_vec(), |labels: Vec<String>| {
        Ok(labels.into())
    };
    Metadata as BTreeMap<String, String>: |metadata: &Metadata| metadata.entries().clone(), Metadata::new;
    AttributeValue as AttributeForm: attribute_form, |form| match form {
        AttributeForm::Boolean(is_true) => Ok(AttributeValue::Boolean(is_true)),
        AttributeForm::Number(number) => AttributeValue::number(number),
        AttributeForm::String(text) => AttributeValue::string(&text),
    };
    Attributes as BTreeMap<String, AttributeForm>: |attributes: &Attributes| {
        attributes.iter().map(|(key, value)| (key.to_form(), value.to_form())).collect()
    }, |values| Attributes::new(Stored::from_form(values)?);
}

/// The form of an attribute's value.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum AttributeForm {
    Boolean(bool),
    Number(f64),
    String(String),
}

fn attribute_form(value: &AttributeValue) -> AttributeForm {
    match value {
        AttributeValue::Boolean(is_true) => AttributeForm::Boolean(*is_true),
        AttributeValue::Number(number) => AttributeForm::Number(*number),
        AttributeValue::String(text) => AttributeForm::String(text.clone()),
    }
}

/// The form is hexadecimal.
impl<const N: usize> Stored for [u8; N] {
    type Form = String;

    fn to_form(&self) -> String {
        self.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn from_form(text: String) -> Result<Self> {
        let invalid = || ValidationError::new("bytes", format!("must have {} hexadecimal digits", 2 * N));
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
        bytes.filter(|_| rest.is_empty()).and_then(|bytes| bytes.try_into().ok()).ok_or_else(invalid)
    }
}

impl<T: Stored> Stored for Option<T> {
    type Form = Option<T::Form>;

    fn to_form(&self) -> Self::Form {
        self.as_ref().map(T::to_form)
    }

    fn from_form(form: Self::Form) -> Result<Self> {
        form.map(T::from_form).transpose()
    }
}

impl<T: Stored> Stored for Vec<T> {
    type Form = Vec<T::Form>;

    fn to_form(&self) -> Self::Form {
        self.iter().map(T::to_form).collect()
    }

    fn from_form(form: Self::Form) -> Result<Self> {
        form.into_iter().map(T::from_form).collect()
    }
}

impl<T: Stored + Ord> Stored for BTreeSet<T> {
    type Form = Vec<T::Form>;

    fn to_form(&self) -> Self::Form {
        self.iter().map(T::to_form).collect()
    }

    fn from_form(form: Self::Form) -> Result<Self> {
        form.into_iter().map(T::from_form).collect()
    }
}

impl<K: Stored<Form: Ord> + Ord, V: Stored> Stored for BTreeMap<K, V> {
    type Form = BTreeMap<K::Form, V::Form>;

    fn to_form(&self) -> Self::Form {
        self.iter().map(|(key, value)| (key.to_form(), value.to_form())).collect()
    }

    fn from_form(form: Self::Form) -> Result<Self> {
        form.into_iter().map(|(key, value)| Ok((K::from_form(key)?, V::from_form(value)?))).collect()
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    type Form = (A::Form, B::Form);

    fn to_form(&self) -> Self::Form {
        (self.0.to_form(), self.1.to_form())
    }

    fn from_form((a, b): Self::Form) -> Result<Self> {
        Ok((A::from_form(a)?, B::from_form(b)?))
    }
}
