//! Collections of documents and their members.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod hide;
pub(crate) mod list;
pub(crate) mod members;
mod response;
