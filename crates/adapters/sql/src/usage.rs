//! The usage ledger in SQL.

use super::entities::usage_records::{Column, Entity};
use super::fault::corrupt;
use super::listing::paginate;
use super::transaction::Transaction;
use super::values::{counted, micros};
use async_trait::async_trait;
use chrono::DateTime;
use docent_domain::fault::Result;
use docent_domain::id::{ApiKeyId, UserId};
use docent_domain::listing::{Page, PageRequest, UsageFilter, UsageGrouping, UsageSum};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_ports::usage::{UsageReader, UsageWriter};
use sea_orm::sea_query::{Expr, ExprTrait, Func, Iden, NullOrdering};
use sea_orm::{
    ColumnTrait, DbBackend, EntityTrait, Order, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
    QueryTrait, Select,
};
use uuid::Uuid;

/// The microseconds of a day.
pub(super) const DAY: i64 = 86_400_000_000;

/// The number of the day (UTC) of an instant. Without parameters: PostgreSQL would take two of them for different
/// ones, and the selected day for another than that of the group.
pub(super) fn day_of(column: impl Iden) -> Expr {
    Expr::cust(format!("\"{}\" / {DAY}", column.unquoted()))
}

type Sums = (Option<i64>, Option<Uuid>, Option<Uuid>, i64, i64, i64);

#[async_trait]
impl UsageReader for Transaction {
    async fn sums(
        &mut self,
        filter: &UsageFilter,
        grouping: UsageGrouping,
        page: PageRequest,
    ) -> Result<Page<UsageSum>> {
        let query = select_sums(filter, grouping, self.backend());
        let all = query.clone().into_tuple::<Sums>();
        let total = self.run("count sums of usage", |db| Box::pin(all.count(db))).await?;
        let query = paginate(query, page).into_tuple::<Sums>();
        let rows = self.run("sum up usage", |db| Box::pin(query.all(db))).await?;
        let sum = |(day, user, key, answers, prompt, completion): Sums| {
            let day = day.map(|day| DateTime::from_timestamp_micros(day * DAY).ok_or_else(|| corrupt("day")));
            Ok(UsageSum {
                day: day.transpose()?.map(|day| day.date_naive()),
                user: user.map(UserId::from_uuid),
                api_key: key.map(ApiKeyId::from_uuid),
                answers: counted(answers, "count of answers")?,
                tokens: tokens(prompt, completion)?,
            })
        };
        Ok(Page { records: rows.into_iter().map(sum).collect::<Result<_>>()?, total })
    }
}

fn select_sums(filter: &UsageFilter, grouping: UsageGrouping, backend: DbBackend) -> Select<Entity> {
    // PostgreSQL wants to know the type of what is never there.
    let no_id = || match backend {
        DbBackend::Sqlite => Expr::cust("NULL"),
        _ => Expr::cust("CAST(NULL AS uuid)"),
    };
    let no_day = || Expr::cust("CAST(NULL AS bigint)");
    let day = || day_of(Column::RecordedAt);
    let column = |is_wanted: bool, column: Column| if is_wanted { Expr::col(column) } else { no_id() };
    let mut query = Entity::find()
        .select_only()
        .expr_as(if grouping.by_day { day() } else { no_day() }, "day")
        .expr_as(column(grouping.by_user, Column::UserId), "account")
        .expr_as(column(grouping.by_key, Column::ApiKeyId), "api_key")
        .expr_as(Expr::cust("COUNT(*)"), "answers")
        .expr_as(sum(Column::PromptTokens), "prompt")
        .expr_as(sum(Column::CompletionTokens), "completion");
    if grouping.by_day {
        query = query.group_by(day()).order_by_desc(day());
    }
    for (is_wanted, column) in [(grouping.by_user, Column::UserId), (grouping.by_key, Column::ApiKeyId)] {
        if is_wanted {
            query = query.group_by(column).order_by_with_nulls(column, Order::Asc, NullOrdering::First);
        }
    }
    query
        .apply_if(filter.user, |query, user| query.filter(Column::UserId.eq(user.as_uuid())))
        .apply_if(filter.api_key, |query, key| query.filter(Column::ApiKeyId.eq(key.as_uuid())))
        .apply_if(filter.period.from, |query, from| query.filter(Column::RecordedAt.gte(micros(from))))
        .apply_if(filter.period.to, |query, to| query.filter(Column::RecordedAt.lt(micros(to))))
}

/// A sum that is 0 over nothing. PostgreSQL's sum of big integers is a decimal number, hence the cast.
pub(super) fn sum(column: impl ColumnTrait) -> Expr {
    Expr::expr(Func::coalesce([column.sum(), Expr::val(0)])).cast_as("bigint")
}

#[async_trait]
impl UsageWriter for Transaction {
    async fn insert(&mut self, record: &UsageRecord) -> Result<()> {
        self.insert_record("record usage", record).await
    }

    async fn total_for_user(&mut self, user: UserId) -> Result<TokenUsage> {
        let query = Entity::find()
            .select_only()
            .expr_as(sum(Column::PromptTokens), "prompt")
            .expr_as(sum(Column::CompletionTokens), "completion")
            .filter(Column::UserId.eq(user.as_uuid()))
            .into_tuple::<(i64, i64)>();
        let sums = self.run("sum up usage", |db| Box::pin(query.one(db))).await?;
        let (prompt, completion) = sums.unwrap_or_default();
        tokens(prompt, completion)
    }
}

fn tokens(prompt: i64, completion: i64) -> Result<TokenUsage> {
    Ok(TokenUsage { prompt: counted(prompt, "usage sum")?, completion: counted(completion, "usage sum")? })
}
