//! Looking after an installation as a whole.

pub mod doctor;
pub mod progress;
