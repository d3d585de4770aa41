//! When to look for expired entries.

const LEAST: usize = 256;

/// Says when a map is due to be swept: after as many writes as it had entries. A sweep visits every
/// entry, so that each write pays for a constant number of visits, and a map never holds more than
/// twice what is live, plus a few.
#[derive(Debug)]
pub(super) struct Sweep {
    writes_left: usize,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { writes_left: LEAST }
    }
}

impl Sweep {
    /// Counts one write and says whether a sweep is due now.
    pub(super) fn is_due(&mut self) -> bool {
        self.writes_left = self.writes_left.saturating_sub(1);
        self.writes_left == 0
    }

    /// Tells that a sweep was made and how many entries it left.
    pub(super) fn done(&mut self, left: usize) {
        self.writes_left = left.max(LEAST);
    }
}
