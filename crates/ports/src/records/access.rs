//! Forms of accounts, their rights and their records.

use super::Stored;
use chrono::{DateTime, Utc};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes};
use docent_domain::audit::{AuditAction, AuditActor, AuditEntry, Change};
use docent_domain::chat::AgentName;
use docent_domain::collection::{
    Collection, CollectionDescription, CollectionKind, CollectionName, CollectionRole,
};
use docent_domain::connection::{Connection, Resource};
use docent_domain::error::ValidationError;
use docent_domain::file_batch::{CollectionMetadata, Metadata};
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::{
    ApiKeyId, AuditId, CollectionId, ConversationId, GroupId, InvitationId, TokenId, UsageId, UserId,
    WebhookId,
};
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::limits::AccountLimits;
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::second_factor::{SecondFactor, TotpSecret};
use docent_domain::text::{Email, LanguageTag, PersonName};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_domain::user::{PasswordHash, User};
use docent_domain::webhook::{Webhook, WebhookDescription, WebhookEvents, WebhookSecret, WebhookUrl};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use uuid::Uuid;

record! {
    User {
        id: UserId,
        email: Email,
        password: PasswordHash,
        is_active: bool,
        is_staff: bool,
        is_superuser: bool,
        created_at: DateTime<Utc>,
        last_login_at: Option<DateTime<Utc>>,
        email_verified_at: Option<DateTime<Utc>>,
        #[serde(default)]
        sessions_from: DateTime<Utc>,
        #[serde(flatten)]
        limits: AccountLimits,
        second_factor: Option<SecondFactor>,
        language: Option<LanguageTag>,
        name: Option<PersonName>,
    }
}

record! {
    AccountLimits {
        #[serde(rename = "answers_limit")]
        answers: Option<u64>,
        #[serde(rename = "tokens_limit")]
        tokens_per_day: Option<u64>,
        #[serde(rename = "bytes_limit")]
        stored_bytes: Option<u64>,
        #[serde(rename = "images_limit")]
        page_images_per_hour: Option<u64>,
    }
}

record! {
    SecondFactor {
        secret: TotpSecret,
        begun_at: Option<DateTime<Utc>>,
        confirmed_at: Option<DateTime<Utc>>,
        last_step: u64,
        recovery_codes: Vec<[u8; 32]>,
    }
}

record! {
    AssignedPermissions {
        #[serde(default)]
        permissions: PermissionSet,
        #[serde(default)]
        groups: BTreeSet<GroupId>,
        #[serde(default, rename = "managed_groups")]
        managed: BTreeSet<GroupId>,
    }
}

record! {
    Group {
        id: GroupId,
        name: GroupName,
        permissions: PermissionSet,
        created_at: DateTime<Utc>,
    }
}

record! {
    ApiKey {
        id: ApiKeyId,
        user: UserId,
        name: ApiKeyName,
        prefix: ApiKeyPrefix,
        sha256: [u8; 32],
        scopes: ApiKeyScopes,
        created_at: DateTime<Utc>,
        expires_at: Option<DateTime<Utc>>,
        last_used_at: Option<DateTime<Utc>>,
        revoked_at: Option<DateTime<Utc>>,
        created_by: Option<UserId>,
        collections: Option<BTreeSet<CollectionId>>,
        connection: Option<Connection>,
    }
}

// The refresh token is its ID: without the secret key, no token can be made of it.
record! {
    Connection {
        client: String,
        resource: Resource,
        refresh_token: TokenId,
        replaced_token: Option<TokenId>,
        refreshed_at: DateTime<Utc>,
    }
}

record! {
    Invitation {
        id: InvitationId,
        email: Email,
        #[serde(flatten)]
        access: InvitedAccess,
        invited_by: Option<UserId>,
        is_emailed: bool,
        sha256: [u8; 32],
        created_at: DateTime<Utc>,
        expires_at: DateTime<Utc>,
    }
}

record! {
    InvitedAccess {
        groups: BTreeSet<GroupId>,
        collections: BTreeMap<CollectionId, CollectionRole>,
    }
}

record! {
    Collection {
        id: CollectionId,
        kind: CollectionKind,
        name: CollectionName,
        description: CollectionDescription,
        owner: Option<UserId>,
        role_of_all: Option<CollectionRole>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
}

record! {
    CollectionMetadata {
        entries: Metadata,
        expires_after_days: Option<u32>,
        last_active_at: DateTime<Utc>,
    }
}

record! {
    Webhook {
        id: WebhookId,
        owner: UserId,
        url: WebhookUrl,
        description: WebhookDescription,
        events: WebhookEvents,
        all_documents: bool,
        is_active: bool,
        secret: WebhookSecret,
        previous_secret: Option<(WebhookSecret, DateTime<Utc>)>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
}

record! {
    UsageRecord {
        id: UsageId,
        user: UserId,
        api_key: Option<ApiKeyId>,
        conversation: Option<ConversationId>,
        agent: AgentName,
        model: String,
        #[serde(flatten)]
        tokens: TokenUsage,
        at: DateTime<Utc>,
    }
}

record! {
    TokenUsage {
        prompt: u64,
        completion: u64,
    }
}

record! {
    AuditEntry {
        id: AuditId,
        at: DateTime<Utc>,
        #[serde(rename = "by")]
        actor: AuditActor,
        #[serde(rename = "from")]
        client_ip: Option<IpAddr>,
        #[serde(rename = "deed")]
        action: AuditAction,
        kind: RecordKind,
        record: String,
        label: String,
        changes: BTreeMap<String, Change>,
    }
}

array! {
    Change { before: Option<String>, after: Option<String> }
}

/// The form of an [`AuditActor`].
#[derive(Serialize, Deserialize)]
#[serde(tag = "author", rename_all = "snake_case")]
pub enum ActorForm {
    User {
        id: Uuid,
        email: String,
        api_key: Option<Uuid>,
    },
    CommandLine,
    // tidy: allow-word
    #[serde(rename = "nobody")]
    Unauthenticated,
}

impl Stored for AuditActor {
    type Form = ActorForm;

    fn to_form(&self) -> ActorForm {
        match self {
            Self::User { id, email, api_key } => {
                ActorForm::User { id: id.to_form(), email: email.clone(), api_key: api_key.to_form() }
            }
            Self::CommandLine => ActorForm::CommandLine,
            Self::Unauthenticated => ActorForm::Unauthenticated,
        }
    }

    fn from_form(form: ActorForm) -> Result<Self, ValidationError> {
        Ok(match form {
            ActorForm::User { id, email, api_key } => {
                Self::User { id: Stored::from_form(id)?, email, api_key: Stored::from_form(api_key)? }
            }
            ActorForm::CommandLine => Self::CommandLine,
            ActorForm::Unauthenticated => Self::Unauthenticated,
        })
    }
}
