//! The bounds of an extraction.

use std::{num::NonZeroUsize, thread::available_parallelism, time::Duration};

/// What one PDF may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractionLimits {
    /// Bytes of the file; a longer one is too large. Default 256 MiB.
    pub file_bytes: u64,
    /// Pages; a document with more fails. Default 10,000.
    pub pages: u32,
    /// Bytes of extracted text; a document with more fails. Default 64 MiB.
    pub text_bytes: u64,
    /// Address space of the worker, in bytes. Default and most 1 GiB.
    pub memory_bytes: u64,
    /// Processor time of the worker, in whole seconds. Default and most 30 s.
    pub cpu: Duration,
    /// From the worker's start to its last word. Default 5 min: processor time bounds the work, and a busy machine
    /// that gives little of it is no fault of the PDF.
    pub wall: Duration,
    /// Workers at a time; further calls wait for one to end. Default: the processor's cores.
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

/// What the interpretation of pages may cost; beyond it a page is cut and marked as truncated.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLimits {
    /// Bytes of a page's inflated content stream, and of each inflated form.
    pub(super) content_bytes: usize,
    /// Bytes of a page's text.
    pub(super) text_bytes: usize,
    /// Operations of a page; see [`Budget`].
    pub(super) page_operations: u64,
    /// Operations of a document.
    pub(super) document_operations: u64,
}

impl Default for PageLimits {
    /// Ten times what the largest real pages need, and a few seconds of work at the worst.
    fn default() -> Self {
        Self {
            content_bytes: 64 << 20,
            text_bytes: 4 << 20,
            page_operations: 4_000_000,
            document_operations: 40_000_000,
        }
    }
}

/// Counts operations down. One is about a microsecond of an optimised build at the worst.
#[derive(Debug)]
pub(super) struct Budget {
    page: u64,
    document: u64,
}

impl Budget {
    pub(super) fn new(limits: &PageLimits) -> Self {
        Self { page: 0, document: limits.document_operations }
    }

    /// Begins a page, which gets no more than what the document has left.
    pub(super) fn begin_page(&mut self, limits: &PageLimits) {
        self.page = limits.page_operations.min(self.document);
    }

    /// Takes the cost of an operation; false when it is not covered any more.
    pub(super) fn spend(&mut self, operations: u64) -> bool {
        let covered = operations <= self.page;
        let spent = operations.min(self.page);
        self.page -= spent;
        self.document -= spent;
        covered
    }

    /// Whether nothing is left for further pages.
    pub(super) fn is_exhausted(&self) -> bool {
        self.document == 0
    }
}
