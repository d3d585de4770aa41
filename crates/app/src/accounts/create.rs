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
use docent_ports::{clock::Clock, entropy::Entropy, password_hasher::PasswordHasher, store::Store};

/// What a new account may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It may enter the admin panel.
    pub is_staff: bool,
    /// It bypasses all permission checks.
    pub is_superuser: bool,
}

/// What creating an account needs: little enough for the command line to do it beside a running server.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Registrar<'a> {
    /// Where accounts are kept.
    pub store: &'a dyn Store,
    /// Hashes passwords.
    pub hasher: &'a dyn PasswordHasher,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Chance.
    pub entropy: &'a dyn Entropy,
}

impl App {
    /// Creates accounts where this service keeps them.
    pub fn registrar(&self) -> Registrar<'_> {
        Registrar { store: &*self.store, hasher: &*self.hasher, clock: &*self.clock, entropy: &*self.entropy }
    }
}

impl Registrar<'_> {
    /// Creates an active account.
    ///
    /// # Errors
    /// [`Error::EmailTaken`], or when the database cannot be reached.
    pub async fn create(self, email: Email, password: Password, flags: Flags) -> Result<User> {
        let mut random = [0; 10];
        self.entropy.fill(&mut random);
        let created_at = self.clock.now();
        let user = User {
            id: UserId::generate(created_at, random),
            email,
            password: self.hasher.hash(password).await?,
            is_active: true,
            is_staff: flags.is_staff,
            is_superuser: flags.is_superuser,
            created_at,
            last_login_at: None,
            email_verified_at: None,
            sessions_from: created_at,
        };
        let mut work = self.store.begin().await?;
        if !work.users().insert(&user).await? {
            return Err(Error::EmailTaken);
        }
        work.commit().await?;
        Ok(user)
    }

    /// Gives an account a new password; says whether there is one with this address.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn set_password(self, email: &Email, password: Password) -> Result<Option<User>> {
        let hash = self.hasher.hash(password).await?;
        let mut work = self.store.begin().await?;
        let Some(mut user) = work.users().by_email(email).await? else { return Ok(None) };
        user.password = hash;
        work.users().update(&user).await?;
        work.commit().await?;
        Ok(Some(user))
    }
}
