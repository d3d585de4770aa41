//! Conversations of the signed-in account, and those that others share with it.

pub(crate) mod begin;
pub(crate) mod change;
pub(crate) mod delete;
pub(crate) mod feedback;
pub(crate) mod list;
pub(crate) mod read;
mod response;
pub(crate) mod share;
