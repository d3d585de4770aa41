//! Reads of records for many IDs in one statement.

use super::fault::{fault, late};
use super::lookup::{BATCH, Lookup, ReadMany};
use super::source::Source;
use async_trait::async_trait;
use docent_domain::fault::Result;
use sea_orm::sqlx::pool::PoolConnection;
use sea_orm::sqlx::{self, AssertSqlSafe, Postgres, Sqlite};
use sea_orm::{DbBackend, DbErr, FromQueryResult, QueryResult, QueryTrait, RuntimeErr};
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
struct Statements {
    texts: Arc<[Arc<str>]>,
    /// How many times each binds its IDs.
    repeats: usize,
}

impl Statements {
    fn new<Q: QueryTrait>(select: fn(Vec<Uuid>) -> Q, backend: DbBackend) -> Self {
        let statement = |size: usize| select(vec![Uuid::nil(); size]).build(backend);
        let texts = (0..=BATCH.ilog2()).map(|power| statement(1 << power).sql.into()).collect();
        Self { texts, repeats: statement(1).values.map_or(0, |values| values.0.len()) }
    }

    /// The smallest statement for this number of IDs, and its number of parameters for a list of IDs.
    fn for_ids(&self, ids: usize) -> (Arc<str>, usize) {
        let power = ids.next_power_of_two().ilog2() as usize;
        (Arc::clone(&self.texts[power]), 1 << power)
    }
}

/// Reads records of one kind.
struct Points<M, K, V> {
    doing: &'static str,
    source: Source,
    statement_timeout: Duration,
    statements: Statements,
    id: fn(K) -> Uuid,
    from_rows: FromRows<M, K, V>,
    kept: Option<(Connection, u32)>,
}

/// Converts the rows for these keys to records.
pub(super) type FromRows<M, K, V> = fn(&[K], Vec<M>) -> Vec<(K, Result<V>)>;

/// The records of a [`lookup`].
pub(super) struct Records<Q, M, K, V> {
    /// Selects the rows for these IDs. Binds the whole list once or several times, and no other values.
    pub(super) select: fn(Vec<Uuid>) -> Q,
    /// The ID of a key.
    pub(super) id: fn(K) -> Uuid,
    pub(super) from_rows: FromRows<M, K, V>,
}

/// Batches the reads of concurrent callers.
pub(super) fn lookup<Q, M, K, V>(
    doing: &'static str,
    source: &Source,
    statement_timeout: Duration,
    records: Records<Q, M, K, V>,
) -> Lookup<K, V>
where
    Q: QueryTrait,
    M: FromQueryResult + Send + 'static,
    K: Copy + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    let Records { select, id, from_rows } = records;
    let statements = Statements::new(select, source.connections.get_database_backend());
    let source = source.clone();
    Lookup::new(doing, statement_timeout, move || {
        let (source, statements) = (source.clone(), statements.clone());
        Box::new(Points { doing, source, statement_timeout, statements, id, from_rows, kept: None })
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

    async fn rows(&mut self, statement: Arc<str>, ids: Vec<Uuid>) -> Result<Vec<QueryResult>, sqlx::Error> {
        let statement = AssertSqlSafe(statement);
        Ok(match self {
            Self::Sqlite(connection) => {
                let query = ids.into_iter().fold(sqlx::query(statement), |query, id| query.bind(id));
                query.fetch_all(&mut **connection).await?.into_iter().map(QueryResult::from).collect()
            }
            Self::Postgres(connection) => {
                let query = ids.into_iter().fold(sqlx::query(statement), |query, id| query.bind(id));
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
        let Self { doing, source, statement_timeout, statements, id, from_rows, kept } = self;
        let (statement, size) = statements.for_ids(keys.len());
        // Unused parameters repeat the first key.
        let mut ids: Vec<Uuid> = keys.iter().map(|key| id(*key)).collect();
        ids.resize(size, id(keys[0]));
        let ids = ids.repeat(statements.repeats);
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
        let rows = rows.iter().map(|row| M::from_query_result(row, "")).collect::<Result<_, _>>();
        Ok(from_rows(keys, rows.map_err(|error| fault(*doing, &error))?))
    }
}
