//! Whether the parts that the service stands on can be reached.

use crate::App;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::store::Schema;
use std::{future::Future, time::Duration};

const TIMEOUT: Duration = Duration::from_secs(2);

/// What was found, part by part.
#[derive(Debug)]
pub struct Health {
    /// Each part that was asked, and what it said.
    pub parts: Vec<(Component, Result<()>)>,
    /// The database's schema.
    pub schema: Result<Schema>,
}

impl Health {
    /// Whether requests can be served at all: with the database, and a schema that this program knows.
    pub fn is_ready(&self) -> bool {
        self.is_database_up() && self.schema.as_ref().is_ok_and(|schema| schema.is_usable())
    }

    /// Whether everything works.
    pub fn is_whole(&self) -> bool {
        let parts = self.parts.iter().all(|(_, result)| result.is_ok());
        parts && self.is_schema_current()
    }

    /// Whether the schema is the one that this program was built for.
    pub fn is_schema_current(&self) -> bool {
        matches!(self.schema, Ok(Schema::Current))
    }

    /// Whether the database answers.
    pub fn is_database_up(&self) -> bool {
        self.parts.iter().all(|(part, result)| *part != Component::Database || result.is_ok())
    }
}

/// Asks every part at once; one that takes longer than two seconds counts as down.
pub async fn check(app: &App) -> Health {
    let (database, schema, key_value, blobs, index) = tokio::join!(
        in_time(Component::Database, app.store.check()),
        in_time(Component::Database, app.store.schema()),
        in_time(Component::KeyValueStore, app.tokens.check()),
        in_time(Component::BlobStore, app.blobs.check()),
        in_time(Component::VectorStore, app.collections.check()),
    );
    let mut parts = vec![
        (Component::Database, database),
        (Component::KeyValueStore, key_value),
        (Component::BlobStore, blobs),
        (Component::VectorStore, index),
    ];
    if let Some(reranker) = &app.reranker {
        parts.push((Component::Reranker, in_time(Component::Reranker, reranker.check()).await));
    }
    Health { parts, schema }
}

async fn in_time<T>(part: Component, check: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| Err(Fault::new(part, FaultKind::Timeout, "the health check took over 2 s"));
    tokio::time::timeout(TIMEOUT, check).await.unwrap_or_else(late)
}
