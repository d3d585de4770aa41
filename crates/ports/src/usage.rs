//! The usage ledger in the relational store.

use crate::{
    error::Result,
    page::{Page, PageRequest, Period},
};
use async_trait::async_trait;
use chrono::NaiveDate;
use docent_domain::{
    id::{ApiKeyId, UserId},
    usage::{TokenUsage, UsageRecord},
};

/// How usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageGrouping {
    /// By day (UTC).
    pub by_day: bool,
    /// By account.
    pub by_user: bool,
    /// By API key, with usage without a key as a group.
    pub by_key: bool,
}

/// Which usage records to sum up.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageFilter {
    /// Only records of this account.
    pub user: Option<UserId>,
    /// Only records of this API key.
    pub api_key: Option<ApiKeyId>,
    /// Only records of this period.
    pub period: Period,
}

/// A sum of usage records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSum {
    /// Day, if grouped by day.
    pub day: Option<NaiveDate>,
    /// Account, if grouped by account.
    pub user: Option<UserId>,
    /// API key, if grouped by key and one was used.
    pub api_key: Option<ApiKeyId>,
    /// Number of answers.
    pub answers: u64,
    /// Token usage.
    pub tokens: TokenUsage,
}

/// Reads the usage ledger.
#[async_trait]
pub trait UsageReader: Send {
    /// Sums usage records: last day first, then by account and key.
    async fn sums(
        &mut self,
        filter: &UsageFilter,
        grouping: UsageGrouping,
        page: PageRequest,
    ) -> Result<Page<UsageSum>>;
}

/// Adds to the usage ledger.
#[async_trait]
pub trait UsageWriter: UsageReader {
    /// Adds a record.
    async fn insert(&mut self, record: &UsageRecord) -> Result<()>;

    /// Returns the total usage of an account.
    async fn total_for_user(&mut self, user: UserId) -> Result<TokenUsage>;
}
