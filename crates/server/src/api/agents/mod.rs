//! Agents.

pub(crate) mod ask;
pub(crate) mod resume;
pub(crate) mod stop;
