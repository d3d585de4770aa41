//! Resource limits of extraction and rendering.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

/// Resource limits for one PDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractionLimits {
    /// Maximum file size in bytes. Default 256 MiB.
    pub file_bytes: u64,
    /// Maximum number of pages. Default 10,000.
    pub pages: u32,
    /// Maximum size of the extracted text in bytes. Default 64 MiB.
    pub text_bytes: u64,
    /// Address space of the worker in bytes. Default and maximum 1 GiB.
    pub memory_bytes: u64,
    /// Processor time of the worker in whole seconds. Default and maximum 30 s.
    pub cpu: Duration,
    /// Time from the worker's start to its end. Default 5 min, because processor time already bounds the work and a
    /// busy machine may provide little of it.
    pub wall: Duration,
    /// Maximum number of concurrent workers; further calls wait. Default: the number of cores.
    pub workers: NonZeroUsize,
}

impl Default for ExtractionLimits {
    fn default() -> Self {
        Self {
            file_bytes: 256 << 20,
            pages: 10_000,
            text_bytes: 64 << 20,
            memory_bytes: 1 << 30,
            cpu: Duration::from_secs(30),
            wall: Duration::from_secs(300),
            workers: available_parallelism().unwrap_or(NonZeroUsize::MIN),
        }
    }
}
