//! Records in the archive format. Timestamps are microseconds since the Unix epoch.

use super::collection_lines::{ValueLine, attribute_lines, attributes, collection_ids, collections};
use super::conversation_lines::first_version;
use super::{BackupError, invalid_archive};
use chrono::{DateTime, Utc};
use docent_domain::chat::AgentName;
use docent_domain::chunk::PageStart;
use docent_domain::document::{
    BlobKey, Document, DocumentState, Failed, Failure, FailureCode, Ingested, Pending, Replacement,
    StoredFile, VectorDocId,
};
use docent_domain::extraction::{Coverage, IngestionStats};
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{ApiKeyId, CollectionId, ConversationId, DocumentId, UsageId, UserId, VersionId};
use docent_domain::limits::AccountLimits;
use docent_domain::permission::{Permission, PermissionSet};
use docent_domain::retrieval::StoredChunk;
use docent_domain::second_factor::{SecondFactor, TotpSecret};
use docent_domain::text::{Email, FileName, Title};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_domain::user::{PasswordHash, User};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::time::Duration;

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
    /// The number of conversations.
    #[serde(default)]
    pub conversations: u64,
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
    /// Its own permissions.
    #[serde(default)]
    permissions: Vec<String>,
    /// The IDs of its groups.
    #[serde(default)]
    groups: Vec<String>,
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

/// A document with the digests of its entries.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DocumentLine {
    id: String,
    owner: Option<String>,
    title: String,
    #[serde(default = "first_version")]
    version: u32,
    /// Missing for the first version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version_id: Option<String>,
    file: Option<FileLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replacement: Option<ReplacementLine>,
    state: StateLine,
    coverage: Option<CoverageLine>,
    effort: Option<IngestionStatsLine>,
    created_at: i64,
    updated_at: i64,
    /// Missing in archives of earlier versions, whose documents everyone may read.
    collections: Option<Vec<String>>,
    #[serde(default)]
    attributes: BTreeMap<String, ValueLine>,
    /// The SHA-256 of each of its other entries, by file name.
    pub(super) entries: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FileLine {
    blob: String,
    name: String,
    bytes: u64,
    sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReplacementLine {
    version: u32,
    version_id: String,
    file: FileLine,
    /// Code and reason.
    failure: Option<(String, String)>,
    at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum StateLine {
    Pending,
    Ingested { vector_doc_id: String, at: i64 },
    Failed { code: String, reason: String, at: i64 },
}

#[derive(Debug, Serialize, Deserialize)]
struct CoverageLine {
    pages: u32,
    empty_pages: Vec<u32>,
    unreliable_pages: Vec<u32>,
    truncated_pages: Vec<u32>,
    characters: u64,
    chunks: u32,
    tokens: u64,
}

/// Durations are microseconds.
#[derive(Debug, Serialize, Deserialize)]
struct IngestionStatsLine {
    extractor: String,
    attempts: u32,
    extract: u64,
    chunk: u64,
    embed: u64,
    index: u64,
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
            permissions: permission_names(rights.permissions),
            groups: rights.groups.iter().map(ToString::to_string).collect(),
        }
    }

    pub(super) fn assigned_permissions(&self) -> Result<AssignedPermissions, BackupError> {
        Ok(AssignedPermissions {
            permissions: permissions(&self.permissions),
            groups: self.groups.iter().map(|group| id(group)).collect::<Result<_, _>>()?,
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

impl DocumentLine {
    pub(super) fn of(document: &Document, entries: BTreeMap<String, String>) -> Self {
        let file = document.file.as_ref().map(FileLine::of);
        let first = VersionId::first(document.id);
        let state = match &document.state {
            DocumentState::Pending(_) => StateLine::Pending,
            DocumentState::Ingested(ingested) => StateLine::Ingested {
                vector_doc_id: ingested.vector_doc_id.as_str().to_owned(),
                at: ingested.at.timestamp_micros(),
            },
            DocumentState::Failed(failed) => StateLine::Failed {
                code: failed.failure.code.as_str().to_owned(),
                reason: failed.failure.reason.clone(),
                at: failed.at.timestamp_micros(),
            },
        };
        Self {
            id: document.id.to_string(),
            owner: document.owner.map(|owner| owner.to_string()),
            title: document.title.as_str().to_owned(),
            version: document.version,
            version_id: (document.version_id != first).then(|| document.version_id.to_string()),
            file,
            replacement: document.replacement.as_ref().map(ReplacementLine::of),
            state,
            coverage: document.coverage.as_ref().map(CoverageLine::of),
            effort: document.stats.as_ref().map(IngestionStatsLine::of),
            created_at: document.created_at.timestamp_micros(),
            updated_at: document.updated_at.timestamp_micros(),
            collections: Some(collection_ids(&document.collections)),
            attributes: attribute_lines(&document.attributes),
            entries,
        }
    }

    pub(super) fn document(&self) -> Result<Document, BackupError> {
        let state = match &self.state {
            StateLine::Pending => DocumentState::Pending(Pending),
            StateLine::Ingested { vector_doc_id, at } => DocumentState::Ingested(Ingested {
                vector_doc_id: VectorDocId::parse(vector_doc_id).map_err(invalid)?,
                at: instant(*at)?,
            }),
            StateLine::Failed { code, reason, at } => {
                let failure = failure(code, reason)?;
                DocumentState::Failed(Failed { failure, at: instant(*at)? })
            }
        };
        let document = id::<DocumentId>(&self.id)?;
        let version_id = match &self.version_id {
            Some(text) => id(text)?,
            None => VersionId::first(document),
        };
        Ok(Document {
            id: document,
            owner: self.owner.as_deref().map(id).transpose()?,
            collections: match &self.collections {
                Some(ids) => collections(ids)?,
                None => BTreeSet::from([CollectionId::EVERYONE]),
            },
            title: Title::parse(&self.title).map_err(invalid)?,
            attributes: attributes(&self.attributes)?,
            labels_revision: 1,
            version_id,
            version: self.version,
            file: self.file.as_ref().map(FileLine::file).transpose()?,
            replacement: self.replacement.as_ref().map(ReplacementLine::replacement).transpose()?,
            state,
            coverage: self.coverage.as_ref().map(CoverageLine::coverage),
            stats: self.effort.as_ref().map(IngestionStatsLine::stats),
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
        })
    }
}

fn failure(code: &str, reason: &str) -> Result<Failure, BackupError> {
    let code = FailureCode::parse(code)
        .ok_or_else(|| invalid_archive(format!("`{code}` is not a known failure code")))?;
    Ok(Failure { code, reason: reason.to_owned() })
}

impl FileLine {
    fn of(file: &StoredFile) -> Self {
        Self {
            blob: file.blob.as_str().to_owned(),
            name: file.name.as_str().to_owned(),
            bytes: file.bytes,
            sha256: hex(&file.sha256),
        }
    }

    fn file(&self) -> Result<StoredFile, BackupError> {
        Ok(StoredFile {
            blob: BlobKey::parse(&self.blob).map_err(invalid)?,
            name: FileName::sanitize(&self.name),
            bytes: self.bytes,
            sha256: digest(&self.sha256)?,
        })
    }
}

impl ReplacementLine {
    fn of(replacement: &Replacement) -> Self {
        let failure = replacement.failure.as_ref();
        Self {
            version: replacement.version,
            version_id: replacement.version_id.to_string(),
            file: FileLine::of(&replacement.file),
            failure: failure.map(|failure| (failure.code.as_str().to_owned(), failure.reason.clone())),
            at: replacement.at.timestamp_micros(),
        }
    }

    fn replacement(&self) -> Result<Replacement, BackupError> {
        let failure = self.failure.as_ref().map(|(code, reason)| failure(code, reason));
        Ok(Replacement {
            version_id: id(&self.version_id)?,
            version: self.version,
            file: self.file.file()?,
            failure: failure.transpose()?,
            at: instant(self.at)?,
        })
    }
}

impl CoverageLine {
    fn of(coverage: &Coverage) -> Self {
        Self {
            pages: coverage.pages,
            empty_pages: coverage.empty_pages.clone(),
            unreliable_pages: coverage.unreliable_pages.clone(),
            truncated_pages: coverage.truncated_pages.clone(),
            characters: coverage.characters,
            chunks: coverage.chunks,
            tokens: coverage.tokens,
        }
    }

    fn coverage(&self) -> Coverage {
        Coverage {
            pages: self.pages,
            empty_pages: self.empty_pages.clone(),
            unreliable_pages: self.unreliable_pages.clone(),
            truncated_pages: self.truncated_pages.clone(),
            characters: self.characters,
            chunks: self.chunks,
            tokens: self.tokens,
        }
    }
}

impl IngestionStatsLine {
    fn of(stats: &IngestionStats) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self {
            extractor: stats.extractor.clone(),
            attempts: stats.attempts,
            extract: micros(stats.extract),
            chunk: micros(stats.chunk),
            embed: micros(stats.embed),
            index: micros(stats.index),
        }
    }

    fn stats(&self) -> IngestionStats {
        IngestionStats {
            extractor: self.extractor.clone(),
            attempts: self.attempts,
            extract: Duration::from_micros(self.extract),
            chunk: Duration::from_micros(self.chunk),
            embed: Duration::from_micros(self.embed),
            index: Duration::from_micros(self.index),
        }
    }
}
