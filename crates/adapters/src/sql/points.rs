//! Reads of many records by ID in one statement.

use super::fault::{fault, late};
use super::lookup::{BATCH, Lookup, ReadMany};
use super::transaction::Source;
use async_trait::async_trait;
use docent_domain::fault::Result;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::{self, AssertSqlSafe, Postgres, Sqlite};
use sea_orm::{
    ColumnTrait, DbBackend, DbErr, FromQueryResult, QueryFilter, QueryResult, QueryTrait, RuntimeErr,
};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// Number of reads before a connection is returned to the pool. Returning it costs a round trip, and keeping it
/// delays callers that wait for one.
const READS_PER_CONNECTION: u32 = 16;

/// The statements for one kind of records.
///
/// There is one for each power of two up to [`BATCH`], so that connections keep all of them prepared. They have no
/// LIMIT, since SQLite prepares a statement again when the value bound to LIMIT changes.
#[derive(Clone, Debug)]
struct Statements(Arc<[Arc<str>]>);

impl Statements {
    /// Statements that select from `records` by ID. `records` must bind no values itself.
    fn new(
        records: &(impl QueryFilter + QueryTrait + Clone),
        id: impl ColumnTrait,
        backend: DbBackend,
    ) -> Self {
        let statement = |size: usize| -> Arc<str> {
            records.clone().filter(id.is_in(vec![Uuid::nil(); size])).build(backend).sql.into()
        };
        Self((0..=BATCH.ilog2()).map(|power| statement(1 << power)).collect())
    }

    /// The smallest statement for this number of IDs, and its number of parameters.
    fn for_ids(&self, ids: usize) -> (Arc<str>, usize) {
        let power = ids.next_power_of_two().ilog2() as usize;
        (Arc::clone(&self.0[power]), 1 << power)
    }
}

/// Converts a row to a record and its key.
pub(super) type FromRow<M, K, V> = fn(M) -> (K, Result<V>);

/// Reads records of one kind.
struct Points<M, K, V> {
    doing: &'static str,
    source: Source,
    statement_timeout: Duration,
    statements: Statements,
    id: fn(K) -> Uuid,
    from_row: FromRow<M, K, V>,
    kept: Option<(Connection, u32)>,
}

/// The records of a [`lookup`].
pub(super) struct Records<Q, C, M, K, V> {
    /// Selects them; binds no values.
    pub(super) query: Q,
    /// The column of their IDs.
    pub(super) id: C,
    /// The ID of a key.
    pub(super) key: fn(K) -> Uuid,
    pub(super) from_row: FromRow<M, K, V>,
}

/// Batches the reads of concurrent callers.
pub(super) fn lookup<Q, C, M, K, V>(
    doing: &'static str,
    source: &Source,
    statement_timeout: Duration,
    records: Records<Q, C, M, K, V>,
) -> Lookup<K, V>
where
    Q: QueryFilter + QueryTrait + Clone,
    C: ColumnTrait,
    M: FromQueryResult + Send + 'static,
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    let Records { query, id, key, from_row } = records;
    let statements = Statements::new(&query, id, source.connections.get_database_backend());
    let source = source.clone();
    Lookup::new(doing, statement_timeout, move || {
        let (source, statements) = (source.clone(), statements.clone());
        Box::new(Points { doing, source, statement_timeout, statements, id: key, from_row, kept: None })
    })
}

/// A connection to either database.
enum Connection {
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
        let Self { doing, source, statement_timeout, statements, id, from_row, kept, .. } = self;
        let (statement, size) = statements.for_ids(keys.len());
        // Unused parameters repeat the first key.
        let ids = keys.iter().chain(std::iter::repeat_n(&keys[0], size - keys.len())).map(|key| id(*key));
        let work = async {
            // A failed or cancelled call drops the connection, which the pool then resets or closes.
            let (mut connection, reads) = match kept.take() {
                Some(kept) => kept,
                // Boxed, since these futures are large.
                None => (Box::pin(Connection::of(source)).await?, 0),
            };
            let rows = connection.rows(statement, ids).await?;
            if reads + 1 < READS_PER_CONNECTION {
                *kept = Some((connection, reads + 1));
            }
            Ok::<_, sqlx::Error>(rows)
        };
        let work = async { work.await.map_err(|error| DbErr::Query(RuntimeErr::SqlxError(Arc::new(error)))) };
        let rows = timeout(*statement_timeout, source.reach(doing, work))
            .await
            .unwrap_or_else(|_| Err(late(*doing)))?;
        let mut records = Vec::with_capacity(rows.len());
        for row in rows {
            let model = M::from_query_result(&row, "").map_err(|error| fault(*doing, &error))?;
            records.push(from_row(model));
        }
        Ok(records)
    }
}
