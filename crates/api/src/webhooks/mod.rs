//! Webhooks of the signed-in account.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod deliveries;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod payload;
pub(crate) mod ping;
pub(crate) mod replay;
mod response;
pub(crate) mod rotate;
