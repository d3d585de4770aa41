//! Records as they stand in an archive. Instants are microseconds since 1970.

use super::{BackupError, refused};
use chrono::{DateTime, Utc};
use docent_domain::{
    chat::AgentName,
    chunk::{PageStart, Position, Span},
    document::{
        BlobKey, Document, DocumentState, Failed, Failure, FailureCode, Ingested, Pending, StoredFile,
        VectorDocId,
    },
    extraction::{Coverage, IngestionStats},
    group::AssignedPermissions,
    id::{ApiKeyId, ConversationId, DocumentId, UsageId, UserId},
    permission::{Permission, PermissionSet},
    retrieval::StoredChunk,
    text::{Email, FileName, Title},
    usage::{TokenUsage, UsageRecord},
    user::{PasswordHash, User},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, str::FromStr, time::Duration};

/// What an archive is and holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the archive.
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The last change of the schema of the database that it comes from.
    pub schema: String,
    /// The embedding model that its chunks were made with.
    pub embedding_model: String,
    /// When it was begun.
    pub begun_at: String,
    /// How many accounts it has.
    pub users: u64,
    /// How many documents it has at most: some may have been deleted while it was written.
    pub documents: u64,
    /// How many lines of the usage ledger it has.
    pub usage: u64,
    /// How many groups it has.
    #[serde(default)]
    pub groups: u64,
    /// How many API keys it has.
    #[serde(default)]
    pub api_keys: u64,
    /// How many conversations it has.
    #[serde(default)]
    pub conversations: u64,
    /// How many webhooks it has.
    #[serde(default)]
    pub webhooks: u64,
    /// How many entries of the audit log it has.
    #[serde(default)]
    pub audit: u64,
}

/// The last entry.
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
    #[serde(default)]
    email_verified_at: Option<i64>,
    #[serde(default)]
    sessions_from: i64,
    /// What it was given itself.
    #[serde(default)]
    permissions: Vec<String>,
    /// The groups that it is in.
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
    /// Page and beginning of each page.
    pages: Vec<[u32; 2]>,
    /// How many numbers its vector has among the vectors; 0 when it has none.
    dimensions: usize,
}

/// A document with what the archive has of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DocumentLine {
    id: String,
    owner: Option<String>,
    title: String,
    file: Option<FileLine>,
    state: StateLine,
    coverage: Option<CoverageLine>,
    effort: Option<EffortLine>,
    created_at: i64,
    updated_at: i64,
    /// The SHA-256 of each of its entries before this one, by the last part of their names.
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
struct EffortLine {
    extractor: String,
    attempts: u32,
    extract: u64,
    chunk: u64,
    embed: u64,
    index: u64,
}

pub(super) fn id<T: FromStr>(text: &str) -> Result<T, BackupError> {
    text.parse().map_err(|_| refused(format!("`{text}` is no id")))
}

pub(super) fn instant(micros: i64) -> Result<DateTime<Utc>, BackupError> {
    DateTime::from_timestamp_micros(micros).ok_or_else(|| refused("a time makes no sense"))
}

pub(super) fn invalid(error: docent_domain::error::ValidationError) -> BackupError {
    refused(error.to_string())
}

pub(super) fn permission_names(permissions: PermissionSet) -> Vec<String> {
    permissions.iter().map(|permission| permission.to_string()).collect()
}

/// Those of these permissions that this program knows.
pub(super) fn permissions(names: &[String]) -> PermissionSet {
    names.iter().filter_map(|name| Permission::parse(name)).collect()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn digest(text: &str) -> Result<[u8; 32], BackupError> {
    let wrong = || refused("a digest makes no sense");
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| {
        let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
        u8::from_str_radix(pair, 16).map_err(|_| wrong())
    };
    let bytes = pairs.iter().map(byte).collect::<Result<Vec<u8>, _>>()?;
    if rest.is_empty() { bytes.try_into().map_err(|_| wrong()) } else { Err(wrong()) }
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
            permissions: permission_names(rights.permissions),
            groups: rights.groups.iter().map(ToString::to_string).collect(),
        }
    }

    pub(super) fn rights(&self) -> Result<AssignedPermissions, BackupError> {
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
        let Span { start, end } = chunk.span;
        Self {
            ordinal: chunk.ordinal,
            text: chunk.text.clone(),
            span: [start.page, start.offset, end.page, end.offset],
            pages: chunk.pages.iter().map(|page| [page.page, page.at]).collect(),
            dimensions: chunk.dense.as_ref().map_or(0, Vec::len),
        }
    }

    /// The chunk, with its vector taken from the beginning of `vectors`.
    pub(super) fn chunk(self, vectors: &mut &[u8]) -> Result<StoredChunk, BackupError> {
        let [start_page, start, end_page, end] = self.span;
        let bytes = self.dimensions.checked_mul(4).and_then(|bytes| vectors.split_at_checked(bytes));
        let (dense, rest) = bytes.ok_or_else(|| refused("a chunk's vector is missing"))?;
        *vectors = rest;
        let numbers = dense.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(StoredChunk {
            ordinal: self.ordinal,
            text: self.text,
            span: Span {
                start: Position { page: start_page, offset: start },
                end: Position { page: end_page, offset: end },
            },
            pages: self.pages.into_iter().map(|[page, at]| PageStart { page, at }).collect(),
            dense: (self.dimensions > 0).then_some(numbers),
        })
    }
}

impl DocumentLine {
    pub(super) fn of(document: &Document, entries: BTreeMap<String, String>) -> Self {
        let file = document.file.as_ref().map(|file| FileLine {
            blob: file.blob.as_str().to_owned(),
            name: file.name.as_str().to_owned(),
            bytes: file.bytes,
            sha256: hex(&file.sha256),
        });
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
            file,
            state,
            coverage: document.coverage.as_ref().map(CoverageLine::of),
            effort: document.effort.as_ref().map(EffortLine::of),
            created_at: document.created_at.timestamp_micros(),
            updated_at: document.updated_at.timestamp_micros(),
            entries,
        }
    }

    pub(super) fn document(&self) -> Result<Document, BackupError> {
        let file = self.file.as_ref().map(|file| {
            Ok::<_, BackupError>(StoredFile {
                blob: BlobKey::parse(&file.blob).map_err(invalid)?,
                name: FileName::sanitize(&file.name),
                bytes: file.bytes,
                sha256: digest(&file.sha256)?,
            })
        });
        let state = match &self.state {
            StateLine::Pending => DocumentState::Pending(Pending),
            StateLine::Ingested { vector_doc_id, at } => DocumentState::Ingested(Ingested {
                vector_doc_id: VectorDocId::parse(vector_doc_id).map_err(invalid)?,
                at: instant(*at)?,
            }),
            StateLine::Failed { code, reason, at } => {
                let code =
                    FailureCode::parse(code).ok_or_else(|| refused(format!("no failure is `{code}`")))?;
                let failure = Failure { code, reason: reason.clone() };
                DocumentState::Failed(Failed { failure, at: instant(*at)? })
            }
        };
        Ok(Document {
            id: id::<DocumentId>(&self.id)?,
            owner: self.owner.as_deref().map(id).transpose()?,
            title: Title::parse(&self.title).map_err(invalid)?,
            file: file.transpose()?,
            state,
            coverage: self.coverage.as_ref().map(CoverageLine::coverage),
            effort: self.effort.as_ref().map(EffortLine::effort),
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
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

impl EffortLine {
    fn of(effort: &IngestionStats) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self {
            extractor: effort.extractor.clone(),
            attempts: effort.attempts,
            extract: micros(effort.extract),
            chunk: micros(effort.chunk),
            embed: micros(effort.embed),
            index: micros(effort.index),
        }
    }

    fn effort(&self) -> IngestionStats {
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
