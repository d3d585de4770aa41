//! Reproducible random bytes.

use docent_ports::entropy::Entropy;
use std::sync::atomic::{AtomicU64, Ordering};

/// A pseudorandom sequence (splitmix64) that is the same in every run.
#[derive(Debug, Default)]
pub struct TestEntropy {
    state: AtomicU64,
}

impl TestEntropy {
    /// Creates the sequence for a seed.
    pub fn seeded(seed: u64) -> Self {
        Self { state: AtomicU64::new(seed) }
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Entropy for TestEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}
