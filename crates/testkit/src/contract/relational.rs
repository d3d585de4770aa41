//! All batteries of the relational store: one per repository.

/// Runs them on the stores that a function makes: `relational_contracts!(fresh)` for an
/// `async fn fresh() -> (Arc<dyn Store>, Guard)` beside it.
#[macro_export]
macro_rules! relational_contracts {
    ($fresh:ident) => {
        mod store {
            $crate::store_contract!(super::$fresh());
        }

        mod documents {
            $crate::documents_contract!(super::$fresh());
        }

        mod summaries {
            $crate::summaries_contract!(super::$fresh());
        }

        mod stored_responses {
            $crate::stored_responses_contract!(super::$fresh());
        }

        mod external_files {
            $crate::external_files_contract!(super::$fresh());
        }

        mod file_batches {
            $crate::file_batches_contract!(super::$fresh());
        }

        mod jobs {
            $crate::jobs_contract!(super::$fresh());
        }

        mod job_ledger {
            $crate::job_ledger_contract!(super::$fresh());
        }

        mod inventory {
            $crate::inventory_contract!(super::$fresh());
        }

        mod singleton_tasks {
            $crate::singleton_tasks_contract!(super::$fresh());
        }

        mod users {
            $crate::users_contract!(super::$fresh());
        }

        mod embedding_cache {
            $crate::embedding_cache_contract!(super::$fresh());
        }

        mod generations {
            $crate::generations_contract!(super::$fresh());
        }

        mod term_statistics {
            $crate::term_statistics_contract!(super::$fresh());
        }

        mod usage {
            $crate::usage_contract!(super::$fresh());
        }

        mod groups {
            $crate::groups_contract!(super::$fresh());
        }

        mod collections {
            $crate::collections_contract!(super::$fresh());
        }

        mod open_collections {
            $crate::open_collections_contract!(super::$fresh());
        }

        mod api_keys {
            $crate::api_keys_contract!(super::$fresh());
        }

        mod sessions {
            $crate::sessions_contract!(super::$fresh());
        }

        mod identities {
            $crate::identities_contract!(super::$fresh());
        }

        mod invitations {
            $crate::invitations_contract!(super::$fresh());
        }

        mod verifications {
            $crate::verifications_contract!(super::$fresh());
            $crate::oauth_contract!(super::$fresh());
        }

        mod conversations {
            $crate::conversations_contract!(super::$fresh());
        }

        mod webhooks {
            $crate::webhooks_contract!(super::$fresh());
        }

        mod audit {
            $crate::audit_contract!(super::$fresh());
        }
    };
}
