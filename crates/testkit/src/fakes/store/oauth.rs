//! OAuth clients and authorization codes in memory.

use super::{Transaction, insert_once, violation};
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{AuthorizationCodeId, OAuthClientId};
use docent_domain::oauth::{AuthorizationCode, RegisteredClient};
use docent_ports::oauth::{OAuthReader, OAuthWriter};

#[async_trait]
impl OAuthReader for Transaction {
    async fn client(&mut self, id: OAuthClientId) -> Result<Option<RegisteredClient>> {
        Ok(self.read()?.oauth_clients.get(&id).cloned())
    }

    async fn code(&mut self, sha256: &[u8; 32]) -> Result<Option<AuthorizationCode>> {
        Ok(self.read()?.oauth_codes.values().find(|code| code.sha256 == *sha256).cloned())
    }
}

#[async_trait]
impl OAuthWriter for Transaction {
    async fn insert_client(&mut self, client: &RegisteredClient) -> Result<()> {
        self.write(|tables| insert_once(&mut tables.oauth_clients, client.id, client))
    }

    async fn touch_client(&mut self, id: OAuthClientId, at: DateTime<Utc>) -> Result<()> {
        self.write(|tables| {
            if let Some(client) = tables.oauth_clients.get_mut(&id) {
                client.last_used_at = client.last_used_at.max(Some(at));
            }
            Ok(())
        })
    }

    async fn purge_clients(
        &mut self,
        unused_before: DateTime<Utc>,
        used_before: DateTime<Utc>,
        limit: u64,
    ) -> Result<u64> {
        self.write(|tables| {
            let is_old = |client: &&RegisteredClient| match client.last_used_at {
                None => client.created_at < unused_before,
                Some(at) => at < used_before,
            };
            let old = tables.oauth_clients.values().filter(is_old).map(|client| client.id);
            let old: Vec<_> = old.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
            tables.oauth_clients.retain(|id, _| !old.contains(id));
            Ok(old.len() as u64)
        })
    }

    async fn insert_code(&mut self, code: &AuthorizationCode) -> Result<()> {
        self.write(|tables| {
            tables.check_owner(code.user)?;
            if tables.oauth_codes.values().any(|other| other.sha256 == code.sha256) {
                return Err(violation("there is an authorization code with this digest"));
            }
            insert_once(&mut tables.oauth_codes, code.id, code)
        })
    }

    async fn use_code(&mut self, id: AuthorizationCodeId, at: DateTime<Utc>) -> Result<bool> {
        self.write(|tables| {
            let code = tables.oauth_codes.get_mut(&id).filter(|code| code.used_at.is_none());
            Ok(code.map(|code| code.used_at = Some(at)).is_some())
        })
    }

    async fn purge_codes(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let over = tables.oauth_codes.values().filter(|code| code.expires_at < before);
            let over: Vec<_> =
                over.map(|code| code.id).take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
            tables.oauth_codes.retain(|id, _| !over.contains(id));
            Ok(over.len() as u64)
        })
    }
}
