//! Creates accounts, sets their passwords and activates or deactivates them.

use super::AccountService;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use docent_domain::audit::AuditAction;
use docent_domain::id::UserId;
use docent_domain::limits::AccountLimits;
use docent_domain::listing::{PageRequest, UserFilter};
use docent_domain::permission::RecordKind;
use docent_domain::text::Email;
use docent_domain::user::{Password, PasswordHash, User};
use docent_domain::verification::VerificationPurpose;
use docent_ports::store::UnitOfWork;

/// The flags of a new account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Whether it can sign in to the admin panel.
    pub is_staff: bool,
    /// Whether it bypasses all permission checks.
    pub is_superuser: bool,
}

impl AccountService<'_> {
    /// Creates an active account.
    ///
    /// # Errors
    /// [`Error::EmailTaken`], or when the database cannot be reached.
    pub async fn create(
        self,
        initiator: &Initiator,
        email: Email,
        password: Password,
        flags: Flags,
    ) -> Result<User> {
        let user = self.new_user(email, password, flags).await?;
        let mut work = self.store.begin().await?;
        self.insert(&mut *work, initiator, &user, Changes::default()).await?;
        work.commit().await?;
        Ok(user)
    }

    /// Builds an account record. Hashing the password is slow, so this happens before a unit of work begins.
    pub(crate) async fn new_user(self, email: Email, password: Password, flags: Flags) -> Result<User> {
        password.ensure_differs_from(&email)?;
        let password = self.hasher.hash(password).await?;
        Ok(User { password, ..self.new_user_without_password(email, flags) })
    }

    /// Builds an account record without a password, for an account that signs in at an identity provider.
    pub(crate) fn new_user_without_password(self, email: Email, flags: Flags) -> User {
        let created_at = self.clock.now();
        User {
            id: self.new_id(UserId::generate),
            email,
            password: PasswordHash::unusable(),
            is_active: true,
            is_staff: flags.is_staff,
            is_superuser: flags.is_superuser,
            created_at,
            last_login_at: None,
            email_verified_at: None,
            sessions_from: created_at,
            limits: AccountLimits::default(),
            second_factor: None,
            language: None,
            name: None,
        }
    }

    /// Inserts an account, in place of an invitation of its address. The audit log records `changes` in addition to its email address and flags.
    pub(crate) async fn insert(
        self,
        work: &mut dyn UnitOfWork,
        initiator: &Initiator,
        user: &User,
        changes: Changes,
    ) -> Result<()> {
        if !work.users().insert(user).await? {
            return Err(Error::EmailTaken);
        }
        self.withdraw_invitation(work, initiator, &user.email).await?;
        let changes = changes
            .added("email", user.email.as_str())
            .added("is_active", user.is_active)
            .added("is_staff", user.is_staff)
            .added("is_superuser", user.is_superuser);
        Ok(self.audit(work, initiator, AuditAction::Add, AuditTarget::user(user), changes).await?)
    }

    /// Sets an account's password and ends all of its sessions.
    ///
    /// # Errors
    /// [`Error::NotFound`], or when the database cannot be reached.
    pub async fn set_password(self, initiator: &Initiator, id: UserId, password: Password) -> Result<User> {
        let hash = self.hasher.hash(password.clone()).await?;
        let mut work = self.store.begin().await?;
        let mut user = work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?;
        password.ensure_differs_from(&user.email)?;
        user.password = hash;
        self.end_sessions(&mut *work, &mut user).await?;
        let target = AuditTarget::user(&user);
        self.audit(&mut *work, initiator, AuditAction::SetPassword, target, Changes::default()).await?;
        work.commit().await?;
        Ok(user)
    }

    /// Activates or deactivates an account. Both end its sessions and revoke its open links; the API keys of an
    /// inactive account are rejected.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::LastSuperuser`], or when the database cannot be reached.
    pub async fn set_active(self, initiator: &Initiator, id: UserId, is_active: bool) -> Result<User> {
        let mut work = self.store.begin().await?;
        let mut user = if is_active {
            work.users().get(id).await?.ok_or(Error::NotFound(RecordKind::User))?
        } else {
            lock_unless_last_superuser(&mut *work, id).await?
        };
        if user.is_active != is_active {
            let changes = Changes::default().changed("is_active", user.is_active, is_active);
            user.is_active = is_active;
            self.end_sessions(&mut *work, &mut user).await?;
            work.verifications().remove_for_user(id, None).await?;
            self.audit(&mut *work, initiator, AuditAction::Change, AuditTarget::user(&user), changes).await?;
        }
        work.commit().await?;
        Ok(user)
    }

    /// Updates the account, ends its sessions and disconnects its applications: panel sessions and applications by their
    /// records, refresh and access tokens by their time of issue. Links that would let their holders in again end too: for a new password, and for another address.
    pub(crate) async fn end_sessions(self, work: &mut dyn UnitOfWork, user: &mut User) -> Result<()> {
        let now = self.clock.now();
        user.end_sessions(now);
        work.sessions().revoke_for_user(user.id, now).await?;
        work.api_keys().disconnect_for_user(user.id, now).await?;
        for purpose in [VerificationPurpose::ResetPassword, VerificationPurpose::ChangeEmail] {
            work.verifications().remove_for_user(user.id, Some(purpose)).await?;
        }
        work.users().update(user).await?;
        Ok(())
    }
}

/// Locks and returns the account, unless it is the last active superuser. If two superusers are deactivated
/// concurrently, the second attempt fails.
pub(super) async fn lock_unless_last_superuser(work: &mut dyn UnitOfWork, id: UserId) -> Result<User> {
    let superusers = UserFilter { is_active: Some(true), is_superuser: Some(true), ..UserFilter::default() };
    let found = work.users().list(&superusers, PageRequest { offset: 0, limit: 2 }).await?;
    let other = found.records.iter().map(|user| user.id).find(|other| *other != id);
    // Lock in ID order to prevent deadlocks.
    let mut ids = [Some(id), other];
    ids.sort();
    let (mut user, mut has_other) = (None, false);
    for locked_id in ids.into_iter().flatten() {
        let locked = work.users().get(locked_id).await?;
        if locked_id == id {
            user = locked;
        } else {
            has_other = locked.is_some_and(|other| other.is_active && other.is_superuser);
        }
    }
    let user = user.ok_or(Error::NotFound(RecordKind::User))?;
    let is_last = user.is_active && user.is_superuser && !has_other;
    if is_last { Err(Error::LastSuperuser) } else { Ok(user) }
}
