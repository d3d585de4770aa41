//! Conversations of the signed-in account.

pub(crate) mod begin;
pub(crate) mod change;
pub(crate) mod delete;
pub(crate) mod feedback;
pub(crate) mod list;
pub(crate) mod read;
mod response;
