//! Creating accounts.

use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    id::UserId,
    text::Email,
    user::{Password, User},
};

/// What a new account may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It may enter the admin panel.
    pub is_staff: bool,
    /// It bypasses all permission checks.
    pub is_superuser: bool,
}

/// Creates an active account.
///
/// # Errors
/// [`Error::EmailTaken`], or when the database cannot be reached.
pub async fn create(app: &App, email: Email, password: Password, flags: Flags) -> Result<User> {
    let user = User {
        id: app.new_id(UserId::generate),
        email,
        password: app.hasher.hash(password).await?,
        is_active: true,
        is_staff: flags.is_staff,
        is_superuser: flags.is_superuser,
        created_at: app.clock.now(),
        last_login_at: None,
    };
    let mut work = app.store.begin().await?;
    if !work.users().insert(&user).await? {
        return Err(Error::EmailTaken);
    }
    work.commit().await?;
    Ok(user)
}
