//! Creating accounts, and what their passwords and sessions depend on.

use crate::{
    App,
    audit::{Auditor, By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{
    audit::AuditAction,
    id::UserId,
    permission::RecordKind,
    text::Email,
    user::{Password, User},
    verification::VerificationPurpose,
};
use docent_ports::{
    clock::Clock,
    entropy::Entropy,
    page::PageRequest,
    password_hasher::PasswordHasher,
    store::{Store, UnitOfWork},
    users::UserFilter,
};

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
    pub async fn create(self, by: &By, email: Email, password: Password, flags: Flags) -> Result<User> {
        let user = self.draft(email, password, flags).await?;
        let mut work = self.store.begin().await?;
        self.insert(&mut *work, by, &user, Changes::default()).await?;
        work.commit().await?;
        Ok(user)
    }

    /// An account as it will be: it takes a while, and so no unit of work is open.
    pub(crate) async fn draft(self, email: Email, password: Password, flags: Flags) -> Result<User> {
        let mut random = [0; 10];
        self.entropy.fill(&mut random);
        let created_at = self.clock.now();
        Ok(User {
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
        })
    }

    /// Adds an account; `also` is what the audit log tells of it besides its address and flags.
    pub(crate) async fn insert(
        self,
        work: &mut dyn UnitOfWork,
        by: &By,
        user: &User,
        also: Changes,
    ) -> Result<()> {
        if !work.users().insert(user).await? {
            return Err(Error::EmailTaken);
        }
        let changes = also
            .added("email", user.email.as_str())
            .added("is_active", user.is_active)
            .added("is_staff", user.is_staff)
            .added("is_superuser", user.is_superuser);
        Ok(self.auditor().write(work, by, AuditAction::Add, Subject::user(user), changes).await?)
    }

    /// Gives an account a new password, and ends all of its sessions.
    ///
    /// # Errors
    /// [`Error::NotFound`], or when the database cannot be reached.
    pub async fn set_password(self, by: &By, id: UserId, password: Password) -> Result<User> {
        let hash = self.hasher.hash(password).await?;
        let mut work = self.store.begin().await?;
        let mut user = work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
        user.password = hash;
        self.end_sessions(&mut *work, &mut user).await?;
        work.verifications().remove_for_user(id, Some(VerificationPurpose::ResetPassword)).await?;
        self.auditor()
            .write(&mut *work, by, AuditAction::SetPassword, Subject::user(&user), Changes::default())
            .await?;
        work.commit().await?;
        Ok(user)
    }

    /// Lets an account be used or not. One that may not be used has no sessions and no open links, and its keys are
    /// refused.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::LastSuperuser`], or when the database cannot be reached.
    pub async fn set_active(self, by: &By, id: UserId, is_active: bool) -> Result<User> {
        let mut work = self.store.begin().await?;
        let mut user = if is_active {
            work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?
        } else {
            dispensable(&mut *work, id).await?
        };
        if user.is_active != is_active {
            let changes = Changes::default().changed("is_active", user.is_active, is_active);
            user.is_active = is_active;
            self.end_sessions(&mut *work, &mut user).await?;
            work.verifications().remove_for_user(id, None).await?;
            self.auditor().write(&mut *work, by, AuditAction::Change, Subject::user(&user), changes).await?;
        }
        work.commit().await?;
        Ok(user)
    }

    /// Writes the account, and makes void what was issued to it: sessions of the panel by their records,
    /// refresh and access tokens by the time they were issued at.
    pub(crate) async fn end_sessions(self, work: &mut dyn UnitOfWork, user: &mut User) -> Result<()> {
        user.sessions_from = self.clock.now();
        work.sessions().revoke_for_user(user.id, user.sessions_from).await?;
        work.users().update(user).await?;
        Ok(())
    }

    fn auditor(&self) -> Auditor<'_> {
        Auditor { clock: self.clock, entropy: self.entropy }
    }
}

/// The account, unless it is the only superuser who is active; while nobody else changes it or the one that is left.
/// Of two superusers who are deactivated at once, the second finds that it is the last.
async fn dispensable(work: &mut dyn UnitOfWork, id: UserId) -> Result<User> {
    let superusers = UserFilter { is_active: Some(true), is_superuser: Some(true), ..UserFilter::default() };
    let found = work.users().list(&superusers, PageRequest { offset: 0, limit: 2 }).await?;
    let other = found.records.iter().map(|user| user.id).find(|other| *other != id);
    // In the order of their ids, or each of the two would wait for the other.
    let mut held = [Some(id), other];
    held.sort();
    let (mut user, mut one_is_left) = (None, false);
    for one in held.into_iter().flatten() {
        let found = work.users().get(one).await?;
        if one == id {
            user = found;
        } else {
            one_is_left = found.is_some_and(|other| other.is_active && other.is_superuser);
        }
    }
    let user = user.ok_or(Error::NotFound(RecordKind::User))?;
    let is_last = user.is_active && user.is_superuser && !one_is_left;
    if is_last { Err(Error::LastSuperuser) } else { Ok(user) }
}
