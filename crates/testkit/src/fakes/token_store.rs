//! In-memory token store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};
use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Debug)]
struct Token {
    family: FamilyId,
    user: UserId,
    expires_at: DateTime<Utc>,
    replaced_at: Option<DateTime<Utc>>,
}

/// A token store in a map that shrinks only by revocations.
#[derive(Debug, Default)]
pub struct FakeTokenStore {
    tokens: Mutex<HashMap<TokenId, Token>>,
}

#[async_trait]
impl TokenStore for FakeTokenStore {
    async fn start(&self, first: &RefreshClaims) -> Result<()> {
        let RefreshClaims { id, family, user, expires_at, .. } = *first;
        let token = Token { family, user, expires_at, replaced_at: None };
        self.tokens.lock().unwrap().insert(id, token);
        Ok(())
    }

    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome> {
        let Rotation { family, presented, successor, expires_at, grace, now } = rotation;
        let mut tokens = self.tokens.lock().unwrap();
        let token =
            tokens.get_mut(&presented).filter(|token| token.family == family && now < token.expires_at);
        let Some(token) = token else { return Ok(RotationOutcome::Unknown) };
        if (now - *token.replaced_at.get_or_insert(now)).to_std().is_ok_and(|age| age > grace) {
            tokens.retain(|_, token| token.family != family);
            return Ok(RotationOutcome::Reused);
        }
        let next = Token { family, user: token.user, expires_at, replaced_at: None };
        tokens.insert(successor, next);
        Ok(RotationOutcome::Renewed)
    }

    async fn revoke(&self, family: FamilyId) -> Result<()> {
        self.tokens.lock().unwrap().retain(|_, token| token.family != family);
        Ok(())
    }

    async fn revoke_all(&self, user: UserId, _now: DateTime<Utc>) -> Result<()> {
        self.tokens.lock().unwrap().retain(|_, token| token.user != user);
        Ok(())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}
