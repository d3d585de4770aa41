//! What every usage ledger does.

use super::records::add_users;
use crate::builders::{usage, user};
use docent_domain::{
    id::{ApiKeyId, ConversationId},
    usage::{TokenUsage, UsageRecord},
};
use docent_ports::store::Store;
use std::sync::Arc;
use uuid::Uuid;

crate::battery! {
    usage_contract in usage (Arc<dyn Store>);

    /// Totals are of one account, over all of its keys and conversations.
    async fn totals_are_by_account(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let mut unit = store.begin().await.unwrap();
        let keyed = UsageRecord {
            api_key: Some(ApiKeyId::from_uuid(Uuid::from_u128(1))),
            conversation: Some(ConversationId::from_uuid(Uuid::from_u128(2))),
            tokens: TokenUsage { prompt: 1 << 40, completion: 7 },
            ..usage(3, user(1).id)
        };
        for record in [usage(1, user(1).id), usage(2, user(2).id), keyed] {
            unit.usage().insert(&record).await.unwrap();
        }
        unit.commit().await.unwrap();
        assert_eq!(total(&*store, 1).await, TokenUsage { prompt: (1 << 40) + 10, completion: 12 });
        assert_eq!(total(&*store, 2).await, TokenUsage { prompt: 10, completion: 5 });
    }

    /// Who used nothing has a total of nothing.
    async fn no_records_are_a_total_of_zero(store) {
        assert_eq!(total(&*store, 1).await, TokenUsage::default());
    }

    /// A record is counted once: a second one with its id is refused.
    async fn a_second_record_with_an_id_is_refused(store) {
        add_users(&*store, &[user(1)]).await;
        let record = usage(1, user(1).id);
        let mut unit = store.begin().await.unwrap();
        unit.usage().insert(&record).await.unwrap();
        unit.commit().await.unwrap();
        assert!(store.begin().await.unwrap().usage().insert(&record).await.is_err());
        assert_eq!(total(&*store, 1).await, record.tokens);
    }
}

async fn total(store: &dyn Store, n: u32) -> TokenUsage {
    store.begin().await.unwrap().usage().total_of(user(n).id).await.unwrap()
}
