//! Groups, API keys and the audit log in the archive format.

use super::collection_lines::{collection_ids, collections};
use super::lines::{digest, hex, id, instant, invalid, permission_names, permissions};
use super::{BackupError, invalid_archive};
use docent_domain::api_key::{ApiKey, ApiKeyName, ApiKeyPrefix, ApiKeyScopes};
use docent_domain::audit::{AuditAction, AuditActor, AuditEntry, Change};
use docent_domain::connection::{Connection, Resource};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::group::{Group, GroupName};
use docent_domain::permission::RecordKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GroupLine {
    id: String,
    name: String,
    permissions: Vec<String>,
    created_at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ApiKeyLine {
    id: String,
    user: String,
    name: String,
    prefix: String,
    sha256: String,
    scopes: String,
    created_at: i64,
    expires_at: Option<i64>,
    last_used_at: Option<i64>,
    revoked_at: Option<i64>,
    /// Missing in archives of earlier versions.
    #[serde(default)]
    created_by: Option<String>,
    /// Missing in archives of earlier versions.
    #[serde(default)]
    collections: Option<Vec<String>>,
    /// The connected application, if it is one. Missing in archives of earlier versions.
    #[serde(default)]
    connection: Option<ConnectionLine>,
}

/// The refresh token is its ID: without the secret key, no token can be made of it.
#[derive(Debug, Serialize, Deserialize)]
struct ConnectionLine {
    client: String,
    resource: String,
    refresh_token: String,
    replaced_token: Option<String>,
    refreshed_at: i64,
}

impl ConnectionLine {
    fn of(connection: &Connection) -> Self {
        Self {
            client: connection.client.clone(),
            resource: connection.resource.name().to_owned(),
            refresh_token: connection.refresh_token.to_string(),
            replaced_token: connection.replaced_token.map(|token| token.to_string()),
            refreshed_at: connection.refreshed_at.timestamp_micros(),
        }
    }

    fn connection(&self) -> Result<Connection, BackupError> {
        let unknown = || invalid_archive(format!("`{}` is not a known resource", self.resource));
        Ok(Connection {
            client: self.client.clone(),
            resource: Resource::parse(&self.resource).ok_or_else(unknown)?,
            refresh_token: id(&self.refresh_token)?,
            replaced_token: self.replaced_token.as_deref().map(id).transpose()?,
            refreshed_at: instant(self.refreshed_at)?,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AuditLine {
    id: String,
    at: i64,
    by: AuthorLine,
    from: Option<String>,
    deed: String,
    kind: String,
    record: String,
    label: String,
    /// Each field before and after.
    changes: BTreeMap<String, [Option<String>; 2]>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "author", rename_all = "snake_case")]
enum AuthorLine {
    User {
        id: String,
        email: String,
        api_key: Option<String>,
    },
    CommandLine,
    // tidy: allow-word
    #[serde(rename = "nobody")]
    Unauthenticated,
}

impl GroupLine {
    pub(super) fn of(group: &Group) -> Self {
        Self {
            id: group.id.to_string(),
            name: group.name.as_str().to_owned(),
            permissions: permission_names(group.permissions),
            created_at: group.created_at.timestamp_micros(),
        }
    }

    pub(super) fn group(&self) -> Result<Group, BackupError> {
        Ok(Group {
            id: id(&self.id)?,
            name: GroupName::parse(&self.name).map_err(invalid)?,
            permissions: permissions(&self.permissions),
            created_at: instant(self.created_at)?,
        })
    }
}

impl ApiKeyLine {
    pub(super) fn of(key: &ApiKey) -> Self {
        Self {
            id: key.id.to_string(),
            user: key.user.to_string(),
            name: key.name.as_str().to_owned(),
            prefix: key.prefix.as_str().to_owned(),
            sha256: hex(&key.sha256),
            scopes: key.scopes.to_string(),
            created_at: key.created_at.timestamp_micros(),
            expires_at: key.expires_at.map(|at| at.timestamp_micros()),
            last_used_at: key.last_used_at.map(|at| at.timestamp_micros()),
            revoked_at: key.revoked_at.map(|at| at.timestamp_micros()),
            created_by: key.created_by.map(|user| user.to_string()),
            collections: key.collections.as_ref().map(collection_ids),
            connection: key.connection.as_ref().map(ConnectionLine::of),
        }
    }

    pub(super) fn key(&self) -> Result<ApiKey, BackupError> {
        Ok(ApiKey {
            id: id(&self.id)?,
            user: id(&self.user)?,
            name: ApiKeyName::parse(&self.name).map_err(invalid)?,
            prefix: ApiKeyPrefix::parse(&self.prefix).map_err(invalid)?,
            sha256: digest(&self.sha256)?,
            scopes: ApiKeyScopes::parse(self.scopes.split(' ')).map_err(invalid)?,
            created_by: self.created_by.as_deref().map(id).transpose()?,
            collections: self.collections.as_deref().map(collections).transpose()?,
            created_at: instant(self.created_at)?,
            expires_at: self.expires_at.map(instant).transpose()?,
            last_used_at: self.last_used_at.map(instant).transpose()?,
            revoked_at: self.revoked_at.map(instant).transpose()?,
            connection: self.connection.as_ref().map(ConnectionLine::connection).transpose()?,
        })
    }
}

/// Encodes an entry of the audit log as it is in archives: one JSON object on a line.
pub(crate) fn audit_line(entry: &AuditEntry) -> Result<String, Fault> {
    let encoded = serde_json::to_string(&AuditLine::of(entry));
    let encoded = encoded.map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "encoding an entry of the audit log")
            .caused_by(error)
    })?;
    Ok(encoded + "\n")
}

impl AuditLine {
    pub(super) fn of(entry: &AuditEntry) -> Self {
        let by = match &entry.actor {
            AuditActor::User { id, email, api_key } => AuthorLine::User {
                id: id.to_string(),
                email: email.clone(),
                api_key: api_key.map(|key| key.to_string()),
            },
            AuditActor::CommandLine => AuthorLine::CommandLine,
            AuditActor::Unauthenticated => AuthorLine::Unauthenticated,
        };
        let changes = entry.changes.iter();
        let pair = |change: &Change| [change.before.clone(), change.after.clone()];
        Self {
            id: entry.id.to_string(),
            at: entry.at.timestamp_micros(),
            by,
            from: entry.client_ip.map(|from| from.to_string()),
            deed: entry.action.name().to_owned(),
            kind: entry.kind.name().to_owned(),
            record: entry.record.clone(),
            label: entry.label.clone(),
            changes: changes.map(|(field, change)| (field.clone(), pair(change))).collect(),
        }
    }

    pub(super) fn entry(self) -> Result<AuditEntry, BackupError> {
        let unknown = |what: &str, name: &str| invalid_archive(format!("`{name}` is not a known {what}"));
        let actor = match self.by {
            AuthorLine::User { id: user, email, api_key } => {
                AuditActor::User { id: id(&user)?, email, api_key: api_key.as_deref().map(id).transpose()? }
            }
            AuthorLine::CommandLine => AuditActor::CommandLine,
            AuthorLine::Unauthenticated => AuditActor::Unauthenticated,
        };
        let from = self.from.as_deref().map(str::parse).transpose();
        let changes = self.changes.into_iter();
        Ok(AuditEntry {
            id: id(&self.id)?,
            at: instant(self.at)?,
            actor,
            client_ip: from.map_err(|_| invalid_archive("an IP address is not valid"))?,
            action: AuditAction::parse(&self.deed).ok_or_else(|| unknown("action", &self.deed))?,
            kind: RecordKind::parse(&self.kind).ok_or_else(|| unknown("kind of record", &self.kind))?,
            record: self.record,
            label: self.label,
            changes: changes.map(|(field, [before, after])| (field, Change { before, after })).collect(),
        })
    }
}
