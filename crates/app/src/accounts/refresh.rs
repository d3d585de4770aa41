//! Refresh token rotation.

use super::{NewPair, ROTATION_GRACE, TokenPair};
use crate::App;
use crate::error::{Error, Result};
use docent_domain::id::SessionId;
use docent_ports::token_store::{Rotation, RotationOutcome};

/// Exchanges a refresh token for a new token pair, at most until the session has reached its lifetime. Concurrent uses
/// of one token, and retries within the grace period, get the same refresh token. Reuse of a replaced token after the grace period revokes its
/// whole family: the token is assumed to be stolen.
///
/// # Errors
/// [`Error::InvalidRefreshToken`]; or when a store cannot be reached.
pub async fn refresh(app: &App, token: &str) -> Result<TokenPair> {
    let now = app.now();
    let claims = app.signer.verify_refresh(token, now).map_err(|_| Error::InvalidRefreshToken)?;
    let session_id = SessionId::of_family(claims.family);
    let found = app.store.read_latest().await?.sessions().with_user(session_id).await?;
    let found = found.filter(|(session, user)| {
        user.id == claims.user
            && user.is_active
            && !user.lacks_second_factor(app.settings.second_factor_rule)
            && user.accepts_credentials_issued_at(claims.issued_at)
            && session.revoked_at.is_none()
            && now < session.started_at + app.settings.session_lifetime
    });
    let Some((session, user)) = found else {
        app.tokens.revoke(claims.family).await?;
        return Err(Error::InvalidRefreshToken);
    };
    let mut pair = NewPair::new(app, claims.user, claims.family);
    pair.end_by(session.started_at + app.settings.session_lifetime);
    let rotation = Rotation {
        family: claims.family,
        presented: claims.id,
        successor: pair.refresh.id,
        expires_at: pair.refresh.expires_at,
        grace: ROTATION_GRACE,
        now,
    };
    match app.tokens.rotate(rotation).await? {
        RotationOutcome::Renewed { token, expires_at } => {
            (pair.refresh.id, pair.refresh.expires_at) = (token, expires_at);
            let mut work = app.store.begin().await?;
            work.sessions().touch(session_id, now, pair.refresh.expires_at).await?;
            work.commit().await?;
            Ok(pair.sign(app, &user))
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
