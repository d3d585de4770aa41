//! Who may do what.
//!
//! An [`Actor`] is somebody whose identity has been checked. [`Actor::may`] turns it into a
//! [`Grant`], and use cases that change something ask for one: forgetting the check does not compile.

use crate::{
    error::Forbidden,
    id::{ApiKeyId, UserId},
    user::User,
};
use std::marker::PhantomData;

/// Somebody who has proved who they are, with an active account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    user: UserId,
    is_staff: bool,
    is_superuser: bool,
    api_key: Option<ApiKeyId>,
}

impl Actor {
    /// The actor behind an account, unless it has been deactivated.
    pub fn of(user: &User) -> Option<Self> {
        user.is_active.then_some(Self {
            user: user.id,
            is_staff: user.is_staff,
            is_superuser: user.is_superuser,
            api_key: None,
        })
    }

    /// The account's id.
    pub fn user(&self) -> UserId {
        self.user
    }

    /// The API key that was used, if any.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.api_key
    }

    /// The right to do `A`.
    ///
    /// # Errors
    /// When the actor has no such right.
    pub fn may<A: Act>(&self) -> Result<Grant<A>, Forbidden> {
        self.grant(self.is_superuser || A::allowed_to(self))
    }

    /// The right to do `A` to something that belongs to `owner`: one's own, or anybody's with the right to do
    /// `A` at all.
    ///
    /// # Errors
    /// When the actor has no such right.
    pub fn may_to<A: Act>(&self, owner: Option<UserId>) -> Result<Grant<A>, Forbidden> {
        self.grant(owner == Some(self.user) || self.is_superuser || A::allowed_to(self))
    }

    fn grant<A>(&self, is_allowed: bool) -> Result<Grant<A>, Forbidden> {
        if is_allowed {
            Ok(Grant { by: self.user, api_key: self.api_key, act: PhantomData })
        } else {
            Err(Forbidden)
        }
    }
}

/// Something that needs a right.
pub trait Act {
    /// Whether an actor who is no superuser may do it.
    fn allowed_to(actor: &Actor) -> bool;
}

/// The right to do `A`, held by somebody.
#[derive(Clone, Copy, Debug)]
pub struct Grant<A> {
    by: UserId,
    api_key: Option<ApiKeyId>,
    act: PhantomData<A>,
}

impl<A> Grant<A> {
    /// Who holds it.
    pub fn by(&self) -> UserId {
        self.by
    }

    /// The API key it was obtained with, if any.
    pub fn api_key(&self) -> Option<ApiKeyId> {
        self.api_key
    }
}

macro_rules! acts {
    ($($(#[$doc:meta])* $name:ident: |$actor:ident| $rule:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Act for $name {
            fn allowed_to($actor: &Actor) -> bool {
                $rule
            }
        }
    )*};
}

acts! {
    /// Creating and uploading documents: any active account.
    AddDocuments: |_actor| true;
    /// Reading and searching documents: any active account.
    ReadDocuments: |_actor| true;
    /// Changing documents of others, such as having their ingestion tried anew.
    ChangeDocuments: |_actor| false;
    /// Deleting documents of others.
    DeleteDocuments: |_actor| false;
    /// Asking an agent: any active account.
    Chat: |_actor| true;
    /// Entering the admin panel.
    EnterAdmin: |actor| actor.is_staff;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{text::Email, user::PasswordHash};
    use chrono::DateTime;

    fn user(is_active: bool, is_staff: bool, is_superuser: bool) -> User {
        User {
            id: UserId::generate(DateTime::UNIX_EPOCH, [1; 10]),
            email: Email::parse("a@b.c").unwrap(),
            password: PasswordHash::from_phc(String::new()),
            is_active,
            is_staff,
            is_superuser,
            created_at: DateTime::UNIX_EPOCH,
            last_login_at: None,
        }
    }

    #[test]
    fn only_active_accounts_act() {
        assert!(Actor::of(&user(false, true, true)).is_none());
        assert!(Actor::of(&user(true, false, false)).unwrap().may::<Chat>().is_ok());
    }

    #[test]
    fn what_is_ones_own_may_be_deleted() {
        let own = UserId::generate(DateTime::UNIX_EPOCH, [1; 10]);
        let other = UserId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        let (plain, superuser) = (user(true, true, false), user(true, false, true));
        for (user, owner, allowed) in [
            (&plain, Some(own), true),
            (&plain, Some(other), false),
            (&plain, None, false),
            (&superuser, Some(other), true),
            (&superuser, None, true),
        ] {
            let actor = Actor::of(user).unwrap();
            assert_eq!(actor.may_to::<DeleteDocuments>(owner).is_ok(), allowed);
        }
    }

    #[test]
    fn the_panel_is_for_staff_and_superusers() {
        for (staff, superuser, allowed) in
            [(false, false, false), (true, false, true), (false, true, true), (true, true, true)]
        {
            let actor = Actor::of(&user(true, staff, superuser)).unwrap();
            assert_eq!(actor.may::<EnterAdmin>().is_ok(), allowed);
        }
    }
}
