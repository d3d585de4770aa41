//! Authentication of connected applications by their access tokens.

use super::api_keys;
use crate::App;
use crate::error::{Error, Result};
use docent_domain::api_key::ApiKey;
use docent_domain::connection::Resource;
use docent_domain::token::ConnectionToken;
use docent_domain::user::User;

/// Authenticates an access token of a connected application for a resource: its account and the key with the scopes of the
/// token. Records its use, at most once per minute.
///
/// # Errors
/// [`Error::Unauthenticated`] when the token is not valid, is for another resource, the application was disconnected or the
/// account is not active; or when the database cannot be reached.
pub(super) async fn authenticate(app: &App, token: &str, resource: Resource) -> Result<(User, ApiKey)> {
    if !app.settings.accepts_oauth {
        return Err(Error::Unauthenticated);
    }
    let now = app.now();
    let claims = app.signer.verify_connection(ConnectionToken::Access, token, now).map_err(|reason| {
        tracing::debug!(%reason, "access token of an application rejected");
        Error::Unauthenticated
    })?;
    let mut view = app.store.read_latest().await?;
    let key = view.api_keys().get(claims.api_key).await?.ok_or(Error::Unauthenticated)?;
    let is_for_resource =
        key.connection.as_ref().is_some_and(|connection| connection.resource.includes(resource));
    let scopes = key.scopes.intersection(claims.scopes);
    if !is_for_resource || !key.is_valid(now) || key.user != claims.user || scopes.is_empty() {
        tracing::debug!(key = %key.id, "access token of an application rejected");
        return Err(Error::Unauthenticated);
    }
    let user = view.users().get(key.user).await?;
    let account = user.filter(|user| user.is_active).ok_or(Error::Unauthenticated)?;
    drop(view);
    api_keys::record_use(app, &key, now).await;
    Ok((account, ApiKey { scopes, ..key }))
}
