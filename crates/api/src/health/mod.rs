//! Whether the process lives, and whether it can serve.

pub(crate) mod live;
pub(crate) mod ready;
