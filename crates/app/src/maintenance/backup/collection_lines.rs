//! Collections with their members, and labels of documents, in the archive format.

use super::lines::{id, instant, invalid};
use super::{BackupError, invalid_archive};
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::collection::{
    Collection, CollectionDescription, CollectionKind, CollectionName, CollectionRole, Member, Membership,
};
use docent_domain::file_batch::{CollectionMetadata, Metadata};
use docent_domain::id::{CollectionId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CollectionLine {
    id: String,
    kind: String,
    name: String,
    description: String,
    owner: Option<String>,
    role_of_all: Option<String>,
    created_at: i64,
    updated_at: i64,
    /// Roles by ID of the account.
    users: BTreeMap<String, String>,
    /// Roles by ID of the group.
    groups: BTreeMap<String, String>,
    /// IDs of the accounts that have hidden it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden_by: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<MetadataLine>,
}

/// What clients of the OpenAI API store with a collection.
#[derive(Debug, Serialize, Deserialize)]
struct MetadataLine {
    entries: BTreeMap<String, String>,
    expires_after_days: Option<u32>,
    last_active_at: i64,
}

impl MetadataLine {
    fn of(metadata: &CollectionMetadata) -> Self {
        Self {
            entries: metadata.entries.entries().clone(),
            expires_after_days: metadata.expires_after_days,
            last_active_at: metadata.last_active_at.timestamp_micros(),
        }
    }

    fn metadata(self) -> Result<CollectionMetadata, BackupError> {
        Ok(CollectionMetadata {
            entries: Metadata::new(self.entries).map_err(invalid)?,
            expires_after_days: self.expires_after_days,
            last_active_at: instant(self.last_active_at)?,
        })
    }
}

/// A collection as an archive has it.
pub(super) struct ArchivedCollection {
    pub(super) collection: Collection,
    pub(super) members: Vec<Membership>,
    pub(super) hidden_by: Vec<UserId>,
    pub(super) metadata: Option<CollectionMetadata>,
}

impl CollectionLine {
    pub(super) fn of(
        collection: &Collection,
        members: &[Membership],
        hidden_by: &[UserId],
        metadata: Option<&CollectionMetadata>,
    ) -> Self {
        let role = |of: &Membership| of.role.name().to_owned();
        let users = members.iter().filter_map(|of| match of.member {
            Member::User(user) => Some((user.to_string(), role(of))),
            Member::Group(_) => None,
        });
        let groups = members.iter().filter_map(|of| match of.member {
            Member::Group(group) => Some((group.to_string(), role(of))),
            Member::User(_) => None,
        });
        Self {
            id: collection.id.to_string(),
            kind: collection.kind.name().to_owned(),
            name: collection.name.as_str().to_owned(),
            description: collection.description.as_str().to_owned(),
            owner: collection.owner.map(|owner| owner.to_string()),
            role_of_all: collection.role_of_all.map(|role| role.name().to_owned()),
            created_at: collection.created_at.timestamp_micros(),
            updated_at: collection.updated_at.timestamp_micros(),
            users: users.collect(),
            groups: groups.collect(),
            hidden_by: hidden_by.iter().map(UserId::to_string).collect(),
            metadata: metadata.map(MetadataLine::of),
        }
    }

    pub(super) fn collection(self) -> Result<ArchivedCollection, BackupError> {
        let role = |name: &String| {
            CollectionRole::parse(name)
                .ok_or_else(|| invalid_archive(format!("`{name}` is not a known role")))
        };
        let mut members = Vec::with_capacity(self.users.len() + self.groups.len());
        for (user, name) in &self.users {
            members.push(Membership { member: Member::User(id(user)?), role: role(name)? });
        }
        for (group, name) in &self.groups {
            members.push(Membership { member: Member::Group(id(group)?), role: role(name)? });
        }
        let kind = CollectionKind::parse(&self.kind);
        let collection = Collection {
            id: id(&self.id)?,
            kind: kind.ok_or_else(|| invalid_archive("a collection has an unknown kind"))?,
            name: CollectionName::parse(&self.name).map_err(invalid)?,
            description: CollectionDescription::parse(&self.description).map_err(invalid)?,
            owner: self.owner.as_deref().map(id).transpose()?,
            role_of_all: self.role_of_all.as_ref().map(role).transpose()?,
            created_at: instant(self.created_at)?,
            updated_at: instant(self.updated_at)?,
        };
        let hidden_by = self.hidden_by.iter().map(|user| id(user)).collect::<Result<_, _>>()?;
        let metadata = self.metadata.map(MetadataLine::metadata).transpose()?;
        Ok(ArchivedCollection { collection, members, hidden_by, metadata })
    }
}

/// Collections of a document or an API key.
pub(super) fn collection_ids(ids: &BTreeSet<CollectionId>) -> Vec<String> {
    ids.iter().map(CollectionId::to_string).collect()
}

/// Reads what [`collection_ids`] returned.
pub(super) fn collections(ids: &[String]) -> Result<BTreeSet<CollectionId>, BackupError> {
    ids.iter().map(|text| id(text)).collect()
}

/// The value of an attribute.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ValueLine {
    Boolean(bool),
    Number(f64),
    String(String),
}

/// Attributes of a document.
pub(super) fn attribute_lines(attributes: &Attributes) -> BTreeMap<String, ValueLine> {
    let line = |value: &AttributeValue| match value {
        AttributeValue::Boolean(is_true) => ValueLine::Boolean(*is_true),
        AttributeValue::Number(number) => ValueLine::Number(*number),
        AttributeValue::String(text) => ValueLine::String(text.clone()),
    };
    attributes.iter().map(|(key, value)| (key.as_str().to_owned(), line(value))).collect()
}

/// Reads what [`attribute_lines`] returned.
pub(super) fn attributes(lines: &BTreeMap<String, ValueLine>) -> Result<Attributes, BackupError> {
    let mut values = BTreeMap::new();
    for (key, line) in lines {
        let value = match line {
            ValueLine::Boolean(is_true) => AttributeValue::Boolean(*is_true),
            ValueLine::Number(number) => AttributeValue::number(*number).map_err(invalid)?,
            ValueLine::String(text) => AttributeValue::string(text).map_err(invalid)?,
        };
        values.insert(AttributeKey::parse(key).map_err(invalid)?, value);
    }
    Attributes::new(values).map_err(invalid)
}
