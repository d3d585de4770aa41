//! Health checks of the components that the service depends on.

use crate::{App, recognition};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::store::Schema;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

const TIMEOUT: Duration = Duration::from_secs(2);
/// How long the result of a check is returned to later callers.
const MAX_AGE: TimeDelta = TimeDelta::seconds(5);
/// How long a waiting job may be due before it no longer counts. Waiting jobs are tried again every minute.
const WAIT_MAX_AGE: TimeDelta = TimeDelta::minutes(1);

/// The results of the health checks.
#[derive(Debug)]
pub struct Health {
    /// The result of each component.
    pub components: Vec<(Component, Result<()>)>,
    /// Whether the database responds; it may still be full, locked or read-only, which `components` says.
    pub is_database_reachable: bool,
    /// The database's schema.
    pub schema: Result<Schema>,
    /// Name, version and languages of the text recognizer, if there is one and it works.
    pub recognizer: Option<String>,
}

impl Health {
    /// Whether requests can be served: the database responds and this version supports its schema.
    pub fn is_ready(&self) -> bool {
        self.is_database_reachable && self.schema.as_ref().is_ok_and(|schema| schema.is_usable())
    }

    /// Whether all components work and the schema is current.
    pub fn is_healthy(&self) -> bool {
        self.components.iter().all(|(_, result)| result.is_ok()) && self.is_schema_current()
    }

    /// Whether the schema is that of this version.
    pub fn is_schema_current(&self) -> bool {
        matches!(self.schema, Ok(Schema::Current))
    }

    /// Whether the text on images of pages is recognised.
    pub fn has_recognizer(&self) -> bool {
        self.components.iter().any(|(component, _)| *component == Component::Recognizer)
    }
}

/// Checks at most once in five seconds, however many callers ask.
#[derive(Debug, Default)]
pub struct SharedCheck {
    /// The last result. Locked during a check, so that concurrent callers wait for its result.
    latest: Mutex<Option<(DateTime<Utc>, Arc<Health>)>>,
}

impl SharedCheck {
    /// Returns the result of a check that ended at most five seconds ago, or of a new one. Cancel-safe: if the future is
    /// dropped, the next caller checks.
    pub async fn check(&self, app: &App) -> Arc<Health> {
        let mut latest = self.latest.lock().await;
        let now = app.now();
        if let Some((at, health)) = &*latest
            && (*at..*at + MAX_AGE).contains(&now)
        {
            return Arc::clone(health);
        }
        let health = Arc::new(check(app).await);
        *latest = Some((app.now(), Arc::clone(&health)));
        health
    }
}

/// Checks all components concurrently. A component that does not respond within two seconds counts as unavailable.
pub async fn check(app: &App) -> Health {
    let (database, writable, schema, key_value, blobs, index) = tokio::join!(
        in_time(Component::Database, app.store.check()),
        in_time(Component::Database, app.store.check_writable()),
        in_time(Component::Database, app.store.schema()),
        in_time(Component::KeyValueStore, app.tokens.check()),
        in_time(Component::BlobStore, app.blobs.check()),
        in_time(Component::VectorStore, app.collections.check()),
    );
    let index = match index {
        Ok(()) => check_space(app).await,
        failed => failed,
    };
    let is_database_reachable = database.is_ok();
    let mut components = vec![
        // What can be read can be served, so that a database that cannot be written does not stop the service.
        (Component::Database, database.and(writable)),
        (Component::KeyValueStore, key_value),
        (Component::BlobStore, blobs),
        (Component::VectorStore, index),
    ];
    if let Some(reranker) = &app.reranker {
        components.push((Component::Reranker, in_time(Component::Reranker, reranker.check()).await));
    }
    let recognizer = in_time(Component::Recognizer, async {
        let Some(recognizer) = app.recognizer.detected().await else { return Ok(None) };
        let languages = &app.settings.recognition_languages;
        recognizer.check(languages).await?;
        Ok(Some(recognition::name(&*recognizer, languages)))
    });
    let recognizer = match recognizer.await {
        Ok(None) => None,
        result => {
            let (result, name) = result.map_or_else(|fault| (Err(fault), None), |name| (Ok(()), name));
            components.push((Component::Recognizer, result));
            name
        }
    };
    Health { components, is_database_reachable, schema, recognizer }
}

/// Fails if a job waits because the vector store is full. A full store still answers searches and checks, and
/// the job may be that of another process.
async fn check_space(app: &App) -> Result<()> {
    let full =
        Fault::new(Component::VectorStore, FaultKind::Full, "writes are refused; jobs wait for free space");
    let (reason, due_after) = (full.public_message(), app.now() - WAIT_MAX_AGE);
    let find = async { app.store.read_latest().await?.jobs().has_waiting(&reason, due_after).await };
    // An unavailable database is reported by its own check.
    match in_time(Component::Database, find).await {
        Ok(true) => Err(full),
        Ok(false) | Err(_) => Ok(()),
    }
}

async fn in_time<T>(component: Component, check: impl Future<Output = Result<T>>) -> Result<T> {
    let late = |_| Err(Fault::new(component, FaultKind::Timeout, "the health check took over 2 s"));
    tokio::time::timeout(TIMEOUT, check).await.unwrap_or_else(late)
}
