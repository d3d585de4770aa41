//! New IDs.

use crate::App;
use chrono::{DateTime, Utc};
use docent_ports::clock::Clock;
use docent_ports::entropy::Entropy;

impl App {
    /// Generates an ID with the given constructor: `app.new_id(DocumentId::generate)`.
    pub fn new_id<Id>(&self, generate: impl FnOnce(DateTime<Utc>, [u8; 10]) -> Id) -> Id {
        new_id(&*self.clock, &*self.entropy, generate)
    }
}

/// Generates an ID from the current time and random bytes.
pub(crate) fn new_id<Id>(
    clock: &dyn Clock,
    entropy: &dyn Entropy,
    generate: impl FnOnce(DateTime<Utc>, [u8; 10]) -> Id,
) -> Id {
    let mut random = [0; 10];
    entropy.fill(&mut random);
    generate(clock.now(), random)
}
