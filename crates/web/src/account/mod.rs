//! Pages opened by links in emails. They need no authentication and no script: the token of the link is the credential.
//!
//! Opening a page changes nothing, because mail scanners open links too; the button on it does.

pub(crate) mod page;
pub(crate) mod reset_password;
pub(crate) mod verify_email;
