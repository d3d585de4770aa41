//! Index generations in memory.

use super::{Tables, Transaction, violation};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::generation::{GenerationState, IndexGeneration};
use docent_domain::id::GenerationId;
use docent_ports::generations::{GenerationReader, GenerationWriter};

fn is_active(generation: &IndexGeneration) -> bool {
    matches!(generation.state, GenerationState::Active { .. })
}

/// Whether another generation has the same exclusive state.
fn is_taken(tables: &Tables, generation: &IndexGeneration) -> bool {
    let is_single = !matches!(generation.state, GenerationState::Retired { .. });
    let same = |other: &IndexGeneration| other.state.name() == generation.state.name();
    is_single && tables.generations.values().any(|other| other.id != generation.id && same(other))
}

#[async_trait]
impl GenerationReader for Transaction {
    async fn active(&mut self) -> Result<Option<IndexGeneration>> {
        Ok(self.read()?.generations.values().find(|generation| is_active(generation)).cloned())
    }

    async fn all(&mut self) -> Result<Vec<IndexGeneration>> {
        Ok(self.read()?.generations.values().cloned().collect())
    }
}

#[async_trait]
impl GenerationWriter for Transaction {
    async fn insert(&mut self, generation: &IndexGeneration) -> Result<bool> {
        self.write(|tables| {
            let is_new = !tables.generations.contains_key(&generation.id) && !is_taken(tables, generation);
            if is_new {
                tables.generations.insert(generation.id, generation.clone());
            }
            Ok(is_new)
        })
    }

    async fn update(&mut self, generation: &IndexGeneration) -> Result<bool> {
        self.write(|tables| {
            if !tables.generations.contains_key(&generation.id) {
                return Ok(false);
            }
            if is_taken(tables, generation) {
                return Err(violation("there is another generation in this state"));
            }
            tables.generations.insert(generation.id, generation.clone());
            Ok(true)
        })
    }

    async fn is_active(&mut self, id: GenerationId) -> Result<bool> {
        Ok(self.read()?.generations.get(&id).is_some_and(is_active))
    }

    async fn remove(&mut self, id: GenerationId) -> Result<bool> {
        self.write(|tables| Ok(tables.generations.remove(&id).is_some()))
    }
}
