//! Sign-in, token refresh, sign-out, and links sent by email.

pub(crate) mod logout;
pub(crate) mod refresh;
pub(crate) mod token;
mod tokens;
pub(crate) mod verification;
