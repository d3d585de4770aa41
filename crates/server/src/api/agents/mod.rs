//! Agents.

pub(crate) mod ask;
