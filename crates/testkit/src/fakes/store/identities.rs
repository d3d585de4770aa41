//! Identities at providers, and sign-ins at providers, in memory.

use super::{Transaction, insert_once, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{SessionId, UserId};
use docent_domain::identity::{Identity, LogoutRequest, ProviderSession};
use docent_ports::identities::{IdentityReader, IdentityWriter};

fn key(issuer: &str, subject: &str) -> (String, String) {
    (issuer.to_owned(), subject.to_owned())
}

#[async_trait]
impl IdentityReader for Transaction {
    async fn get(&mut self, issuer: &str, subject: &str) -> Result<Option<Identity>> {
        Ok(self.read()?.identities.get(&key(issuer, subject)).cloned())
    }

    async fn of_user(&mut self, user: UserId) -> Result<Vec<Identity>> {
        let identities = self.read()?.identities.values().filter(|identity| identity.user == user);
        let mut identities: Vec<Identity> = identities.cloned().collect();
        identities.sort_by(|a, b| (a.created_at, &a.issuer).cmp(&(b.created_at, &b.issuer)));
        Ok(identities)
    }

    async fn session(&mut self, session: SessionId) -> Result<Option<ProviderSession>> {
        let tables = self.read()?;
        let known = tables.provider_sessions.get(&session);
        // It is removed with the session.
        Ok(known.filter(|_| tables.sessions.contains_key(&session)).cloned())
    }

    async fn sessions_to_end(&mut self, request: &LogoutRequest) -> Result<Vec<SessionId>> {
        let tables = self.read()?;
        let is_meant = |known: &&ProviderSession| {
            known.issuer == request.issuer
                && (request.subject.is_some() || request.provider_session.is_some())
                && request.subject.as_ref().is_none_or(|subject| *subject == known.subject)
                && (request.provider_session.is_none() || request.provider_session == known.provider_session)
                && tables.sessions.contains_key(&known.session)
        };
        Ok(tables.provider_sessions.values().filter(is_meant).map(|known| known.session).collect())
    }
}

#[async_trait]
impl IdentityWriter for Transaction {
    async fn insert(&mut self, identity: &Identity) -> Result<bool> {
        self.write(|tables| {
            tables.check_owner(identity.user)?;
            let key = key(&identity.issuer, &identity.subject);
            if tables.identities.contains_key(&key) {
                return Ok(false);
            }
            insert_once(&mut tables.identities, key, identity)?;
            Ok(true)
        })
    }

    async fn touch(&mut self, issuer: &str, subject: &str, at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let identity = tables.identities.get_mut(&key(issuer, subject));
            Ok(identity.map(|identity| identity.last_used_at = identity.last_used_at.max(at)).is_some())
        })
    }

    async fn remove(&mut self, issuer: &str, subject: &str) -> Result<bool> {
        self.write(|tables| Ok(tables.identities.remove(&key(issuer, subject)).is_some()))
    }

    async fn insert_session(&mut self, session: &ProviderSession) -> Result<()> {
        self.write(|tables| {
            if !tables.sessions.contains_key(&session.session) {
                return Err(violation("the session does not exist"));
            }
            insert_once(&mut tables.provider_sessions, session.session, session)
        })
    }
}
