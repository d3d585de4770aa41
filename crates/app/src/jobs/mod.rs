//! Background jobs: the queue, and what is known of jobs under way.

pub mod browse;
pub(crate) mod queue;
pub(crate) mod recognitions;
pub(crate) mod running;

pub use running::IngestionProgress;
