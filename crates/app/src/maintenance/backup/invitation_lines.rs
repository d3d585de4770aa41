//! Invitations in the archive format.

use super::lines::{digest, hex, id, instant, invalid};
use super::{BackupError, invalid_archive};
use docent_domain::collection::CollectionRole;
use docent_domain::id::CollectionId;
use docent_domain::invitation::{Invitation, InvitedAccess};
use docent_domain::text::Email;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct InvitationLine {
    id: String,
    email: String,
    groups: Vec<String>,
    /// Roles by ID of the collection.
    collections: BTreeMap<String, String>,
    invited_by: Option<String>,
    is_emailed: bool,
    sha256: String,
    created_at: i64,
    expires_at: i64,
}

impl InvitationLine {
    pub(super) fn of(invitation: &Invitation) -> Self {
        let InvitedAccess { groups, collections } = &invitation.access;
        let role = |(id, role): (&CollectionId, &CollectionRole)| (id.to_string(), role.name().to_owned());
        Self {
            id: invitation.id.to_string(),
            email: invitation.email.as_str().to_owned(),
            groups: groups.iter().map(ToString::to_string).collect(),
            collections: collections.iter().map(role).collect(),
            invited_by: invitation.invited_by.map(|user| user.to_string()),
            is_emailed: invitation.is_emailed,
            sha256: hex(&invitation.sha256),
            created_at: invitation.created_at.timestamp_micros(),
            expires_at: invitation.expires_at.timestamp_micros(),
        }
    }

    pub(super) fn invitation(&self) -> Result<Invitation, BackupError> {
        let mut access = InvitedAccess::default();
        for group in &self.groups {
            access.groups.insert(id(group)?);
        }
        for (collection, name) in &self.collections {
            let role = CollectionRole::parse(name)
                .ok_or_else(|| invalid_archive(format!("`{name}` is not a known role")))?;
            access.collections.insert(id(collection)?, role);
        }
        Ok(Invitation {
            id: id(&self.id)?,
            email: Email::parse(&self.email).map_err(invalid)?,
            access,
            invited_by: self.invited_by.as_deref().map(id).transpose()?,
            is_emailed: self.is_emailed,
            sha256: digest(&self.sha256)?,
            created_at: instant(self.created_at)?,
            expires_at: instant(self.expires_at)?,
        })
    }
}
