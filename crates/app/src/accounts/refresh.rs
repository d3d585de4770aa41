//! Trading a refresh token for the next pair.

use super::{NewPair, TokenPair, authenticate};
use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::id::SessionId;
use docent_ports::token_store::{Rotation, RotationOutcome};

/// Replaces a refresh token. A token that had been replaced longer ago than the grace is taken for
/// stolen, and its whole family is revoked.
///
/// # Errors
/// [`Error::RefreshTokenRefused`]; or when a store cannot be reached.
pub async fn refresh(app: &App, token: &str) -> Result<TokenPair> {
    let now = app.clock.now();
    let refused = |_| Error::RefreshTokenRefused;
    let presented = app.signer.verify_refresh(token, now).map_err(refused)?;
    let user = match authenticate::active(app, presented.user).await {
        Ok(user) => user,
        Err(Error::Unauthenticated) => return Err(Error::RefreshTokenRefused),
        Err(error) => return Err(error),
    };
    let session = SessionId::of_family(presented.family);
    let known = app.store.read_latest().await?.sessions().get(session).await?;
    let is_revoked = known.is_some_and(|known| known.revoked_at.is_some());
    if is_revoked || !user.accepts_credentials_issued_at(presented.issued_at) {
        app.tokens.revoke(presented.family).await?;
        return Err(Error::RefreshTokenRefused);
    }
    let pair = NewPair::of(app, presented.user, presented.family);
    let rotation = Rotation {
        family: presented.family,
        presented: presented.id,
        successor: pair.refresh.id,
        expires_at: pair.refresh.expires_at,
        grace: app.settings.refresh_rotation_grace,
        now,
    };
    match app.tokens.rotate(rotation).await? {
        RotationOutcome::Renewed => {
            let mut work = app.store.begin().await?;
            work.sessions().touch(session, now, pair.refresh.expires_at).await?;
            work.commit().await?;
            Ok(pair.sign(app))
        }
        RotationOutcome::Unknown => Err(Error::RefreshTokenRefused),
        RotationOutcome::Reused => {
            tracing::warn!(user = %presented.user, "a replaced refresh token was used again; its family is revoked");
            let mut work = app.store.begin().await?;
            work.sessions().revoke(session, now).await?;
            work.commit().await?;
            Err(Error::RefreshTokenRefused)
        }
    }
}
