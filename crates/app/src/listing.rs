//! Pieces of long lists, and what lists are filtered by.

pub use docent_ports::{
    api_keys::ApiKeyFilter,
    audit::AuditFilter,
    conversations::ConversationFilter,
    documents::{DocumentDay, DocumentOrder, DocumentQuery},
    jobs::{JobFilter, JobStateName},
    page::{Listed, Page, Period},
    sessions::SessionFilter,
    usage::{UsageFilter, UsageGrouping, UsageSum},
    users::{UserFilter, UserOrder},
};
