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
struct Family {
    user: UserId,
    token: TokenId,
    expires_at: DateTime<Utc>,
    replaced: HashMap<TokenId, DateTime<Utc>>,
}

/// A token store in a map that shrinks only by revocations.
#[derive(Debug, Default)]
pub struct FakeTokenStore {
    families: Mutex<HashMap<FamilyId, Family>>,
}

#[async_trait]
impl TokenStore for FakeTokenStore {
    async fn start(&self, first: &RefreshClaims) -> Result<()> {
        let RefreshClaims { id, family, user, expires_at, .. } = *first;
        let started = Family { user, token: id, expires_at, replaced: HashMap::new() };
        self.families.lock().unwrap().insert(family, started);
        Ok(())
    }

    async fn rotate(&self, rotation: Rotation) -> Result<RotationOutcome> {
        let Rotation { family, presented, successor, expires_at, grace, now } = rotation;
        let mut families = self.families.lock().unwrap();
        let Some(found) = families.get_mut(&family).filter(|family| now < family.expires_at) else {
            return Ok(RotationOutcome::Unknown);
        };
        if presented == found.token {
            found.replaced.insert(presented, now);
            (found.token, found.expires_at) = (successor, expires_at);
        }
        let is_usable = |at: &DateTime<Utc>| (now - *at).to_std().is_ok_and(|age| age <= grace);
        if !found.replaced.get(&presented).is_some_and(is_usable) {
            families.remove(&family);
            return Ok(RotationOutcome::Reused);
        }
        Ok(RotationOutcome::Renewed { token: found.token, expires_at: found.expires_at })
    }

    async fn revoke(&self, family: FamilyId) -> Result<()> {
        self.families.lock().unwrap().remove(&family);
        Ok(())
    }

    async fn revoke_all(&self, user: UserId, _now: DateTime<Utc>) -> Result<()> {
        self.families.lock().unwrap().retain(|_, family| family.user != user);
        Ok(())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}
