//! Contract batteries: tests that every implementation of a port must pass.
//!
//! [`battery!`](crate::battery) declares the tests of one port and a macro named after it. An implementation runs them
//! all with one line:
//!
//! ```text
//! docent_testkit::rate_limiter_contract!(async { (Arc::new(MemoryRateLimiter::default()) as _, ()) });
//! ```
//!
//! The expression creates a new, empty subject for each test; the second value (a temporary folder, a server) lives
//! until the test has ended. Fakes run the batteries in this crate's `tests/fakes.rs`, adapters in their own modules;
//! `cargo xtask tidy` checks that both do.

pub mod api_keys;
pub mod audit;
pub mod blob_store;
pub mod chat_model;
pub mod clock;
pub mod collections;
pub mod conversations;
pub mod documents;
pub mod embedder;
pub mod embedding_cache;
pub mod external_files;
pub mod file_batches;
pub mod generations;
pub mod groups;
pub mod identities;
pub mod identity_provider;
pub mod inventory;
pub mod invitations;
pub mod job_ledger;
pub mod jobs;
pub mod mailer;
pub mod oauth;
pub mod open_collections;
pub mod password_hasher;
pub mod processes;
pub mod rate_limiter;
mod records;
pub mod relational;
pub mod reranker;
pub mod sessions;
pub mod singleton_tasks;
pub mod store;
pub mod stored_responses;
pub mod summaries;
pub mod term_statistics;
pub mod text_extractor;
pub mod text_recognizer;
pub mod token_signer;
pub mod token_store;
pub mod usage;
pub mod users;
pub mod vector_index;
pub mod vector_indexes;
pub mod verifications;
pub mod webhook_sender;
pub mod webhooks;

#[allow(clippy::crate_in_macro_def)]
/// Declares a port's battery: `battery! { name_contract in module (Type); async fn behaviour(subject) { … } … }`.
#[macro_export]
macro_rules! battery {
    ($contract:ident in $module:ident ($subject:ty); $($(#[$doc:meta])* async fn $name:ident($arg:pat) $body:block)+) => {
        $(
            $(#[$doc])*
            #[allow(missing_docs, reason = "the name says what is tested")]
            pub async fn $name($arg: $subject) $body
        )+
        $crate::battery!(@contract ($) $contract $module ($subject) $($name)+);
    };
    // `$d crate` is `$crate` of the inner macro, which clippy cannot see.
    (@contract ($d:tt) $contract:ident $module:ident ($subject:ty) $($name:ident)+) => {
        /// Runs this battery on the subjects that the given future makes: `(subject, guard)`.
        #[macro_export]
        macro_rules! $contract {
            ($d make:expr) => {
                $(
                    #[tokio::test]
                    async fn $name() {
                        let (subject, _guard) = $d make.await;
                        $d crate::contract::$module::$name(subject).await;
                    }
                )+
            };
        }
    };
}
