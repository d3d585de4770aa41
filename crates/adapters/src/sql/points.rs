//! Reading many records by their ids in one statement.

use super::{
    fault::{fault, late},
    lookup::{BATCH, ReadMany},
    session::Source,
};
use async_trait::async_trait;
use docent_ports::error::Result;
use sea_orm::{
    ColumnTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, Iterable, PrimaryKeyToColumn, QueryFilter,
    QueryResult, QueryTrait, RuntimeErr, Select,
    sqlx::{self, AssertSqlSafe, Postgres, Sqlite, pool::PoolConnection},
};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;
use uuid::Uuid;

/// Reads for which one connection is kept. Others wait for connections in the order in which they came, and
/// have their turn after that; to give one back costs another call of the database.
const READS_PER_CONNECTION: u32 = 16;

/// The statements for one kind of records.
///
/// There is one for each power of two up to [`BATCH`], so that connections keep all of them prepared. None has
/// a limit: SQLite prepares a statement anew whenever another value is bound to one.
#[derive(Clone, Debug)]
pub(super) struct Statements(Arc<[Arc<str>]>);

impl Statements {
    /// Of those among `records` that have the ids; it must bind no values of its own.
    pub(super) fn new<E: EntityTrait>(records: Select<E>, backend: DbBackend) -> Self {
        let statement = |size: usize| -> Arc<str> {
            let mut query = records.clone();
            if let Some(id) = E::PrimaryKey::iter().next() {
                query = query.filter(id.into_column().is_in(vec![Uuid::nil(); size]));
            }
            query.build(backend).sql.into()
        };
        Self((0..=BATCH.ilog2()).map(|power| statement(1 << power)).collect())
    }

    /// The smallest statement that takes so many ids, and how many it takes.
    fn of(&self, ids: usize) -> (Arc<str>, usize) {
        let power = ids.next_power_of_two().ilog2() as usize;
        (Arc::clone(&self.0[power]), 1 << power)
    }
}

/// Makes a record's value, with its id, of its row.
pub(super) type FromRow<M, K, V> = fn(M) -> (K, Result<V>);

/// Reads records of one kind.
pub(super) struct Points<M, K, V> {
    pub(super) doing: &'static str,
    pub(super) source: Source,
    pub(super) patience: Duration,
    pub(super) statements: Statements,
    pub(super) id: fn(K) -> Uuid,
    pub(super) from_row: FromRow<M, K, V>,
    pub(super) kept: Option<(Connection, u32)>,
}

/// A connection of whichever database it is.
pub(super) enum Connection {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

impl Connection {
    async fn of(source: &Source) -> Result<Self, sqlx::Error> {
        let connections = &source.connections;
        match connections.get_database_backend() {
            DbBackend::Sqlite => connections.get_sqlite_connection_pool().acquire().await.map(Self::Sqlite),
            _ => connections.get_postgres_connection_pool().acquire().await.map(Self::Postgres),
        }
    }

    async fn rows(
        &mut self,
        statement: Arc<str>,
        ids: impl Iterator<Item = Uuid>,
    ) -> Result<Vec<QueryResult>, sqlx::Error> {
        let statement = AssertSqlSafe(statement);
        Ok(match self {
            Self::Sqlite(connection) => {
                let query = ids.fold(sqlx::query(statement), |query, id| query.bind(id));
                query.fetch_all(&mut **connection).await?.into_iter().map(QueryResult::from).collect()
            }
            Self::Postgres(connection) => {
                let query = ids.fold(sqlx::query(statement), |query, id| query.bind(id));
                let rows = Box::pin(query.fetch_all(&mut **connection)).await?;
                rows.into_iter().map(QueryResult::from).collect()
            }
        })
    }
}

#[async_trait]
impl<M, K, V> ReadMany<K, V> for Points<M, K, V>
where
    M: FromQueryResult + Send + 'static,
    K: Copy + Send + Sync + 'static,
    V: Send + 'static,
{
    async fn read(&mut self, keys: &[K]) -> Result<Vec<(K, Result<V>)>> {
        let Self { doing, source, patience, statements, id, from_row, kept, .. } = self;
        let (statement, size) = statements.of(keys.len());
        // Places that are left over ask for the first one again.
        let ids = keys.iter().chain(std::iter::repeat_n(&keys[0], size - keys.len())).map(|key| id(*key));
        let work = async {
            // It is given up with the call when that fails or takes too long, and then put in order or closed.
            let (mut connection, reads) = match kept.take() {
                Some(kept) => kept,
                // In boxes of their own: what connects, and what talks to a server, are large futures.
                None => (Box::pin(Connection::of(source)).await?, 0),
            };
            let rows = connection.rows(statement, ids).await?;
            if reads + 1 < READS_PER_CONNECTION {
                *kept = Some((connection, reads + 1));
            }
            Ok::<_, sqlx::Error>(rows)
        };
        let work = async { work.await.map_err(|error| DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)))) };
        let rows =
            timeout(*patience, source.reach(doing, work)).await.unwrap_or_else(|_| Err(late(*doing)))?;
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            let model = M::from_query_result(&row, "").map_err(|error| fault(*doing, &error))?;
            records.push(from_row(model));
        }
        Ok(records)
    }
}
