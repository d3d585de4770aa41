//! Pages of lists, and what they are searched by.

use super::{session::Session, values::counted};
use docent_ports::{
    error::Result,
    page::{Page, PageRequest},
};
use sea_orm::{
    DbBackend, EntityTrait, FromQueryResult, QuerySelect, Select,
    sea_query::{Expr, ExprTrait, Func},
};

impl Session {
    /// A page of `rows`, and how many there are; `order` puts them in the order of the list.
    pub(super) async fn listed<E, T>(
        &mut self,
        doing: &'static str,
        rows: Select<E>,
        order: impl FnOnce(Select<E>) -> Select<E>,
        page: PageRequest,
        from_row: impl Fn(E::Model) -> Result<T>,
    ) -> Result<Page<T>>
    where
        E: EntityTrait,
        E::Model: FromQueryResult + Send + Sync,
    {
        let total = self.counted(doing, rows.clone()).await?;
        if page.offset >= total {
            // Otherwise all rows would be gone through again.
            return Ok(Page { records: Vec::new(), total });
        }
        let query = on(order(rows), page);
        let rows = self.run(doing, |db| Box::pin(query.all(db))).await?;
        Ok(Page { records: rows.into_iter().map(from_row).collect::<Result<_>>()?, total })
    }

    /// How many rows there are.
    pub(super) async fn counted<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        rows: Select<E>,
    ) -> Result<u64> {
        let count = rows.select_only().expr_as(Expr::cust("COUNT(*)"), "records").into_tuple::<i64>();
        let count = self.run(doing, |db| Box::pin(count.one(db))).await?;
        counted(count.unwrap_or(0), "count of records")
    }
}

/// The rows of a page.
pub(super) fn on<Q: QuerySelect>(query: Q, page: PageRequest) -> Q {
    // Databases count in signed numbers.
    let signed = |number: u64| Ord::min(number, i64::MAX.unsigned_abs());
    query.offset(signed(page.offset)).limit(signed(page.limit))
}

/// Whether a column holds `text`, ASCII letters in either case. Not by LIKE, whose wildcards would need
/// escaping and whose patterns have a bounded length.
pub(super) fn contains(column: Expr, text: &str, backend: DbBackend) -> Expr {
    if text.contains('\0') {
        // No text does, and PostgreSQL refuses to be asked.
        return Expr::val(false);
    }
    let (position, column) = match backend {
        // Its `lower` changes ASCII letters alone.
        DbBackend::Sqlite => ("instr", column),
        // In this collation it does so too.
        _ => ("strpos", Expr::cust_with_expr("$1 COLLATE \"C\"", column)),
    };
    Expr::expr(Func::cust(position).arg(Func::lower(column)).arg(text.to_ascii_lowercase())).gt(0)
}
