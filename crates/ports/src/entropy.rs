//! Randomness.

/// A source of cryptographically secure random bytes.
pub trait Entropy: Send + Sync {
    /// Fills `bytes` with random bytes.
    fn fill(&self, bytes: &mut [u8]);
}
