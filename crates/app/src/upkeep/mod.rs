//! Looking after an installation as a whole.

pub mod backup;
pub mod doctor;
pub mod progress;
pub mod sweep;
