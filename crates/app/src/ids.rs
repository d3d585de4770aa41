//! New ids.

use crate::App;
use chrono::{DateTime, Utc};

impl App {
    /// Makes an id with the given constructor: `app.new_id(DocumentId::generate)`.
    pub fn new_id<Id>(&self, generate: impl FnOnce(DateTime<Utc>, [u8; 10]) -> Id) -> Id {
        let mut random = [0; 10];
        self.entropy.fill(&mut random);
        generate(self.clock.now(), random)
    }
}
