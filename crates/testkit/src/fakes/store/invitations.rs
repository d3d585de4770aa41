//! Invitations in memory.

use super::{Tables, Transaction, insert_once, newest_page, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::InvitationId;
use docent_domain::invitation::Invitation;
use docent_domain::listing::{Page, PageRequest};
use docent_domain::text::Email;
use docent_ports::invitations::{InvitationReader, InvitationWriter};

#[async_trait]
impl InvitationReader for Transaction {
    async fn get(&mut self, id: InvitationId) -> Result<Option<Invitation>> {
        Ok(self.read()?.invitations.get(&id).cloned())
    }

    async fn by_email(&mut self, email: &Email) -> Result<Option<Invitation>> {
        Ok(self.read()?.invitations.values().find(|invitation| invitation.email == *email).cloned())
    }

    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<Invitation>> {
        Ok(self.read()?.invitations.values().find(|invitation| invitation.sha256 == *sha256).cloned())
    }

    async fn list(&mut self, text: Option<&str>, page: PageRequest) -> Result<Page<Invitation>> {
        let text = text.map(str::to_ascii_lowercase);
        let fits = |invitation: &&Invitation| {
            text.as_ref().is_none_or(|text| invitation.email.as_str().to_ascii_lowercase().contains(text))
        };
        let invitations: Vec<Invitation> = self.read()?.invitations.values().filter(fits).cloned().collect();
        Ok(newest_page(invitations, |invitation| (invitation.created_at, invitation.id), page))
    }
}

/// Checks that the inviting account exists, and that the digest is not that of another invitation.
fn check(tables: &Tables, invitation: &Invitation) -> Result<()> {
    if let Some(user) = invitation.invited_by {
        tables.check_owner(user)?;
    }
    let mut others = tables.invitations.values().filter(|other| other.id != invitation.id);
    if others.any(|other| other.sha256 == invitation.sha256) {
        return Err(violation("there is an invitation with this digest"));
    }
    Ok(())
}

#[async_trait]
impl InvitationWriter for Transaction {
    async fn insert(&mut self, invitation: &Invitation) -> Result<bool> {
        self.write(|tables| {
            if tables.invitations.values().any(|other| other.email == invitation.email) {
                return Ok(false);
            }
            check(tables, invitation)?;
            insert_once(&mut tables.invitations, invitation.id, invitation)?;
            Ok(true)
        })
    }

    async fn update(&mut self, invitation: &Invitation) -> Result<bool> {
        self.write(|tables| {
            check(tables, invitation)?;
            let stored = tables.invitations.get_mut(&invitation.id);
            Ok(stored.map(|stored| stored.clone_from(invitation)).is_some())
        })
    }

    async fn remove(&mut self, id: InvitationId) -> Result<bool> {
        self.write(|tables| Ok(tables.invitations.remove(&id).is_some()))
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let over = tables.invitations.values().filter(|invitation| invitation.expires_at < before);
            let over: Vec<_> = over
                .map(|invitation| invitation.id)
                .take(usize::try_from(limit).unwrap_or(usize::MAX))
                .collect();
            tables.invitations.retain(|id, _| !over.contains(id));
            Ok(over.len() as u64)
        })
    }
}
