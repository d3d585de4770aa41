//! The usage ledger in the relational store.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::UserId;
use docent_domain::listing::{Page, PageRequest, UsageFilter, UsageGrouping, UsageSum};
use docent_domain::usage::{TokenUsage, UsageRecord};

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
