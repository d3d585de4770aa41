//! Records in the archive format. Timestamps are microseconds since the Unix epoch.

use super::{BackupError, invalid_archive};
use chrono::{DateTime, Utc};
use docent_domain::chat::AgentName;
use docent_domain::chunk::PageStart;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{ApiKeyId, ConversationId, UsageId, UserId};
use docent_domain::limits::AccountLimits;
use docent_domain::permission::{Permission, PermissionSet};
use docent_domain::retrieval::StoredChunk;
use docent_domain::second_factor::{SecondFactor, TotpSecret};
use docent_domain::text::{Email, LanguageTag, PersonName};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_domain::user::{PasswordHash, User};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The manifest of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The archive format.
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The last migration of the source database.
    pub schema: String,
    /// The embedding model of its chunks.
    pub embedding_model: String,
    /// When the backup was started.
    pub begun_at: String,
    /// The number of accounts.
    pub users: u64,
    /// The maximum number of documents: some may have been deleted during the backup.
    pub documents: u64,
    /// The number of usage records.
    pub usage: u64,
    /// The number of groups.
    #[serde(default)]
    pub groups: u64,
    /// The number of API keys.
    #[serde(default)]
    pub api_keys: u64,
    /// The number of invitations.
    #[serde(default)]
    pub invitations: u64,
    /// The number of conversations.
    #[serde(default)]
    pub conversations: u64,
    /// The number of stored responses.
    #[serde(default)]
    pub responses: u64,
    /// The number of webhooks.
    #[serde(default)]
    pub webhooks: u64,
    /// The number of audit log entries.
    #[serde(default)]
    pub audit: u64,
}

/// The last entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) entries: u64,
    pub(super) documents: u64,
    pub(super) sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UserLine {
    id: String,
    email: String,
    password: String,
    is_active: bool,
    is_staff: bool,
    is_superuser: bool,
    created_at: i64,
    last_login_at: Option<i64>,
    email_verified_at: Option<i64>,
    #[serde(default)]
    sessions_from: i64,
    answers_limit: Option<u64>,
    tokens_limit: Option<u64>,
    bytes_limit: Option<u64>,
    images_limit: Option<u64>,
    /// Archives of earlier versions have none.
    #[serde(default)]
    second_factor: Option<SecondFactorLine>,
    language: Option<String>,
    /// Archives of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Its own permissions.
    #[serde(default)]
    permissions: Vec<String>,
    /// The IDs of its groups.
    #[serde(default)]
    groups: Vec<String>,
    /// The IDs of those that it manages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    managed_groups: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct UsageLine {
    id: String,
    user: String,
    api_key: Option<String>,
    conversation: Option<String>,
    agent: String,
    model: String,
    prompt: u64,
    completion: u64,
    at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ChunkLine {
    ordinal: u32,
    text: String,
    /// Start page and offset, end page and offset.
    span: [u32; 4],
    /// The number and start offset of each page.
    pages: Vec<[u32; 2]>,
    /// The dimensions of its vector in `vectors.f32`; 0 if it has none.
    dimensions: usize,
}

pub(super) fn id<T: FromStr>(text: &str) -> Result<T, BackupError> {
    text.parse().map_err(|_| invalid_archive(format!("`{text}` is not a valid ID")))
}

pub(super) fn instant(micros: i64) -> Result<DateTime<Utc>, BackupError> {
    DateTime::from_timestamp_micros(micros).ok_or_else(|| invalid_archive("a timestamp is out of range"))
}

pub(super) fn invalid(error: docent_domain::error::ValidationError) -> BackupError {
    invalid_archive(error.to_string())
}

pub(super) fn permission_names(permissions: PermissionSet) -> Vec<String> {
    permissions.iter().map(|permission| permission.to_string()).collect()
}

/// Parses permissions. Unknown ones are ignored.
pub(super) fn permissions(names: &[String]) -> PermissionSet {
    names.iter().filter_map(|name| Permission::parse(name)).collect()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn digest(text: &str) -> Result<[u8; 32], BackupError> {
    unhex(text, "a digest is not valid")
}

fn unhex<const N: usize>(text: &str, message: &'static str) -> Result<[u8; N], BackupError> {
    let error = || invalid_archive(message);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let pair = std::str::from_utf8(pair).map_err(|_| error())?;
        u8::from_str_radix(pair, 16).map_err(|_| error())
    };
    let bytes = pairs.iter().map(byte).collect::<Result<Vec<u8>, _>>()?;
    if rest.is_empty() { bytes.try_into().map_err(|_| error()) } else { Err(error()) }
}

#[derive(Debug, Serialize, Deserialize)]
struct SecondFactorLine {
    secret: String,
    /// Missing in archives of earlier versions.
    begun_at: Option<i64>,
    confirmed_at: Option<i64>,
    last_step: u64,
    recovery_codes: Vec<String>,
}

impl SecondFactorLine {
    fn of(factor: &SecondFactor) -> Self {
        Self {
            secret: hex(factor.secret.expose()),
            begun_at: factor.begun_at.map(|at| at.timestamp_micros()),
            confirmed_at: factor.confirmed_at.map(|at| at.timestamp_micros()),
            last_step: factor.last_step,
            recovery_codes: factor.recovery_codes.iter().map(|code| hex(code)).collect(),
        }
    }

    fn factor(self) -> Result<SecondFactor, BackupError> {
        Ok(SecondFactor {
            secret: TotpSecret::from_bytes(unhex(&self.secret, "a second factor is not valid")?),
            begun_at: self.begun_at.map(instant).transpose()?,
            confirmed_at: self.confirmed_at.map(instant).transpose()?,
            last_step: self.last_step,
            recovery_codes: self.recovery_codes.iter().map(|code| digest(code)).collect::<Result<_, _>>()?,
        })
    }
}

impl UserLine {
    pub(super) fn of(user: &User, rights: &AssignedPermissions) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email.as_str().to_owned(),
            password: user.password.as_phc().to_owned(),
            is_active: user.is_active,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            created_at: user.created_at.timestamp_micros(),
            last_login_at: user.last_login_at.map(|at| at.timestamp_micros()),
            email_verified_at: user.email_verified_at.map(|at| at.timestamp_micros()),
            sessions_from: user.sessions_from.timestamp_micros(),
            answers_limit: user.limits.answers,
            tokens_limit: user.limits.tokens_per_day,
            bytes_limit: user.limits.stored_bytes,
            images_limit: user.limits.page_images_per_hour,
            second_factor: user.second_factor.as_ref().map(SecondFactorLine::of),
            language: user.language.as_ref().map(|language| language.as_str().to_owned()),
            name: user.name.as_ref().map(|name| name.as_str().to_owned()),
            permissions: permission_names(rights.permissions),
            groups: rights.groups.iter().map(ToString::to_string).collect(),
            managed_groups: rights.managed.iter().map(ToString::to_string).collect(),
        }
    }

    pub(super) fn assigned_permissions(&self) -> Result<AssignedPermissions, BackupError> {
        Ok(AssignedPermissions {
            permissions: permissions(&self.permissions),
            groups: self.groups.iter().map(|group| id(group)).collect::<Result<_, _>>()?,
            managed: self.managed_groups.iter().map(|group| id(group)).collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn user(self) -> Result<User, BackupError> {
        Ok(User {
            id: id(&self.id)?,
            email: Email::parse(&self.email).map_err(invalid)?,
            password: PasswordHash::from_phc(self.password),
            is_active: self.is_active,
            is_staff: self.is_staff,
            is_superuser: self.is_superuser,
            created_at: instant(self.created_at)?,
            last_login_at: self.last_login_at.map(instant).transpose()?,
            email_verified_at: self.email_verified_at.map(instant).transpose()?,
            sessions_from: instant(self.sessions_from)?,
            limits: AccountLimits {
                answers: self.answers_limit,
                tokens_per_day: self.tokens_limit,
                stored_bytes: self.bytes_limit,
                page_images_per_hour: self.images_limit,
            },
            second_factor: self.second_factor.map(SecondFactorLine::factor).transpose()?,
            language: self.language.as_deref().map(LanguageTag::parse).transpose().map_err(invalid)?,
            name: self.name.as_deref().map(PersonName::parse).transpose().map_err(invalid)?,
        })
    }
}

impl UsageLine {
    pub(super) fn of(record: &UsageRecord) -> Self {
        Self {
            id: record.id.to_string(),
            user: record.user.to_string(),
            api_key: record.api_key.map(|id| id.to_string()),
            conversation: record.conversation.map(|id| id.to_string()),
            agent: record.agent.as_str().to_owned(),
            model: record.model.clone(),
            prompt: record.tokens.prompt,
            completion: record.tokens.completion,
            at: record.at.timestamp_micros(),
        }
    }

    pub(super) fn record(self) -> Result<UsageRecord, BackupError> {
        Ok(UsageRecord {
            id: id::<UsageId>(&self.id)?,
            user: id::<UserId>(&self.user)?,
            api_key: self.api_key.as_deref().map(id::<ApiKeyId>).transpose()?,
            conversation: self.conversation.as_deref().map(id::<ConversationId>).transpose()?,
            agent: AgentName::parse(&self.agent).map_err(invalid)?,
            model: self.model,
            tokens: TokenUsage { prompt: self.prompt, completion: self.completion },
            at: instant(self.at)?,
        })
    }
}

impl ChunkLine {
    pub(super) fn of(chunk: &StoredChunk) -> Self {
        Self {
            ordinal: chunk.ordinal,
            text: chunk.text.clone(),
            span: chunk.span.into(),
            pages: chunk.pages.iter().copied().map(Into::into).collect(),
            dimensions: chunk.dense.as_ref().map_or(0, Vec::len),
        }
    }

    /// The chunk. Its vector is removed from the start of `vectors`.
    pub(super) fn chunk(self, vectors: &mut &[u8]) -> Result<StoredChunk, BackupError> {
        let bytes = self.dimensions.checked_mul(4).and_then(|bytes| vectors.split_at_checked(bytes));
        let (dense, rest) = bytes.ok_or_else(|| invalid_archive("a chunk's vector is missing"))?;
        *vectors = rest;
        let numbers = dense.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(StoredChunk {
            ordinal: self.ordinal,
            text: self.text,
            span: self.span.into(),
            pages: self.pages.into_iter().map(PageStart::from).collect(),
            dense: (self.dimensions > 0).then_some(numbers),
        })
    }
}
