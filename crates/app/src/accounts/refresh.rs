//! Refresh token rotation.

use super::{NewPair, TokenPair, authenticate};
use crate::App;
use crate::error::{Error, Result};
use docent_domain::id::SessionId;
use docent_ports::token_store::{Rotation, RotationOutcome};

/// Exchanges a refresh token for a new token pair. Reuse of a replaced token after the grace period revokes its
/// whole family: the token is assumed to be stolen.
///
/// # Errors
/// [`Error::InvalidRefreshToken`]; or when a store cannot be reached.
pub async fn refresh(app: &App, token: &str) -> Result<TokenPair> {
    let now = app.now();
    let claims = app.signer.verify_refresh(token, now).map_err(|_| Error::InvalidRefreshToken)?;
    let user = match authenticate::active_account(app, claims.user).await {
        Ok(user) => user,
        Err(Error::Unauthenticated) => return Err(Error::InvalidRefreshToken),
        Err(error) => return Err(error),
    };
    let session_id = SessionId::of_family(claims.family);
    let session = app.store.read_latest().await?.sessions().get(session_id).await?;
    let is_revoked = session.is_some_and(|session| session.revoked_at.is_some());
    if is_revoked || !user.accepts_credentials_issued_at(claims.issued_at) {
        app.tokens.revoke(claims.family).await?;
        return Err(Error::InvalidRefreshToken);
    }
    let pair = NewPair::new(app, claims.user, claims.family);
    let rotation = Rotation {
        family: claims.family,
        presented: claims.id,
        successor: pair.refresh.id,
        expires_at: pair.refresh.expires_at,
        grace: app.settings.refresh_rotation_grace,
        now,
    };
    match app.tokens.rotate(rotation).await? {
        RotationOutcome::Renewed => {
            let mut work = app.store.begin().await?;
            work.sessions().touch(session_id, now, pair.refresh.expires_at).await?;
            work.commit().await?;
            Ok(pair.sign(app))
        }
        RotationOutcome::Unknown => Err(Error::InvalidRefreshToken),
        RotationOutcome::Reused => {
            tracing::warn!(user = %claims.user, "a replaced refresh token was reused; its family is revoked");
            let mut work = app.store.begin().await?;
            work.sessions().revoke(session_id, now).await?;
            work.commit().await?;
            Err(Error::InvalidRefreshToken)
        }
    }
}
