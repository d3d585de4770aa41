//! API keys, sessions and verification tokens in memory.

use super::{Transaction, insert_once, newest_page};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::api_key::{ApiKey, ApiKeyPrefix};
use docent_domain::connection::Connection;
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, SessionId, UserId, VerificationId};
use docent_domain::listing::{ApiKeyFilter, Page, PageRequest, SessionFilter};
use docent_domain::session::Session;
use docent_domain::user::User;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_ports::api_keys::{ApiKeyReader, ApiKeyWriter};
use docent_ports::sessions::{SessionReader, SessionWriter};
use docent_ports::verifications::{VerificationReader, VerificationWriter};
use std::cmp::Reverse;
use std::net::IpAddr;

#[async_trait]
impl ApiKeyReader for Transaction {
    async fn get(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>> {
        Ok(self.read()?.api_keys.get(&id).cloned())
    }

    async fn by_prefix(&mut self, prefix: &ApiKeyPrefix) -> Result<Option<ApiKey>> {
        Ok(self.read()?.api_keys.values().find(|key| key.prefix == *prefix).cloned())
    }

    async fn list(&mut self, filter: &ApiKeyFilter, page: PageRequest) -> Result<Page<ApiKey>> {
        let holds = |text: &str, part: &str| text.to_ascii_lowercase().contains(&part.to_ascii_lowercase());
        let fits = |key: &&ApiKey| {
            filter.user.is_none_or(|user| key.user == user)
                && filter.valid_at.is_none_or(|at| key.is_valid(at))
                && filter.is_connected.is_none_or(|is_connected| key.connection.is_some() == is_connected)
                && filter
                    .text
                    .as_ref()
                    .is_none_or(|text| holds(key.name.as_str(), text) || holds(key.prefix.as_str(), text))
        };
        let keys: Vec<ApiKey> = self.read()?.api_keys.values().filter(fits).cloned().collect();
        Ok(newest_page(keys, |key| (key.created_at, key.id), page))
    }
}

#[async_trait]
impl ApiKeyWriter for Transaction {
    async fn insert(&mut self, key: &ApiKey) -> Result<bool> {
        self.write(|tables| {
            tables.check_owner(key.user)?;
            if tables.api_keys.values().any(|other| other.prefix == key.prefix) {
                return Ok(false);
            }
            insert_once(&mut tables.api_keys, key.id, key)?;
            Ok(true)
        })
    }

    async fn revoke(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let key = tables.api_keys.get_mut(&id).filter(|key| key.revoked_at.is_none());
            Ok(key.map(|key| key.revoked_at = Some(at)).is_some())
        })
    }

    async fn disconnect_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<u64> {
        self.write(|tables| {
            let is_meant =
                |key: &&mut ApiKey| key.user == user && key.connection.is_some() && key.revoked_at.is_none();
            let keys = tables.api_keys.values_mut().filter(is_meant);
            Ok(keys.map(|key| key.revoked_at = Some(at)).count() as u64)
        })
    }

    async fn renew(
        &mut self,
        id: ApiKeyId,
        connection: &Connection,
        expires_at: DateTime<Utc>,
    ) -> Result<bool> {
        self.write(|tables| {
            let key = tables.api_keys.get_mut(&id);
            Ok(key
                .map(|key| (key.connection, key.expires_at) = (Some(connection.clone()), Some(expires_at)))
                .is_some())
        })
    }

    async fn touch(&mut self, id: ApiKeyId, at: DateTime<Utc>) -> Result<()> {
        self.write(|tables| {
            if let Some(key) = tables.api_keys.get_mut(&id) {
                key.last_used_at = key.last_used_at.max(Some(at));
            }
            Ok(())
        })
    }
}

#[async_trait]
impl SessionReader for Transaction {
    async fn get(&mut self, id: SessionId) -> Result<Option<Session>> {
        Ok(self.read()?.sessions.get(&id).cloned())
    }

    async fn with_user(&mut self, id: SessionId) -> Result<Option<(Session, User)>> {
        let tables = self.read()?;
        let session = tables.sessions.get(&id);
        let user = session.and_then(|session| tables.users.get(&session.user));
        Ok(session.cloned().zip(user.cloned()))
    }

    async fn list(&mut self, filter: &SessionFilter, page: PageRequest) -> Result<Page<Session>> {
        let fits = |session: &&Session| {
            filter.user.is_none_or(|user| session.user == user)
                && filter.kind.is_none_or(|kind| session.kind == kind)
                && filter.valid_at.is_none_or(|at| session.is_valid(at))
        };
        let sessions: Vec<Session> = self.read()?.sessions.values().filter(fits).cloned().collect();
        Ok(newest_page(sessions, |session| (session.last_used_at, session.id), page))
    }

    async fn addresses(&mut self, user: UserId, limit: u64) -> Result<Vec<IpAddr>> {
        let mut sessions: Vec<&Session> = self.read()?.sessions.values().collect();
        sessions.retain(|session| session.user == user);
        sessions.sort_by_key(|session| Reverse(session.last_used_at));
        let mut addresses = Vec::new();
        for address in sessions.into_iter().filter_map(|session| session.client_ip) {
            if !addresses.contains(&address) && (addresses.len() as u64) < limit {
                addresses.push(address);
            }
        }
        Ok(addresses)
    }
}

#[async_trait]
impl SessionWriter for Transaction {
    async fn insert(&mut self, session: &Session) -> Result<()> {
        self.write(|tables| {
            tables.check_owner(session.user)?;
            insert_once(&mut tables.sessions, session.id, session)
        })
    }

    async fn touch(&mut self, id: SessionId, at: DateTime<Utc>, expires_at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let session = tables.sessions.get_mut(&id).filter(|session| session.revoked_at.is_none());
            let Some(session) = session else { return Ok(false) };
            session.last_used_at = session.last_used_at.max(at);
            session.expires_at = session.expires_at.max(expires_at);
            Ok(true)
        })
    }

    async fn verify(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let session = tables.sessions.get_mut(&id).filter(|session| session.revoked_at.is_none());
            Ok(session.map(|session| session.verified_at = session.verified_at.max(at)).is_some())
        })
    }

    async fn revoke(&mut self, id: SessionId, at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let session = tables.sessions.get_mut(&id).filter(|session| session.revoked_at.is_none());
            Ok(session.map(|session| session.revoked_at = Some(at)).is_some())
        })
    }

    async fn revoke_for_user(&mut self, user: UserId, at: DateTime<Utc>) -> Result<Vec<SessionId>> {
        self.write(|tables| {
            let is_meant = |session: &&mut Session| session.user == user && session.revoked_at.is_none();
            let revoked = tables.sessions.values_mut().filter(is_meant);
            Ok(revoked
                .map(|session| {
                    session.revoked_at = Some(at);
                    session.id
                })
                .collect())
        })
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let is_over = |session: &&Session| {
                session.expires_at < before || session.revoked_at.is_some_and(|at| at < before)
            };
            let over = tables.sessions.values().filter(is_over).map(|session| session.id);
            let over: Vec<_> = over.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
            tables.sessions.retain(|id, _| !over.contains(id));
            Ok(over.len() as u64)
        })
    }
}

#[async_trait]
impl VerificationReader for Transaction {
    async fn get(&mut self, id: VerificationId) -> Result<Option<VerificationToken>> {
        Ok(self.read()?.verifications.get(&id).cloned())
    }

    async fn by_sha256(&mut self, sha256: &[u8; 32]) -> Result<Option<VerificationToken>> {
        Ok(self.read()?.verifications.values().find(|token| token.sha256 == *sha256).cloned())
    }

    async fn list(&mut self, user: Option<UserId>, page: PageRequest) -> Result<Page<VerificationToken>> {
        let tokens =
            self.read()?.verifications.values().filter(|token| user.is_none_or(|user| token.user == user));
        let tokens: Vec<VerificationToken> = tokens.cloned().collect();
        Ok(newest_page(tokens, |token| (token.created_at, token.id), page))
    }
}

#[async_trait]
impl VerificationWriter for Transaction {
    async fn insert(&mut self, verification: &VerificationToken) -> Result<()> {
        self.write(|tables| {
            tables.check_owner(verification.user)?;
            insert_once(&mut tables.verifications, verification.id, verification)
        })
    }

    async fn remove(&mut self, id: VerificationId) -> Result<bool> {
        self.write(|tables| Ok(tables.verifications.remove(&id).is_some()))
    }

    async fn remove_for_user(&mut self, user: UserId, purpose: Option<VerificationPurpose>) -> Result<u64> {
        self.write(|tables| {
            let before = tables.verifications.len();
            let is_meant = |token: &VerificationToken| {
                token.user == user && purpose.is_none_or(|purpose| token.purpose == purpose)
            };
            tables.verifications.retain(|_, token| !is_meant(token));
            Ok((before - tables.verifications.len()) as u64)
        })
    }

    async fn purge(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let over = tables.verifications.values().filter(|token| token.expires_at < before);
            let over: Vec<_> =
                over.map(|token| token.id).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
            tables.verifications.retain(|id, _| !over.contains(id));
            Ok(over.len() as u64)
        })
    }
}
