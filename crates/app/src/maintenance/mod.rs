//! Maintenance of an installation: backup, diagnostics, reindexing and sweeps.

pub mod audit_retention;
pub mod backup;
pub mod diagnostics;
pub mod progress;
pub mod reindex;
pub mod sweep;
