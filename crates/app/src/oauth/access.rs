//! The applications that an account has connected.

use crate::App;
use crate::accounts::api_keys;
use crate::error::{Error, Result};
use docent_domain::access::Actor;
use docent_domain::api_key::ApiKey;
use docent_domain::id::{ApiKeyId, UserId};
use docent_domain::listing::{ApiKeyFilter, Page, PageRequest};
use docent_domain::permission::RecordKind;

/// A page of the applications that the actor's account has connected.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list_own(app: &App, actor: &Actor, page: PageRequest) -> Result<Page<ApiKey>> {
    list(app, actor.user(), page).await
}

async fn list(app: &App, user: UserId, page: PageRequest) -> Result<Page<ApiKey>> {
    let filter = ApiKeyFilter { user: Some(user), is_connected: Some(true), ..ApiKeyFilter::default() };
    Ok(app.store.read().await?.api_keys().list(&filter, page).await?)
}

/// An application that the actor's account has connected.
///
/// # Errors
/// [`Error::NotFound`], also for one of another account, or when the database cannot be reached.
pub async fn get_own(app: &App, actor: &Actor, id: ApiKeyId) -> Result<ApiKey> {
    let key = api_keys::get_own(app, actor, id).await?;
    if key.connection.is_some() { Ok(key) } else { Err(Error::NotFound(RecordKind::ApiKey)) }
}
