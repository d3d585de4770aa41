//! Limits for interpreting the pages of a PDF.

/// Limits for interpreting pages; a page that exceeds them is cut and marked as truncated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageLimits {
    /// Maximum size of a page's inflated content stream and of each inflated form, in bytes.
    pub(crate) content_bytes: usize,
    /// Maximum size of a page's text in bytes.
    pub(crate) text_bytes: usize,
    /// Maximum number of operations of a page; see [`Budget`].
    pub(crate) page_operations: u64,
    /// Maximum number of operations of a document.
    pub(crate) document_operations: u64,
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
