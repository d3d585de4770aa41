//! Pages of lists and text search.

use super::record::Record;
use super::transaction::Transaction;
use super::values::{counted, micros};
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::listing::{Page, PageRequest};
use docent_domain::text::composed;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{ColumnTrait, DbBackend, EntityTrait, FromQueryResult, QueryOrder, QuerySelect, Select};
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

impl Transaction {
    /// Reads a page of `rows` in the given order, and their total number.
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
        let total = self.count_rows(doing, rows.clone()).await?;
        if page.offset >= total {
            // Saves a second scan of all rows.
            return Ok(Page { records: Vec::new(), total });
        }
        let query = paginate(order(rows), page);
        let rows = self.run(doing, |db| Box::pin(query.all(db))).await?;
        Ok(Page { records: rows.into_iter().map(from_row).collect::<Result<_>>()?, total })
    }

    /// Reads a page of records with the latest ones first: in descending order of `keys`.
    pub(super) async fn list_newest<R: Record>(
        &mut self,
        doing: &'static str,
        rows: Select<R::Entity>,
        keys: [<R::Entity as EntityTrait>::Column; 2],
        page: PageRequest,
    ) -> Result<Page<R>> {
        let order = |rows| keys.into_iter().fold(rows, Select::order_by_desc);
        self.listed(doing, rows, order, page, R::from_row).await
    }

    /// Counts rows.
    pub(super) async fn count_rows<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        rows: Select<E>,
    ) -> Result<u64> {
        let count = rows.select_only().expr_as(Expr::cust("COUNT(*)"), "records").into_tuple::<i64>();
        let count = self.run(doing, |db| Box::pin(count.one(db))).await?;
        counted(count.unwrap_or(0), "count of records")
    }
}

/// Whether a row comes after the one with these values in a list in descending order of `keys`.
pub(super) fn is_after<C: ColumnTrait>(keys: [C; 2], at: DateTime<Utc>, id: Uuid) -> Expr {
    Expr::tuple(keys.map(Expr::col)).lt(Expr::tuple([Expr::val(micros(at)), Expr::val(id)]))
}

/// Whether a row comes before that one.
pub(super) fn is_before<C: ColumnTrait>(keys: [C; 2], at: DateTime<Utc>, id: Uuid) -> Expr {
    Expr::tuple(keys.map(Expr::col)).gt(Expr::tuple([Expr::val(micros(at)), Expr::val(id)]))
}

/// Restricts a query to a page.
pub(super) fn paginate<Q: QuerySelect>(query: Q, page: PageRequest) -> Q {
    // Databases take signed numbers.
    let signed = |number: u64| Ord::min(number, i64::MAX.unsigned_abs());
    query.offset(signed(page.offset)).limit(signed(page.limit))
}

/// Maximum number of different letters outside of ASCII whose case is ignored.
const FOLDED_MAX: usize = 64;

/// Whether a column contains `text`, ignoring case, and whether letters are composed. Not with LIKE, whose wildcards need escaping
/// and whose patterns have a maximum length.
pub(super) fn contains(column: Expr, text: &str, backend: DbBackend) -> Expr {
    if text.contains('\0') {
        // No stored text does, and PostgreSQL rejects the parameter.
        return Expr::val(false);
    }
    let (position, column) = match backend {
        // `lower` changes ASCII letters only.
        DbBackend::Sqlite => ("instr", column),
        // In this collation `lower` changes ASCII letters only.
        _ => ("strpos", Expr::cust_with_expr("$1 COLLATE \"C\"", column)),
    };
    let text = composed(text).to_lowercase();
    let mut column = Expr::expr(Func::lower(column));
    // The other letters of the text are changed in the column one by one.
    for (from, to) in folded_forms(&text) {
        column = Expr::expr(Func::cust("replace").arg(column).arg(from).arg(to));
    }
    Expr::expr(Func::cust(position).arg(column).arg(text)).gt(0)
}

/// The other forms of the letters of a text outside of ASCII, in upper case or not composed, with the form in the text.
fn folded_forms(text: &str) -> Vec<(String, String)> {
    let letters: BTreeSet<char> = text.chars().filter(|c| !c.is_ascii()).collect();
    let mut forms = Vec::new();
    for letter in letters.into_iter().take(FOLDED_MAX).map(String::from) {
        let other = [letter.to_uppercase(), letter.nfd().collect()];
        forms.extend(other.into_iter().filter(|form| *form != letter).map(|form| (form, letter.clone())));
    }
    forms
}
