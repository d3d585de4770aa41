//! Connections to a database.

use super::fault::fault;
use super::open_cache::OpenCache;
use super::postgres::Server;
use super::rollbacks::Rollbacks;
use super::writes::Writes;
use docent_domain::fault::Result;
use sea_orm::{DatabaseConnection, DbErr};
use std::future::Future;

/// The connections of a database, and its server if it has one.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) connections: DatabaseConnection,
    server: Option<Server>,
    pub(super) rollbacks: Rollbacks,
    pub(super) writes: Writes,
    /// The collections that are open to all, as they were last read.
    pub(super) open: OpenCache,
}

impl Source {
    pub(super) fn new(connections: DatabaseConnection, server: Option<Server>) -> Self {
        let (rollbacks, writes, open) = Default::default();
        Self { connections, server, rollbacks, writes, open }
    }

    /// What its transactions share.
    pub(super) fn shared(&self) -> (Rollbacks, Writes, OpenCache) {
        (self.rollbacks.clone(), self.writes.clone(), self.open.clone())
    }

    /// Runs `work`, which uses these connections; a fault is named after `doing`.
    pub(super) async fn reach<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T> {
        match &self.server {
            Some(server) => server.reach(doing, work).await,
            None => work.await.map_err(|error| fault(doing, &error)),
        }
    }
}
