//! Schedule for removing expired entries.

const WRITES_MIN: usize = 256;

/// Schedules sweeps of a map: after as many writes as it had entries after the last sweep. The cost per write is
/// then constant, and the map has at most about twice as many entries as are live.
#[derive(Debug)]
pub(super) struct Sweep {
    writes_left: usize,
}

impl Default for Sweep {
    fn default() -> Self {
        Self { writes_left: WRITES_MIN }
    }
}

impl Sweep {
    /// Counts a write, and returns whether a sweep is due.
    pub(super) fn is_due(&mut self) -> bool {
        self.writes_left = self.writes_left.saturating_sub(1);
        self.writes_left == 0
    }

    /// Records a sweep and the number of remaining entries.
    pub(super) fn done(&mut self, left: usize) {
        self.writes_left = left.max(WRITES_MIN);
    }
}
