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

/// What usage is summed up by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageGrouping {
    /// Each day (UTC) by itself.
    pub by_day: bool,
    /// Each account by itself.
    pub by_user: bool,
    /// Each API key by itself, and what was used without one.
    pub by_key: bool,
}

/// Which lines of the ledger to sum up.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageFilter {
    /// Only of this account.
    pub user: Option<UserId>,
    /// Only with this key.
    pub api_key: Option<ApiKeyId>,
    /// Only of this time.
    pub period: Period,
}

/// A sum over lines of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSum {
    /// The day, if summed up by day.
    pub day: Option<NaiveDate>,
    /// The account, if summed up by account.
    pub user: Option<UserId>,
    /// The key, if summed up by key and one was used.
    pub api_key: Option<ApiKeyId>,
    /// How many answers.
    pub answers: u64,
    /// What they cost.
    pub tokens: TokenUsage,
}

/// Reads the usage ledger.
#[async_trait]
pub trait UsageReader: Send {
    /// Sums over lines of the ledger: the last day first, then by account and key.
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
    /// Adds a line.
    async fn insert(&mut self, record: &UsageRecord) -> Result<()>;

    /// The sum of an account's lines.
    async fn total_of(&mut self, user: UserId) -> Result<TokenUsage>;
}
