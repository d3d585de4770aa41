//! The pages that links in mail lead to. They need no login and no script: the link itself proves enough.
//!
//! Opening a page changes nothing, since programs that look through mail open links too; its button does.

mod page;
pub(crate) mod reset_password;
pub(crate) mod verify_email;
