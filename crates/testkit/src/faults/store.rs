//! Relational store with scripted faults.

use super::FaultSwitch;
use async_trait::async_trait;
use docent_domain::fault::{Component, FaultKind, Result};
use docent_ports::store::{ReadView, Schema, Store, UnitOfWork};
use std::sync::{Arc, Mutex};

/// A store with one switch per step that can fail.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    switches: StoreSwitches,
}

/// The switches of a [`FaultyStore`]. Clones share their state.
#[derive(Clone, Debug)]
pub struct StoreSwitches {
    /// Fails every step: the database is down.
    pub all: FaultSwitch,
    /// Fails [`Store::begin`].
    pub begin: FaultSwitch,
    /// Fails [`Store::read`].
    pub read: FaultSwitch,
    /// Fails [`UnitOfWork::commit`], and nothing is written.
    pub commit: FaultSwitch,
    /// Fails [`UnitOfWork::commit`] after everything was written: only the response is lost.
    pub acknowledge: FaultSwitch,
    schema: Arc<Mutex<Option<Schema>>>,
}

impl StoreSwitches {
    /// Sets the result of [`Store::schema`].
    pub fn pretend(&self, schema: Schema) {
        *self.schema.lock().unwrap() = Some(schema);
    }
}

impl Default for StoreSwitches {
    fn default() -> Self {
        let switch = || FaultSwitch::new(Component::Database);
        Self {
            all: switch(),
            begin: switch(),
            read: switch(),
            commit: switch(),
            acknowledge: switch(),
            schema: Arc::default(),
        }
    }
}

impl FaultyStore {
    /// Wraps `inner`; every step passes by default.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, switches: StoreSwitches::default() }
    }

    /// The switches.
    pub fn switches(&self) -> &StoreSwitches {
        &self.switches
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>> {
        self.switches.all.check()?;
        self.switches.begin.check()?;
        let inner = self.inner.begin().await?;
        Ok(Box::new(FaultyUnit { inner, switches: self.switches.clone(), frees: false }))
    }

    async fn begin_freeing(&self) -> Result<Box<dyn UnitOfWork>> {
        self.switches.all.check()?;
        unless_full(self.switches.begin.check())?;
        let inner = self.inner.begin_freeing().await?;
        Ok(Box::new(FaultyUnit { inner, switches: self.switches.clone(), frees: true }))
    }

    async fn read(&self) -> Result<Box<dyn ReadView>> {
        self.switches.all.check()?;
        self.switches.read.check()?;
        self.inner.read().await
    }

    async fn check(&self) -> Result<()> {
        self.switches.all.check()?;
        self.inner.check().await
    }

    async fn check_writable(&self) -> Result<()> {
        self.switches.all.check()?;
        self.switches.commit.check()?;
        self.inner.check_writable().await
    }

    async fn version(&self) -> Result<Option<String>> {
        self.switches.all.check()?;
        self.inner.version().await
    }

    async fn schema(&self) -> Result<Schema> {
        self.switches.all.check()?;
        let pretended = *self.switches.schema.lock().unwrap();
        match pretended {
            Some(schema) => Ok(schema),
            None => self.inner.schema().await,
        }
    }
}

struct FaultyUnit {
    inner: Box<dyn UnitOfWork>,
    switches: StoreSwitches,
    /// Whether it has space on a full disk.
    frees: bool,
}

fn unless_full(result: Result<()>) -> Result<()> {
    result.or_else(|fault| if fault.kind() == FaultKind::Full { Ok(()) } else { Err(fault) })
}

#[async_trait]
impl UnitOfWork for FaultyUnit {
    docent_ports::repositories!(write through inner);

    async fn commit(self: Box<Self>) -> Result<()> {
        self.switches.all.check()?;
        let checked = self.switches.commit.check();
        if self.frees { unless_full(checked) } else { checked }?;
        self.inner.commit().await?;
        self.switches.acknowledge.check()
    }
}
