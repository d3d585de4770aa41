//! The usage ledger in the relational store.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::{
    id::UserId,
    usage::{TokenUsage, UsageRecord},
};

/// Adds to the usage ledger.
#[async_trait]
pub trait UsageWriter: Send {
    /// Adds a line.
    async fn insert(&mut self, record: &UsageRecord) -> Result<()>;

    /// The sum of an account's lines.
    async fn total_of(&mut self, user: UserId) -> Result<TokenUsage>;
}
