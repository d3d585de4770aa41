//! Logging in, staying in, logging out.

pub(crate) mod logout;
pub(crate) mod refresh;
pub(crate) mod token;
mod tokens;
pub(crate) mod verification;
