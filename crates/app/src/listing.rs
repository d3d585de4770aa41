//! Owners of listed records.

use crate::App;
use crate::error::Result;
use docent_domain::id::UserId;
use docent_domain::text::Email;

/// The ID of the account with this email address, for filtering records by owner. A record's viewers may see its
/// owner.
///
/// # Errors
/// When the database cannot be reached.
pub async fn owner(app: &App, email: &str) -> Result<Option<UserId>> {
    let Ok(email) = Email::parse(email) else { return Ok(None) };
    let user = app.store.read().await?.users().by_email(&email).await?;
    Ok(user.map(|user| user.id))
}
