//! Contract of every usage ledger.

use super::records::{add_users, first};
use crate::builders::{at, id, usage, user};
use docent_domain::id::{ApiKeyId, ConversationId};
use docent_domain::listing::{PageRequest, Period, UsageFilter, UsageGrouping, UsageSum};
use docent_domain::usage::{TokenUsage, UsageRecord};
use docent_ports::store::Store;
use std::sync::Arc;
use uuid::Uuid;

crate::battery! {
    usage_contract in usage (Arc<dyn Store>);

    /// Totals include all API keys and conversations of an account.
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

    async fn account_without_records_has_zero_total(store) {
        assert_eq!(total(&*store, 1).await, TokenUsage::default());
    }

    async fn insert_rejects_used_id(store) {
        add_users(&*store, &[user(1)]).await;
        let record = usage(1, user(1).id);
        let mut unit = store.begin().await.unwrap();
        unit.usage().insert(&record).await.unwrap();
        unit.commit().await.unwrap();
        assert!(store.begin().await.unwrap().usage().insert(&record).await.is_err());
        assert_eq!(total(&*store, 1).await, record.tokens);
    }

    /// Sums are grouped by day, account and key as requested, last day first.
    async fn sums_are_grouped_and_filtered(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let (one, two) = (user(1).id, user(2).id);
        let (today, tomorrow) = (at(0).date_naive(), at(86_400).date_naive());
        let key = Some(id::<ApiKeyId>(1));
        let records = [
            usage(1, one),
            UsageRecord { api_key: key, ..usage(2, one) },
            UsageRecord { api_key: key, at: at(86_400), ..usage(3, one) },
            UsageRecord { at: at(2 * 86_400 - 1), ..usage(4, two) },
        ];
        let mut unit = store.begin().await.unwrap();
        for record in &records {
            unit.usage().insert(record).await.unwrap();
        }
        unit.commit().await.unwrap();
        let sum = |day, user, api_key, answers: u64| UsageSum {
            day,
            user,
            api_key,
            answers,
            tokens: TokenUsage { prompt: 10 * answers, completion: 5 * answers },
        };
        let all = UsageGrouping { by_day: true, by_user: true, by_key: true };
        let none = UsageGrouping::default();
        let by_day = UsageGrouping { by_day: true, ..none };
        let by_key = UsageGrouping { by_key: true, ..none };
        let everything = UsageFilter::default();
        let of_one = UsageFilter { user: Some(one), ..everything };
        let with_key = UsageFilter { api_key: key, ..everything };
        let first_day = UsageFilter { period: Period { from: Some(at(0)), to: Some(at(86_400)) }, ..everything };
        for (filter, grouping, expected) in [
            (everything, none, vec![sum(None, None, None, 4)]),
            (everything, by_day, vec![sum(Some(tomorrow), None, None, 2), sum(Some(today), None, None, 2)]),
            (everything, by_key, vec![sum(None, None, None, 2), sum(None, None, key, 2)]),
            (of_one, none, vec![sum(None, None, None, 3)]),
            (with_key, by_day, vec![sum(Some(tomorrow), None, None, 1), sum(Some(today), None, None, 1)]),
            (first_day, by_key, vec![sum(None, None, None, 1), sum(None, None, key, 1)]),
            (everything, all, vec![
                sum(Some(tomorrow), Some(one), key, 1),
                sum(Some(tomorrow), Some(two), None, 1),
                sum(Some(today), Some(one), None, 1),
                sum(Some(today), Some(one), key, 1),
            ]),
        ] {
            let sums = store.read().await.unwrap().usage().sums(&filter, grouping, first(9)).await.unwrap();
            assert_eq!(sums.total, expected.len() as u64, "{grouping:?}");
            assert_eq!(sums.records, expected, "{grouping:?}");
        }
        let page = PageRequest { offset: 1, limit: 2 };
        let some = store.read().await.unwrap().usage().sums(&everything, all, page).await.unwrap();
        assert_eq!((some.records.len(), some.total), (2, 4));
        assert_eq!(some.records[0], sum(Some(tomorrow), Some(two), None, 1));
    }
}

async fn total(store: &dyn Store, n: u32) -> TokenUsage {
    store.begin().await.unwrap().usage().total_for_user(user(n).id).await.unwrap()
}
