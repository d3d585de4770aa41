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

/// Limits for interpreting pages; a page that exceeds them is cut and marked as truncated.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLimits {
    /// Maximum size of a page's inflated content stream and of each inflated form, in bytes.
    pub(super) content_bytes: usize,
    /// Maximum size of a page's text in bytes.
    pub(super) text_bytes: usize,
    /// Maximum number of operations of a page; see [`Budget`].
    pub(super) page_operations: u64,
    /// Maximum number of operations of a document.
    pub(super) document_operations: u64,
}

impl Default for PageLimits {
    /// Ten times the need of the largest real pages, and at most a few seconds of work.
    fn default() -> Self {
        Self {
            content_bytes: 64 << 20,
            text_bytes: 4 << 20,
            page_operations: 4_000_000,
            document_operations: 40_000_000,
        }
    }
}

/// Counts down operations, each of which takes at most about a microsecond in an optimised build.
#[derive(Debug)]
pub(super) struct Budget {
    page: u64,
    document: u64,
}

impl Budget {
    pub(super) fn new(limits: &PageLimits) -> Self {
        Self { page: 0, document: limits.document_operations }
    }

    /// Starts a page with the page's limit or the document's remainder, whichever is less.
    pub(super) fn begin_page(&mut self, limits: &PageLimits) {
        self.page = limits.page_operations.min(self.document);
    }

    /// Deducts the cost of operations; false if the budget does not cover it.
    pub(super) fn spend(&mut self, operations: u64) -> bool {
        let covered = operations <= self.page;
        let spent = operations.min(self.page);
        self.page -= spent;
        self.document -= spent;
        covered
    }

    /// Whether the document's budget is used up.
    pub(super) fn is_exhausted(&self) -> bool {
        self.document == 0
    }
}
